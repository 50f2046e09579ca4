import { Emitter } from '../../src/main/base/index.ts';
import { ok, type EngineStatus, type ModelInfo, type Result, type Timings } from '../../src/main/contract/index.ts';
import type {
  AnswerPart,
  EmbedOutcome,
  Engine,
  EngineEvent,
  GenerateOutcome,
  GenerateRequest,
  LoadRequest,
} from '../../src/main/engine/index.ts';
import { waitFor } from './wait-for.ts';

export const noTimings: Timings = {
  promptTokens: 1,
  promptTokensEvaluated: 1,
  turnsDropped: 0,
  queuedMs: 0,
  prefillMs: 1,
  timeToFirstTokenMs: 1,
  predictedTokens: 1,
  predictedMs: 1,
  tokensPerSecond: 1000,
};

export const scriptedModel: ModelInfo = {
  id: 'scripted',
  name: 'Scripted',
  path: '',
  builtin: false,
  architecture: 'qwen3moe',
  quantization: null,
  sizeBytes: 1,
  layers: 1,
  experts: 2,
  expertsUsed: 1,
  contextTrained: 512,
  contextSize: 512,
  sequences: 1,
  chatFormat: 'ChatML',
  thinks: false,
};

/** An engine that answers when the test says so: for the logic above it, where a real answer would be too quick to look into. */
export class ScriptedEngine implements Engine {
  readonly requests: GenerateRequest[] = [];
  /** Hears the path of every load; loads succeed at once. */
  onLoad: (path: string) => void = () => undefined;
  /** Loads go on until they are cancelled. */
  holdLoads = false;
  loading = false;
  /** Stops have no effect, as in the middle of a long batch. */
  ignoreStops = false;
  readonly #events = new Emitter<EngineEvent>();
  readonly #open = new Map<string, (result: Result<GenerateOutcome>) => void>();

  #status: EngineStatus = {
    state: 'ready',
    since: 0,
    model: null,
    loadProgress: null,
    prefill: null,
    tokensPerSecond: null,
    pool: null,
    sleep: null,
    gpu: null,
    placement: null,
    waiting: 0,
    error: null,
  };

  status(): EngineStatus {
    return this.#status;
  }

  /** Tells everybody about another state. */
  become(changes: Partial<EngineStatus>): void {
    this.#status = { ...this.#status, ...changes };
    this.#events.emit({ type: 'status', status: this.#status });
  }

  lastTimings() {
    return null;
  }

  poolStats() {
    return null;
  }

  contextUsed() {
    return null;
  }

  spinDemo() {
    return ok({ endsAt: 0 });
  }

  generate(request: GenerateRequest): Promise<Result<GenerateOutcome>> {
    this.requests.push(request);
    return new Promise((resolve) => this.#open.set(request.id, resolve));
  }

  countTokens(): Promise<Result<number>> {
    return Promise.resolve(ok(1));
  }

  embed(): Promise<Result<EmbedOutcome>> {
    return Promise.resolve(ok({ vectors: [], promptTokens: 0 }));
  }

  part(generationId: string, part: AnswerPart): void {
    this.#events.emit({ type: 'part', generationId, part });
  }

  /** Ends an answer; `result` defaults to a normal end. */
  async end(
    generationId: string,
    result: Result<GenerateOutcome> = ok({ stopReason: 'end', timings: noTimings }),
  ): Promise<void> {
    this.#open.get(generationId)?.(result);
    this.#open.delete(generationId);
    // The caller goes on in a microtask of its own.
    await new Promise((resolve) => setImmediate(resolve));
  }

  stop(generationId: string): boolean {
    const known = this.#open.has(generationId);
    if (this.ignoreStops) return known;
    void this.end(generationId, ok({ stopReason: 'stopped', timings: noTimings }));
    return known;
  }

  on(listener: (event: EngineEvent) => void): () => void {
    return this.#events.on(listener);
  }

  /** Waits until this many answers were asked for. */
  async asked(count: number): Promise<void> {
    await waitFor(`request ${count}`, () => this.requests.length >= count);
  }

  load(request: LoadRequest) {
    this.onLoad(request.path);
    this.loading = this.holdLoads;
    if (this.holdLoads) return new Promise<Result<ModelInfo>>(() => undefined);
    return Promise.resolve<Result<ModelInfo>>(ok({ ...scriptedModel, path: request.path, builtin: request.builtin }));
  }
  cancelLoad() {
    this.loading = false;
    return false;
  }
  unload() {
    return Promise.resolve(ok());
  }
  close() {
    return Promise.resolve();
  }
}
