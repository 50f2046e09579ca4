import type { Llama, LlamaLogLevel } from 'node-llama-cpp';
import { Emitter, withinTime, type Logger } from '../base/index.ts';
import {
  fail,
  ok,
  type AppError,
  type EngineStatus,
  type ModelInfo,
  type Result,
  type Timings,
} from '../contract/index.ts';
import { badPrompt } from './answer-way.ts';
import { EngineStateMachine } from './engine-state.ts';
import {
  nothingGenerated,
  type CountRequest,
  type EmbedOutcome,
  type EmbedRequest,
  type Engine,
  type EngineEvent,
  type GenerateOutcome,
  type GenerateRequest,
  type LoadRequest,
} from './engine.ts';
import { ChatFormats } from './llama-chat-format.ts';
import { readGgufFacts, type GgufFacts } from './llama-gguf.ts';
import { EnginePlacement, type LoadPlan } from './engine-placement.ts';
import { EnginePool } from './engine-pool.ts';
import type { PoolStats } from './expert-pool.ts';
import { explainLoadError, PlacementError } from './llama-load-error.ts';
import { PromptCacheFiles } from './llama-prompt-cache.ts';
import { checkLoadable, planLoad } from './llama-load-plan.ts';
import { LlamaRuntime } from './llama-runtime.ts';
import { startLlama, type StartedLlama } from './llama-start.ts';
import { nameOf } from './gpu-choice.ts';
import { NativeStop } from './native-stop.ts';
import type { PoolMiddleware } from './pool-middleware.ts';
import { RequestLine } from './request-line.ts';
import { RunningGenerations } from './running-generations.ts';

/** Least time between two status events that only carry progress or speed, in ms. */
const progressInterval = 200;
/** Longest time llama.cpp may take to free what it holds, in ms. */
const disposeLimit = 2000;
/** llama.cpp's last complaints are kept to explain a failed load. */
const keptComplaints = 20;

export type LlamaEngineDependencies = {
  readonly logger: Logger;
  /** The pool inside llama.cpp, or why there is none. */
  readonly middleware: PoolMiddleware | { readonly missing: string };
  /** Folder that keeps KV caches across restarts; null or absent: they are not kept. */
  readonly promptCache?: string | null;
  /** Unix time in ms. */
  readonly now?: () => number;
};

/** The engine on node-llama-cpp, in this process. */
export class LlamaEngine implements Engine {
  readonly #logger: Logger;
  readonly #events: Emitter<EngineEvent>;
  readonly #state: EngineStateMachine;
  readonly #pool: EnginePool;
  readonly #placement: EnginePlacement;
  readonly #running: RunningGenerations;
  readonly #cache: PromptCacheFiles | null;
  readonly #line: RequestLine;
  readonly #formats = new ChatFormats();
  readonly #stopping: NativeStop;
  readonly #complaints: string[] = [];
  #loadAbort: AbortController | null = null;
  #llama: StartedLlama | null = null;
  #runtime: LlamaRuntime | null = null;
  #lastTimings: Timings | null = null;
  #closed = false;

