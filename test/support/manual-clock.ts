import type { Clock } from '../../src/main/base/index.ts';

type Timer = { readonly at: number; readonly then: () => void };

/** A clock that stands still until the test moves it. */
export class ManualClock implements Clock {
  #time = 0;
  readonly #timers = new Set<Timer>();

  now(): number {
    return 1_700_000_000_000 + this.#time;
  }

  elapsed(): number {
    return this.#time;
  }

  after(ms: number, then: () => void): () => void {
    const timer = { at: this.#time + ms, then };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** Time until each timer that runs, in ms, soonest first. */
  get timers(): number[] {
    return [...this.#timers].map(({ at }) => at - this.#time).sort((a, b) => a - b);
  }

  /** Goes on by `ms`; what is due on the way is called at its own time. */
  advance(ms: number): void {
    const end = this.#time + ms;
    for (;;) {
      const next = [...this.#timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (next === undefined) break;
      this.#timers.delete(next);
      this.#time = Math.max(this.#time, next.at);
      next.then();
    }
    this.#time = end;
  }
}

/** Lets everything that only waits for promises go on. */
export async function settled(): Promise<void> {
  for (let round = 0; round < 5; round++) await new Promise((resolve) => setImmediate(resolve));
}
