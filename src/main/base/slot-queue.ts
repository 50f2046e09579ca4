type Entry = { readonly alone: boolean; readonly start: () => void };

/**
 * Runs tasks in the order they were added: as many at a time as there are slots, or one alone. A task that wants to be
 * alone waits for all before it, and all after it wait for it. The first one starts within the call.
 */
export class SlotQueue {
  readonly #pending: Entry[] = [];
  #slots = 1;
  #running = 0;
  #alone = false;

  /** How many tasks may run at a time; at least 1. More slots are filled at once. */
  setSlots(slots: number): void {
    this.#slots = Math.max(1, slots);
    this.#startNext();
  }

  /**
   * @param signal when it aborts while the task waits, the task leaves the line and runs at once, beside the others: it
   * must then do nothing but give up. @returns what `task` returns.
   */
  run<T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#add(task, false, signal);
  }

  /** Runs `task` when nothing else runs. */
  runAlone<T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#add(task, true, signal);
  }

  #add<T>(task: () => Promise<T>, alone: boolean, signal: AbortSignal | undefined): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const giveUp = () => {
        this.#pending.splice(this.#pending.indexOf(entry), 1);
        task().then(resolve, reject);
        this.#startNext();
      };
      const start = () => {
        signal?.removeEventListener('abort', giveUp);
        this.#running += 1;
        this.#alone = alone;
        task()
          .then(resolve, reject)
          .finally(() => {
            this.#running -= 1;
            this.#alone = false;
            this.#startNext();
          });
      };
      const entry: Entry = { alone, start };
      signal?.addEventListener('abort', giveUp, { once: true });
      this.#pending.push(entry);
      this.#startNext();
    });
  }

  #startNext(): void {
    for (let next = this.#pending[0]; next !== undefined; next = this.#pending[0]) {
      if (this.#alone || this.#running >= (next.alone ? 1 : this.#slots)) return;
      this.#pending.shift();
      next.start();
    }
  }
}
