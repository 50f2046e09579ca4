import { Emitter, type Clock, type Logger } from '../base/index.ts';
import {
  fail,
  ok,
  type EngineState,
  type EngineStatus,
  type LadderStatus,
  type ModelInfo,
  type Result,
} from '../contract/index.ts';
import type { LadderService } from './interfaces.ts';
import { ladderStep, shouldHibernate, untilNextStep, type LadderFacts } from './ladder-step.ts';

/** The models as the ladder moves them. */
export type SleepingModels = {
  status(): EngineStatus;
  onStatus(listener: (status: EngineStatus) => void): () => void;
  hibernated(): ModelInfo | null;
  hibernate(): Promise<Result<void>>;
  wake(): Promise<Result<ModelInfo>>;
  cancelWake(): void;
};

export type SleepLadderDependencies = {
  readonly models: SleepingModels;
  /** Minutes without a request until the model leaves memory; null: it stays. */
  readonly idleUnloadMinutes: number | null;
  readonly clock: Clock;
  readonly logger: Logger;
};

/** One load of the hibernated model, for all requests that wait for it. */
type Wake = { readonly done: Promise<Result<void>>; waiting: number; abandoned: boolean };

/**
 * How deep the engine sleeps, from `computing` to `hibernated`, and its way back. One timer at most, to the next step;
 * none once the model has left memory.
 */
export class SleepLadder implements LadderService {
  readonly #deps: SleepLadderDependencies;
  readonly #events: Emitter<LadderStatus>;
  readonly #off: () => void;
  #status: LadderStatus;
  #requests = 0;
  #pages = 0;
  /** Monotonic, in ms: when the last request ended or a model was loaded. */
  #lastUse: number;
  #engine: EngineState;
  /** `wokeInMs` as the listeners know it. */
  #told: number | null = null;
  #hibernating: Promise<void> | null = null;
  #wake: Wake | null = null;
  #closed = false;
  #cancel: () => void = () => undefined;

  constructor(deps: SleepLadderDependencies) {
    const { models, idleUnloadMinutes, clock, logger } = deps;
    this.#deps = deps;
    this.#events = new Emitter((error) => logger.error('ladder listener failed', { error: String(error) }));
    this.#lastUse = clock.elapsed();
    this.#engine = models.status().state;
    const step = ladderStep(this.#facts(models.status()));
    this.#status = { step, since: clock.now(), wokeInMs: null, idleUnloadMinutes };
    this.#off = models.onStatus((status) => this.#update(status));
    this.#update();
  }

  status(): LadderStatus {
    return this.#status;
  }

  on(listener: (status: LadderStatus) => void): () => void {
    return this.#events.on(listener);
  }

  pagesSeen(count: number): void {
    this.#pages = count;
    this.#update();
  }

  /** A request has come. Until the function that this returns is called, nothing is taken out of memory. */
  begin(): () => void {
    this.#requests += 1;
    this.#update();
    return () => {
      this.#requests -= 1;
      this.#lastUse = this.#deps.clock.elapsed();
      this.#update();
    };
  }

  /** Whether a request has to wait for `awake` first. */
  get sleeps(): boolean {
    return this.#deps.models.hibernated() !== null;
  }

  /**
   * Brings a hibernated model back. All who wait share one load. The error says why it could not be loaded; the model
   * then stays hibernated, and the next request tries again.
   * @param stopped ends the wait at once. When nobody waits any more, the load is cancelled.
   */
  async awake(stopped: AbortSignal): Promise<Result<void>> {
    while (this.sleeps && !stopped.aborted) {
      const wake = this.#wake ?? this.#startWake();
      if (wake.abandoned) {
        // Given up by those before; it ends in a moment and is begun anew.
        await Promise.race([wake.done, whenAborted(stopped)]);
        continue;
      }
      wake.waiting += 1;
      const result = await Promise.race([wake.done, whenAborted(stopped)]);
      wake.waiting -= 1;
      if (result !== 'stopped') return result;
      if (wake.waiting === 0 && this.#wake === wake) {
        wake.abandoned = true;
        this.#deps.models.cancelWake();
      }
    }
    return ok();
  }

  close(): void {
    this.#closed = true;
    this.#cancel();
    this.#off();
  }

  #startWake(): Wake {
    const wake: Wake = { done: this.#load(() => wake.abandoned), waiting: 0, abandoned: false };
    this.#wake = wake;
    this.#update();
    return wake;
  }

  async #load(abandoned: () => boolean): Promise<Result<void>> {
    const { models, clock, logger } = this.#deps;
    const started = clock.elapsed();
    // Also puts the rest behind the caller's assignment.
    await this.#hibernating;
    const result = abandoned() ? ok() : await models.wake().catch((error: unknown) => fail('internal', String(error)));
    this.#wake = null;
    const wokeInMs = Math.round(clock.elapsed() - started);
    if (result.ok && !this.sleeps) this.#status = { ...this.#status, wokeInMs };
    logger.info('woke from hibernation', { ok: result.ok && !this.sleeps, ms: wokeInMs });
    this.#update();
    return result.ok ? ok() : couldNotWake(result);
  }

  #hibernate(): void {
    const { models, logger } = this.#deps;
    logger.info('hibernates', { minutes: this.#status.idleUnloadMinutes });
    this.#hibernating = models
      .hibernate()
      .then(
        () => undefined,
        (error: unknown) => logger.error('model not unloaded', { error: String(error) }),
      )
      .then(() => {
        this.#hibernating = null;
        this.#update();
      });
  }

  #facts(status: EngineStatus): LadderFacts {
    const { models, idleUnloadMinutes, clock } = this.#deps;
    return {
      engine: status.state,
      sleep: status.sleep?.step ?? null,
      hasModel: status.model !== null,
      hibernated: models.hibernated() !== null,
      waking: this.#wake !== null,
      requests: this.#requests + status.waiting,
      seen: this.#pages > 0,
      idleMs: clock.elapsed() - this.#lastUse,
      idleUnloadMs: idleUnloadMinutes === null ? null : idleUnloadMinutes * 60_000,
    };
  }

  #update(status = this.#deps.models.status()): void {
    if (this.#closed) return;
    this.#noteLoad(status);
    const facts = this.#facts(status);
    this.#cancel();
    if (this.#hibernating === null && shouldHibernate(facts)) {
      // Its status events come back here before it returns.
      this.#hibernating = Promise.resolve();
      return this.#hibernate();
    }
    const ms = untilNextStep(facts);
    this.#cancel = ms === null ? () => undefined : this.#deps.clock.after(ms, () => this.#update());
    const step = ladderStep(facts);
    const { wokeInMs } = this.#status;
    if (step === this.#status.step && wokeInMs === this.#told) return;
    this.#told = wokeInMs;
    const since = step === this.#status.step ? this.#status.since : this.#deps.clock.now();
    this.#status = { ...this.#status, step, since };
    this.#events.emit(this.#status);
  }

  /** A model that was just loaded is not idle, whoever loaded it. */
  #noteLoad({ state }: EngineStatus): void {
    if (this.#engine === 'loading' && state === 'ready') this.#lastUse = this.#deps.clock.elapsed();
    this.#engine = state;
  }
}

function whenAborted(signal: AbortSignal): Promise<'stopped'> {
  if (signal.aborted) return Promise.resolve('stopped');
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve('stopped'), { once: true }));
}

function couldNotWake(result: Result<unknown> & { readonly ok: false }): Result<never> {
  const { message } = result.error;
  return {
    ok: false,
    error: { ...result.error, message: `The model had left memory and could not be loaded again. ${message}` },
  };
}
