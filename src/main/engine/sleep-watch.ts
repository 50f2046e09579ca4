import type { SleepStatus, SleepStep } from '../contract/index.ts';

/** How often to look while workers still spin, in ms. */
const lookEvery = 20;
/** CPU time is taken from this long after the workers fell asleep, over this long, in ms. */
const settle = 100;
const measure = 10_000;

export type SleepWatchDependencies = {
  /** What the workers do now: the busiest of them. */
  readonly look: () => SleepStep;
  /** CPU time of the process so far, in microseconds. */
  readonly cpuTime: () => number;
  /** Unix time in ms. */
  readonly now: () => number;
  readonly changed: (status: SleepStatus) => void;
};

/**
 * Watches the workers fall asleep after work and then measures what sleeping costs. While they sleep it costs nothing
 * itself: a few looks until all sleep, one measurement 10 s later, then no timer at all until there is work again.
 */
export class SleepWatch {
  readonly #deps: SleepWatchDependencies;
  #status: SleepStatus;
  #timer: NodeJS.Timeout | null = null;

  constructor(deps: SleepWatchDependencies) {
    this.#deps = deps;
    this.#status = { step: 'asleep', since: deps.now(), cores: null };
  }

  get status(): SleepStatus {
    return this.#status;
  }

  /** Work has begun. */
  busy(): void {
    this.#clear();
    this.#to('computing');
  }

  /** Work has ended. */
  idle(): void {
    this.#clear();
    const step = this.#deps.look();
    this.#to(step);
    if (step === 'asleep') this.#measureLater();
    else this.#wait(lookEvery, () => this.idle());
  }

  /** Ends all timers. */
  close(): void {
    this.#clear();
  }

  #measureLater(): void {
    this.#wait(settle, () => {
      const cpu = this.#deps.cpuTime();
      const started = this.#deps.now();
      this.#wait(measure, () => {
        // The clock and not the plan: a suspended laptop sleeps through timers.
        const elapsed = Math.max(1, this.#deps.now() - started);
        this.#set({ ...this.#status, cores: (this.#deps.cpuTime() - cpu) / 1000 / elapsed });
      });
    });
  }

  #wait(ms: number, then: () => void): void {
    this.#timer = setTimeout(then, ms).unref();
  }

  #clear(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #to(step: SleepStep): void {
    if (step === this.#status.step) return;
    this.#set({ step, since: this.#deps.now(), cores: step === 'asleep' ? null : this.#status.cores });
  }

  #set(status: SleepStatus): void {
    this.#status = status;
    this.#deps.changed(status);
  }
}
