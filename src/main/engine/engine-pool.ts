import type { Logger } from '../base/index.ts';
import type { PoolStatus, SleepStatus, SleepStep } from '../contract/index.ts';
import type { PoolChoice } from './engine.ts';
import type { PoolStats } from './expert-pool.ts';
import type { PoolMiddleware } from './pool-middleware.ts';
import { SleepWatch } from './sleep-watch.ts';

export type EnginePoolHooks = {
  /** Unix time in ms. */
  readonly now: () => number;
  /** Hears of each step of falling asleep and waking. */
  readonly changed: (sleep: SleepStatus) => void;
};

/** The pool as the engine uses it: installed or not, stopped, watched while it falls asleep. */
export class EnginePool {
  readonly #middleware: PoolMiddleware | null;
  readonly #missing: string | null;
  readonly #logger: Logger;
  readonly #watch: SleepWatch;
  #installed = false;

  constructor(middleware: PoolMiddleware | { readonly missing: string }, logger: Logger, hooks: EnginePoolHooks) {
    this.#middleware = 'missing' in middleware ? null : middleware;
    this.#missing = 'missing' in middleware ? middleware.missing : null;
    this.#logger = logger;
    this.#watch = new SleepWatch({
      look: () => busiest(this.stats()),
      cpuTime: () => {
        const { user, system } = process.cpuUsage();
        return user + system;
      },
      ...hooks,
    });
  }

  /** null while llama.cpp computes by itself. */
  get sleep(): SleepStatus | null {
    return this.#installed ? this.#watch.status : null;
  }

  stats(): PoolStats | null {
    return this.#installed ? (this.#middleware?.stats().pool ?? null) : null;
  }

  /** Puts the pool into llama.cpp, or takes it out, before a model is loaded. */
  apply(gpu: string | false, choice: PoolChoice): PoolStatus {
    const { on, threads, affinity, spinMs } = choice;
    const reason = on ? this.#install(gpu, choice) : this.#uninstall();
    this.#installed = reason === null;
    if (reason !== null) this.#logger.info('pool not in use', { reason });
    const count = this.stats()?.threads ?? (threads === 'auto' ? 0 : threads);
    this.#logger.info('pool', { installed: this.#installed, threads: count, spinMs, affinity });
    return { installed: this.#installed, reason, threads: count, spinMs };
  }

  busy(): void {
    if (this.#installed) this.#watch.busy();
  }

  idle(): void {
    if (this.#installed) this.#watch.idle();
  }

  /** Ends evaluations at their next chunk; they fail, and the caller knows why. */
  requestStop(): void {
    if (this.#installed) this.#middleware?.requestStop();
  }

  clearStop(): void {
    if (this.#installed) this.#middleware?.clearStop();
  }

  /** After the last model is gone. */
  close(): void {
    this.#watch.close();
    if (this.#installed) this.#uninstall();
    this.#installed = false;
  }

  #install(gpu: string | false, { threads, affinity, spinMs }: PoolChoice): string | null {
    if (this.#middleware === null) return this.#missing ?? 'The expert pool is not there.';
    const count = threads === 'auto' ? 0 : threads;
    const { installed, reason } = this.#middleware.install({ gpu, threads: count, affinity, spinMs });
    return installed ? null : (reason ?? 'The expert pool could not be put into llama.cpp.');
  }

  #uninstall(): string {
    this.#middleware?.clearStop();
    if (this.#middleware?.stats().installed === true) this.#middleware.uninstall();
    return 'Switched off with --pool off.';
  }
}

function busiest(stats: PoolStats | null): SleepStep {
  const states = stats?.workers.map((worker) => worker.state) ?? [];
  if (states.includes('computing')) return 'computing';
  return states.includes('spinning') ? 'spinning' : 'asleep';
}
