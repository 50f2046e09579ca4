import { SlotQueue } from '../base/index.ts';

type Entry = { readonly abort: AbortController; begun: boolean };

/** The line of requests before the engine: who waits, who may begin, who was stopped. */
export class RequestLine {
  readonly #queue = new SlotQueue();
  readonly #entries = new Map<string, Entry>();
  readonly #changed: (waiting: number) => void;

  /** @param changed hears how many wait, whenever that may have changed. */
  constructor(changed: (waiting: number) => void) {
    this.#changed = changed;
  }

  /** How many requests may run at a time. */
  setSlots(slots: number): void {
    this.#queue.setSlots(slots);
  }

  /**
   * @param task begins when it is its turn, or as soon as its signal aborts; it must then only give up. It hears how long
   * it waited, in ms. @param alone whether nothing may run beside it.
   */
  async request<T>(
    id: string,
    task: (signal: AbortSignal, queuedMs: number) => Promise<T>,
    { alone }: { readonly alone: boolean } = { alone: false },
  ): Promise<T> {
    const entry: Entry = { abort: new AbortController(), begun: false };
    const { signal } = entry.abort;
    const asked = performance.now();
    this.#entries.set(id, entry);
    const begin = () => {
      entry.begun = true;
      this.#tell();
      return task(signal, performance.now() - asked);
    };
    try {
      const result = alone ? this.#queue.runAlone(begin, signal) : this.#queue.run(begin, signal);
      this.#tell();
      return await result;
    } finally {
      this.#entries.delete(id);
    }
  }

  /** Something that is no request, such as a load: behind all that came before, and before all that come later. */
  between<T>(task: () => Promise<T>): Promise<T> {
    return this.#queue.runAlone(task);
  }

  /** Something short beside the requests, in its turn. */
  beside<T>(task: () => Promise<T>): Promise<T> {
    return this.#queue.run(task);
  }

  /** @returns false when there is no such request (any more). */
  stop(id: string): boolean {
    const entry = this.#entries.get(id);
    entry?.abort.abort(new Error('stopped'));
    return entry !== undefined;
  }

  stopAll(): void {
    for (const entry of this.#entries.values()) entry.abort.abort(new Error('closing'));
  }

  #tell(): void {
    this.#changed([...this.#entries.values()].filter((entry) => !entry.begun).length);
  }
}
