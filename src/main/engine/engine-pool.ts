import type { Logger } from '../base/index.ts';
import { fail, ok, type PoolStatus, type Result, type SleepStatus, type SleepStep } from '../contract/index.ts';
import type { PoolChoice } from './engine.ts';
import type { PoolStats } from './expert-pool.ts';
import type { PoolMiddleware } from './pool-middleware.ts';
import { SleepWatch } from './sleep-watch.ts';

/** How long the workers spin in the demonstration, in ms. */
const spinDemoMs = 5000;

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
  readonly #now: () => number;
  #installed = false;
  /** As configured, whatever a demonstration does to it. */
  #spinMs: PoolChoice['spinMs'] = 0;
  #demo: { readonly endsAt: number; readonly timer: NodeJS.Timeout } | null = null;

  constructor(middleware: PoolMiddleware | { readonly missing: string }, logger: Logger, hooks: EnginePoolHooks) {
    this.#middleware = 'missing' in middleware ? null : middleware;
    this.#missing = 'missing' in middleware ? middleware.missing : null;
    this.#logger = logger;
    this.#now = hooks.now;
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
    this.#endSpinDemo();
    this.#spinMs = spinMs;
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

  /**
   * Lets all workers spin for 5 s as if they waited for work without ever sleeping, then as before. Work goes on
   * meanwhile. Asked again it goes on to the end it has. @returns Unix time in ms of the end.
   */
  spinDemo(): Result<{ endsAt: number }> {
    if (this.#demo !== null) return ok({ endsAt: this.#demo.endsAt });
    const workers = this.stats()?.workers.length ?? 0;
    if (this.#middleware === null || workers === 0) {
      return fail(
        'pool_not_installed',
        this.#installed
          ? 'The pool has one thread only and no worker that could spin.'
          : 'The expert pool is not in use, so that no worker of it can spin. Nothing was changed.',
        this.#installed ? 'Start with more --pool-threads.' : 'Load a model with --pool on first.',
      );
    }
    // Sleeping workers would go on sleeping until there is work. Those of a new pool begin awake, and without the
    // governor it is a new one; with `always` there is nothing to govern anyway.
    this.#middleware.configure({ spinMs: 'always', govern: false });
    const timer = setTimeout(() => this.#endSpinDemo(), spinDemoMs).unref();
    this.#demo = { endsAt: this.#now() + spinDemoMs, timer };
    this.#lookAfterChange();
    return ok({ endsAt: this.#demo.endsAt });
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
    this.#endSpinDemo();
    this.#watch.close();
    if (this.#installed) this.#uninstall();
    this.#installed = false;
  }

  #endSpinDemo(): void {
    if (this.#demo === null) return;
    clearTimeout(this.#demo.timer);
    this.#demo = null;
    try {
      // First the workers that there are, then the new pool: should it not come about, these sleep all the same.
      this.#middleware?.configure({ spinMs: this.#spinMs });
      this.#middleware?.configure({ govern: true });
    } catch (error) {
      this.#logger.error('pool not as before the demonstration', { error: String(error) });
    }
    this.#lookAfterChange();
  }

  /** While there is work its end is looked at anyway. */
  #lookAfterChange(): void {
    if (this.sleep?.step !== 'computing') this.idle();
  }

  #install(gpu: string | false, { threads, affinity, spinMs }: PoolChoice): string | null {
    if (this.#middleware === null) return this.#missing ?? 'The expert pool is not there.';
    const count = threads === 'auto' ? 0 : threads;
    const { installed, reason } = this.#middleware.install({ gpu, threads: count, affinity, spinMs, govern: true });
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