  constructor({ logger, middleware, promptCache = null, now = Date.now }: LlamaEngineDependencies) {
    this.#logger = logger;
    this.#cache = promptCache === null ? null : new PromptCacheFiles(promptCache, logger);
    this.#pool = new EnginePool(middleware, logger, {
      now,
      changed: (sleep) => this.#state.note({ sleep }),
    });
    this.#placement = new EnginePlacement(middleware, logger);
    this.#events = new Emitter((error) => logger.error('engine listener failed', { error: String(error) }));
    this.#state = new EngineStateMachine(now, (status) => this.#events.emit({ type: 'status', status }));
    this.#stopping = new NativeStop(this.#pool);
    this.#running = new RunningGenerations(this.#state);
    this.#line = new RequestLine((waiting) => {
      if (waiting !== this.#state.status.waiting) this.#state.note({ waiting });
    });
  }

  status(): EngineStatus {
    return this.#state.status;
  }

  lastTimings(): Timings | null {
    return this.#lastTimings;
  }

  poolStats(): PoolStats | null {
    return this.#pool.stats();
  }

  contextUsed(): number | null {
    return this.#runtime?.contextUsed ?? null;
  }

  spinDemo(): Result<{ endsAt: number }> {
    return this.#closed ? closed() : this.#pool.spinDemo();
  }

  on(listener: (event: EngineEvent) => void): () => void {
    return this.#events.on(listener);
  }

  async load(request: LoadRequest): Promise<Result<ModelInfo>> {
    if (this.#closed) return closed();
    const facts = await readGgufFacts(request.path);
    if (!facts.ok) {
      this.#noteRefusal(facts.error);
      return facts;
    }
    if (this.#loadAbort !== null) this.#loadAbort.abort(new Error('another load was asked for'));
    const abort = new AbortController();
    this.#loadAbort = abort;
    try {
      return await this.#line.between(() => this.#switchModel(request, facts.data, abort.signal));
    } finally {
      if (this.#loadAbort === abort) this.#loadAbort = null;
    }
  }

  cancelLoad(): boolean {
    const running = this.#loadAbort !== null && !this.#loadAbort.signal.aborted;
    this.#loadAbort?.abort(new Error('cancelled'));
    return running;
  }

  unload(): Promise<Result<void>> {
    if (this.#closed) return Promise.resolve(closed());
    return this.#line.between(async () => {
      if (this.#runtime === null) return ok();
      this.#state.to('unloading');
      await this.#disposeRuntime();
      this.#state.to('empty', { model: null, placement: null, error: null });
      return ok();
    });
  }

  async generate(request: GenerateRequest): Promise<Result<GenerateOutcome>> {
    if (this.#closed) return closed();
    const problem = badPrompt(request.prompt);
    if (problem !== null) return problem;
    return this.#line.request(request.id, (signal, queuedMs) => this.#generateNow(request, signal, queuedMs));
  }

  countTokens(request: CountRequest): Promise<Result<number>> {
    if (this.#closed) return Promise.resolve(closed());
    const problem = badPrompt(request.prompt);
    if (problem !== null) return Promise.resolve(problem);
    const count = () => {
      const runtime = this.#runtimeFor(request.modelPath);
      return runtime.ok ? runtime.data.countTokens(request) : runtime;
    };
    // The tokenizer needs no turn, but a model.
    const there = ['ready', 'prefill', 'generating'].includes(this.#state.status.state);
    return there ? Promise.resolve(count()) : this.#line.beside(() => Promise.resolve(count()));
  }

  async embed(request: EmbedRequest): Promise<Result<EmbedOutcome>> {
    if (this.#closed) return closed();
    return this.#line.request(request.id, (signal) => this.#embedNow(request, signal), { alone: true });
  }

  stop(generationId: string): boolean {
    return this.#line.stop(generationId);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#pool.requestStop();
    this.cancelLoad();
    this.#line.stopAll();
    await this.#line.between(async () => {
      await this.#disposeRuntime();
      this.#pool.close();
      // A load that failed inside llama.cpp leaves a handle in node-llama-cpp for which its dispose may wait for ever.
      const disposed = this.#llama === null || (await withinTime(this.#llama.llama.dispose(), disposeLimit));
      if (!disposed) this.#logger.warn('llama.cpp was not disposed in time');
      this.#llama = null;
    });
  }

  /** A file that was refused before anything was unloaded: whatever was there goes on. */
  #noteRefusal(error: AppError): void {
    this.#logger.warn('model refused', { code: error.code });
    if (this.#state.status.state === 'empty' || this.#state.status.state === 'failed') {
      this.#state.to('loading');
      this.#state.loadFailed(error, null);
    } else this.#state.note({ error });
  }

  async #switchModel(request: LoadRequest, facts: GgufFacts, signal: AbortSignal): Promise<Result<ModelInfo>> {
    if (signal.aborted) return cancelled();
    const previous = this.#runtime;
    this.#state.to('loading', { loadProgress: 0, error: null });
    try {
      const started = await this.#start(request.gpu);
      if (!started.ok) return await this.#loadFailed(started.error, previous);
      const { llama } = started.data;
      const pool = this.#pool.apply(llama.gpu, request.pool);
      this.#state.note({ pool, sleep: this.#pool.sleep });
      const plan = await this.#plan(started.data, request, facts);
      if (!plan.ok) return await this.#loadFailed(plan.error, previous);
      this.#complaints.length = 0;
      if (previous !== null) await checkLoadable(llama, request.path, signal);
      await this.#disposeRuntime();
      const runtime = await this.#loadRuntime(llama, request, facts, signal, plan.data);
      this.#state.to('ready', { model: runtime.info, error: null });
      this.#logger.info('model loaded', { id: runtime.info.id, context: runtime.info.contextSize });
      return ok(runtime.info);
    } catch (error) {
      const onGpu = this.#llama !== null && this.#llama.backend !== null;
      const problem = signal.aborted ? cancelled().error : explainLoadError(error, this.#complaints, onGpu);
      return await this.#loadFailed(problem, previous);
    }
  }

  async #loadFailed(error: AppError, previous: LlamaRuntime | null): Promise<Result<ModelInfo>> {
    this.#logger.warn('model not loaded', { code: error.code });
    this.#state.loadFailed(error, await this.#restore(previous));
    return { ok: false, error };
  }

  async #plan(started: StartedLlama, request: LoadRequest, facts: GgufFacts): Promise<Result<LoadPlan>> {
    const { placement } = this.#state.status;
    const { gpu, plan } = await planLoad(this.#placement, started, request, facts, placement);
    this.#state.note({ gpu });
    return plan;
  }

  async #loadRuntime(
    llama: Llama,
    request: LoadRequest,
    facts: GgufFacts,
    signal: AbortSignal,
    plan: LoadPlan,
  ): Promise<LlamaRuntime> {
    this.#complaints.length = 0;
    let told = 0;
    const progress = (loadProgress: number) => {
      if (performance.now() - told < progressInterval) return;
      told = performance.now();
      this.#state.note({ loadProgress: Math.min(1, Math.max(0, loadProgress)) });
    };
    const begun = this.#placement.begin(llama.gpu, plan);
    if (!begun.ok) throw new PlacementError(begun.error);
    let kept = 0;
    try {
      this.#runtime = await LlamaRuntime.load(llama, request, facts, this.#formats, signal, progress, plan);
    } finally {
      kept = this.#placement.end(llama.gpu, plan);
    }
    const runtime = this.#runtime;
    this.#state.note({ placement: this.#placement.status(plan, facts.weights, kept, runtime.memory) });
    this.#line.setSlots(runtime.info.sequences);
    await this.#cache?.restore(runtime);
    return runtime;
  }

  /** After a failed switch: the old model again, if it had been unloaded meanwhile. */
  async #restore(previous: LlamaRuntime | null): Promise<ModelInfo | null> {
    if (this.#runtime !== null || previous === null) return this.#runtime?.info ?? null;
    const facts = await readGgufFacts(previous.request.path);
    if (!facts.ok || this.#llama === null || this.#closed) return null;
    try {
      const never = new AbortController().signal;
      const plan = await this.#plan(this.#llama, previous.request, facts.data);
      if (!plan.ok) return null;
      return (await this.#loadRuntime(this.#llama.llama, previous.request, facts.data, never, plan.data)).info;
    } catch (error) {
      this.#logger.error('previous model could not be restored', { error: String(error) });
      return null;
    }
  }

  async #disposeRuntime(): Promise<void> {
    const runtime = this.#runtime;
    this.#runtime = null;
    if (runtime !== null) await this.#cache?.save(runtime);
    await runtime?.dispose();
    this.#state.note({ placement: null });
  }

  /** The loaded model, if it is the one that must answer. */
  #runtimeFor(modelPath: string | null): Result<LlamaRuntime> {
    if (this.#closed) return closed();
    const runtime = this.#runtime;
    if (runtime === null) return fail('no_model', 'No model is loaded.', 'Load a model first.');
    if (modelPath !== null && runtime.request.path !== modelPath) {
      return fail('model_changed', 'Another model was loaded meanwhile.', 'Try again.');
    }
    return ok(runtime);
  }

  async #generateNow(
    request: GenerateRequest,
    signal: AbortSignal,
    queuedMs: number,
  ): Promise<Result<GenerateOutcome>> {
    while (this.#stopping.pending !== null && !signal.aborted) await this.#stopping.pending;
    if (signal.aborted && !this.#closed) return ok(nothingGenerated(queuedMs));
    const runtime = this.#runtimeFor(request.modelPath);
    if (!runtime.ok) return runtime;
    const { id } = request;
    this.#pool.busy();
    this.#running.begin(id);
    const running = runtime.data.generate(request, {
      signal,
      queuedMs,
      onPrefill: (done, total) => this.#running.prefill(id, done, total),
      onDecode: () => this.#running.decodes(id),
      onPart: (part, tokens) => {
        this.#running.decoded(id, tokens);
        this.#events.emit({ type: 'part', generationId: id, part });
      },
    });
    const stop = () => this.#stopInTheMiddle(running);
    signal.addEventListener('abort', stop);
    try {
      const result = await running;
      if (result.ok) this.#lastTimings = result.data.timings;
      return result;
    } finally {
      signal.removeEventListener('abort', stop);
      this.#running.end(id);
      if (this.#running.count === 0) this.#pool.idle();
    }
  }

  /**
   * Between chunks and not only between batches: a batch of a large model takes seconds. With several in one batch all
   * of them would fail, so that there the one that is stopped leaves at the next batch.
   */
  #stopInTheMiddle(running: Promise<unknown>): void {
    if (this.#running.count > 1 && !this.#closed) return;
    this.#stopping.stop(running, () => !this.#closed);
  }

  async #embedNow(request: EmbedRequest, signal: AbortSignal): Promise<Result<EmbedOutcome>> {
    if (signal.aborted && !this.#closed) return ok({ vectors: [], promptTokens: 0 });
    if (this.#stopping.pending !== null) await this.#stopping.pending;
    const runtime = this.#runtimeFor(request.modelPath);
    if (!runtime.ok) return runtime;
    this.#pool.busy();
    this.#running.begin(request.id);
    try {
      return await runtime.data.embed(request, signal);
    } finally {
      this.#running.end(request.id);
      this.#pool.idle();
    }
  }

  /** A second llama.cpp registry in one process is unsafe, so the first choice stands until a restart. */
  async #start(gpu: LoadRequest['gpu']): Promise<Result<StartedLlama>> {
    if (this.#llama === null) {
      const started = await startLlama(gpu, { hear: (level, message) => this.#hearLlama(level, message) });
      if (!started.ok) return started;
      const { asked, backend, reason } = started.data;
      this.#logger.info('llama.cpp started', { asked, backend, reason });
      this.#llama = started.data;
    }
    const { asked, backend } = this.#llama;
    if (gpu === asked || gpu === 'off' || gpu === backend || (gpu === 'auto' && asked !== 'off'))
      return ok(this.#llama);
    const now = backend === null ? 'the CPU alone' : nameOf(backend);
    return fail(
      'restart_required',
      `Dormouse was started with ${now}, and the graphics backend changes with a restart only.`,
      `End Dormouse and start it again with --gpu ${gpu}. Your chats are safe.`,
    );
  }

  #hearLlama(level: LlamaLogLevel, message: string): void {
    this.#complaints.push(message.trim());
    if (this.#complaints.length > keptComplaints) this.#complaints.shift();
    this.#logger.debug('llama.cpp', { level, message: message.trim() });
  }
}

function closed() {
  return fail('engine_closed', 'Dormouse is closing.');
}

function cancelled() {
  return fail('load_cancelled', 'Loading was cancelled.');
}
