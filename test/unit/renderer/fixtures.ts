import type {
  AppError,
  AppEvent,
  Bridge,
  ConnectionState,
  EngineStatus,
  Message,
  ModelInfo,
  Result,
  StreamSnapshot,
  Timings,
} from '../../../src/main/contract/index.ts';
import type { TabEnvironment } from '../../../src/renderer/state/telemetry.ts';
import type { RequestInput, RequestName, RequestOutput } from '../../../src/main/contract/requests.ts';

export function message(values: Partial<Message> & { readonly id: string }): Message {
  return {
    conversationId: 'c1',
    parentId: null,
    role: 'assistant',
    text: '',
    thought: '',
    createdAt: 0,
    status: 'done',
    streamId: null,
    error: null,
    stopReason: null,
    timings: null,
    modelName: null,
    ...values,
  };
}

export function timings(values: Partial<Timings> = {}): Timings {
  return {
    promptTokens: 100,
    promptTokensEvaluated: 40,
    turnsDropped: 0,
    prefillMs: 120,
    timeToFirstTokenMs: 210,
    queuedMs: 0,
    predictedTokens: 182,
    predictedMs: 4400,
    tokensPerSecond: 41.34,
    ...values,
  };
}

export const builtinModel: ModelInfo = {
  id: 'dormouse-mini',
  name: 'Dormouse Mini',
  path: 'dormouse-mini.gguf',
  builtin: true,
  architecture: 'qwen3moe',
  quantization: 'Q8_0',
  sizeBytes: 1,
  layers: 4,
  experts: 8,
  expertsUsed: 2,
  contextTrained: 1024,
  contextSize: 1024,
  sequences: 1,
  chatFormat: 'ChatML',
  thinks: false,
};

export function status(values: Partial<EngineStatus> = {}): EngineStatus {
  return {
    state: 'ready',
    since: 0,
    model: builtinModel,
    loadProgress: null,
    prefill: null,
    tokensPerSecond: null,
    pool: null,
    sleep: null,
    gpu: null,
    placement: null,
    waiting: 0,
    error: null,
    ...values,
  };
}

export function snapshot(values: Partial<StreamSnapshot> = {}): StreamSnapshot {
  return { streamId: 's1', seq: 0, text: '', thought: '', ended: false, ...values };
}

export function refusal(code: AppError['code'], text: string = code): Result<never> {
  return { ok: false, error: { code, message: text } };
}

/** A visible tab whose timers never end. */
export const quietTab: TabEnvironment = {
  isVisible: () => true,
  onVisibility: () => () => undefined,
  wait: () => () => undefined,
};

/** Lets everything run that waits for promises only. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}

type Answer = (input: never) => Result<unknown> | Promise<Result<unknown>>;

/** A bridge whose answers and events a test decides. */
export class FakeBridge implements Bridge {
  readonly calls: { readonly name: RequestName; readonly input: unknown }[] = [];
  readonly #answers = new Map<RequestName, Answer>();
  readonly #listeners = new Set<(event: AppEvent) => void>();
  readonly #connectionListeners = new Set<(state: ConnectionState) => void>();

  answer<N extends RequestName>(
    name: N,
    answer: (input: RequestInput<N>) => Result<RequestOutput<N>> | Promise<Result<RequestOutput<N>>>,
  ): void {
    this.#answers.set(name, answer);
  }

  async request<N extends RequestName>(name: N, input: RequestInput<N>): Promise<Result<RequestOutput<N>>> {
    this.calls.push({ name, input });
    const answer = this.#answers.get(name);
    if (answer === undefined) return refusal('unknown_request');
    return (await answer(input as never)) as Result<RequestOutput<N>>;
  }

  on(listener: (event: AppEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  onConnection(listener: (state: ConnectionState) => void): () => void {
    this.#connectionListeners.add(listener);
    return () => this.#connectionListeners.delete(listener);
  }

  emit(...events: readonly AppEvent[]): void {
    for (const event of events) for (const listener of this.#listeners) listener(event);
  }

  connection(state: ConnectionState): void {
    for (const listener of this.#connectionListeners) listener(state);
  }

  count(name: RequestName): number {
    return this.calls.filter((call) => call.name === name).length;
  }
}

/** A promise and the way to settle it. */
export function deferred<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
