import { ok, type Result } from '../contract/index.ts';
import type { ModelService } from './interfaces.ts';

type Release = () => void;

type Waiting = {
  readonly id: string | null;
  readonly settle: (result: Result<Release>) => void;
};

/** Lets requests for one model run together and loads another one in between, in the order of their coming. */
export class ModelSwitch {
  readonly #models: Pick<ModelService, 'status' | 'hibernated' | 'known' | 'load'>;
  readonly #waiting: Waiting[] = [];
  #running = 0;
  #loading = false;

  constructor(models: Pick<ModelService, 'status' | 'hibernated' | 'known' | 'load'>) {
    this.#models = models;
  }

  /** Requests that wait for their model. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** See `ModelService.hold`. */
  hold(id: string | null, signal: AbortSignal): Promise<Result<Release>> {
    return new Promise((resolve) => {
      const gone = () => {
        const place = this.#waiting.indexOf(waiting);
        if (place >= 0) this.#waiting.splice(place, 1);
        resolve(ok(() => undefined));
        this.#advance();
      };
      const settle = (result: Result<Release>) => {
        signal.removeEventListener('abort', gone);
        resolve(result);
      };
      const waiting: Waiting = { id, settle };
      this.#waiting.push(waiting);
      signal.addEventListener('abort', gone, { once: true });
      if (signal.aborted) gone();
      else this.#advance();
    });
  }

  /** Starts whoever is first, until one needs what is not there yet. */
  #advance(): void {
    for (let next = this.#waiting[0]; next !== undefined && !this.#loading; next = this.#waiting[0]) {
      if (next.id !== null && next.id !== this.#current()) {
        if (this.#running === 0) void this.#load(next, next.id);
        return;
      }
      this.#waiting.shift();
      this.#start(next);
    }
  }

  #start({ settle }: Waiting): void {
    this.#running += 1;
    let ended = false;
    settle(
      ok(() => {
        if (ended) return;
        ended = true;
        this.#running -= 1;
        this.#advance();
      }),
    );
  }

  async #load(first: Waiting, id: string): Promise<void> {
    this.#loading = true;
    const path = this.#models.known().find((model) => model.id === id)?.path;
    const result = await this.#models.load(id === 'builtin' || path === undefined ? id : path, { remember: false });
    this.#loading = false;
    const place = this.#waiting.indexOf(first);
    if (place >= 0 && (!result.ok || this.#current() !== id)) {
      this.#waiting.splice(place, 1);
      // Loaded, and at once another one by somebody else: the engine refuses what is not there.
      if (result.ok) this.#start(first);
      else first.settle(result);
    }
    this.#advance();
  }

  /** A hibernated model is woken by the request for it. */
  #current(): string | null {
    return (this.#models.status().model ?? this.#models.hibernated())?.id ?? null;
  }
}
