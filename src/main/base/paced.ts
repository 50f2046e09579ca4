import type { Clock } from './clock.ts';

/**
 * Passes values on, at most one per `everyMs`: the first at once, of those that come too soon only the last, when its
 * time has come.
 */
export class Paced<T> {
  readonly #everyMs: number;
  readonly #clock: Pick<Clock, 'elapsed' | 'after'>;
  readonly #pass: (value: T) => void;
  #passedAt = Number.NEGATIVE_INFINITY;
  #waiting: { readonly value: T } | null = null;
  #cancel: (() => void) | null = null;

  constructor(everyMs: number, clock: Pick<Clock, 'elapsed' | 'after'>, pass: (value: T) => void) {
    this.#everyMs = everyMs;
    this.#clock = clock;
    this.#pass = pass;
  }

  /** @param urgent pass it on at once, whatever was waiting. */
  push(value: T, urgent = false): void {
    this.#waiting = { value };
    const left = this.#passedAt + this.#everyMs - this.#clock.elapsed();
    if (urgent || left <= 0) return this.#flush();
    this.#cancel ??= this.#clock.after(left, () => this.#flush());
  }

  /** Nothing is passed on afterwards, unless it is pushed. */
  close(): void {
    this.#cancel?.();
    this.#cancel = null;
    this.#waiting = null;
  }

  #flush(): void {
    this.#cancel?.();
    this.#cancel = null;
    const waiting = this.#waiting;
    this.#waiting = null;
    if (waiting === null) return;
    this.#passedAt = this.#clock.elapsed();
    this.#pass(waiting.value);
  }
}
