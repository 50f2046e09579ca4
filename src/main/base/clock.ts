/** The longest time a timer of Node can wait, in ms; a longer one would end at once. */
const longestTimer = 2 ** 31 - 1;

/** Time and timers, injected so that tests need not wait. */
export interface Clock {
  /** Unix time in ms. */
  now(): number;
  /** Time that only goes on, in ms from some beginning: for rates and spans. */
  elapsed(): number;
  /**
   * Calls once, at the earliest after `ms`; spans beyond 24 days end early, so that the caller looks again. Keeps no
   * process alive. @returns a function that takes it back.
   */
  after(ms: number, then: () => void): () => void;
}

export const systemClock: Clock = {
  now: Date.now,
  elapsed: () => performance.now(),
  after(ms, then) {
    const timer = setTimeout(then, Math.min(ms, longestTimer)).unref();
    return () => clearTimeout(timer);
  },
};
