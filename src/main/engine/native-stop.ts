import type { EnginePool } from './engine-pool.ts';

/** Stops an evaluation in the middle of a batch, through the pool. Nothing else may be evaluated meanwhile: it would fail too. */
export class NativeStop {
  readonly #pool: Pick<EnginePool, 'requestStop' | 'clearStop'>;
  /** Settles when what is being stopped has ended; null: nothing is. */
  #ended: Promise<void> | null = null;

  constructor(pool: Pick<EnginePool, 'requestStop' | 'clearStop'>) {
    this.#pool = pool;
  }

  /** What those who begin wait for; null: nothing, they begin at once. */
  get pending(): Promise<void> | null {
    return this.#ended;
  }

  /** @param running settles when it has ended. @param mayGoOn whether anything will be evaluated after it. */
  stop(running: Promise<unknown>, mayGoOn: () => boolean): void {
    this.#pool.requestStop();
    const after = () => {
      this.#ended = null;
      if (mayGoOn()) this.#pool.clearStop();
    };
    this.#ended = running.then(after, after);
  }
}
