import type {
  AppEvent,
  Conversation,
  ConversationOptions,
  ConversationSummary,
  EngineStatus,
  ExchangeHistory,
  LadderStatus,
  Message,
  ModelInfo,
  Remote,
  RemoteInput,
  Result,
  Sampling,
  ServerStatus,
  Settings,
  StreamPart,
  TelemetryHistory,
  Timings,
} from '../contract/index.ts';
import type {
  AnswerPart,
  ChatTurn,
  JsonSchema,
  OutputFormat,
  PoolStats,
  Prompt,
  ToolCall,
  ToolDefinition,
  ToolUse,
  WholeAnswer,
} from '../engine/index.ts';

export type { AnswerPart, ChatTurn, JsonSchema, OutputFormat, PoolStats, Prompt, ToolCall, ToolDefinition, ToolUse };

/** A model that can be asked for, loaded or not. `path` of a remote engine's model: `remote:ID/MODEL`. */
export type KnownModel = { readonly id: string; readonly path: string; readonly loaded: boolean };

export interface ModelService {
  status(): EngineStatus;
  /** What each worker of the pool does and has done; null without a pool. */
  poolStats(): PoolStats | null;
  /** Of the answer that ended last; null before the first. */
  lastTimings(): Timings | null;
  /** Models that a request may name. The loaded one comes first. */
  known(): readonly KnownModel[];
  /** Other names of known models: name to id. */
  aliases(): ReadonlyMap<string, string>;
  /** @returns the id of the known model that this id or alias means; null: none. */
  resolve(name: string): string | null;
  /** Whether a request may load another known model. */
  readonly maySwitch: boolean;
  /**
   * Makes sure that `id` is loaded and stays so until the returned function is called, where requests may switch;
   * else lets the request through at once. First come first served: who needs another model waits until all before
   * it have ended.
   * @param id null: whatever is loaded then.
   * @param signal ends the waiting; the request is let through, to find out by itself.
   */
  hold(id: string | null, signal: AbortSignal): Promise<Result<() => void>>;
  /** The absolute path that `builtin` or a path means. */
  pathOf(model: string): string;
  /** @param model `builtin` or a path to a GGUF file. On failure the previous model is still loaded. */
  load(
    model: string,
    /** `remember`: load it again at the next start; so by default. */
    options?: { readonly remember: boolean },
  ): Promise<Result<ModelInfo>>;
  cancelLoad(): boolean;
  unload(): Promise<Result<void>>;
  /** The model that the sleep ladder took out of memory and that the next request brings back; null: none. */
  hibernated(): ModelInfo | null;
  onStatus(listener: (status: EngineStatus) => void): () => void;
}

export type CompletionRequest = {
  readonly prompt: Prompt;
  readonly sampling: Sampling;
  /** Added to the logit of a token before sampling, -100..100, by token id. */
  readonly logitBias: ReadonlyMap<number, number>;
  /** Texts that end the answer; they are not part of it. They may span tokens. */
  readonly stop: readonly string[];
  readonly output: OutputFormat;
  /** null: no tools, as with `tool_choice: "none"`. */
  readonly tools: ToolUse | null;
  /** The model that must answer, as `ModelService.known` names it; null: whatever is loaded. */
  readonly model: string | null;
};

export type Completion = WholeAnswer;

export type Embeddings = {
  /** One for each input, in their order, each of length 1 (L2). */
  readonly vectors: readonly (readonly number[])[];
  readonly promptTokens: number;
};

/**
 * Stateless answers, for the server's routes. A prompt beyond the context is refused (`prompt_too_long`), never cut;
 * a full queue refuses with `queue_full`.
 */
export interface CompletionService {
  /**
   * @param onPart called for each piece as it comes, in order, before the promise settles.
   * @param signal ends the generation (also while queued and in prefill) with `end: 'stopped'`.
   */
  complete(
    request: CompletionRequest,
    onPart: (part: AnswerPart) => void,
    signal: AbortSignal,
  ): Promise<Result<Completion>>;
  /** Tokens that `prompt` takes in the loaded model's template, tools included. Wakes a hibernated model. */
  countTokens(request: Pick<CompletionRequest, 'prompt' | 'tools' | 'model'>): Promise<Result<number>>;
  /** @param inputs texts or lists of token ids; each must fit the context. */
  embed(
    request: { readonly inputs: readonly (string | readonly number[])[]; readonly model: string | null },
    signal: AbortSignal,
  ): Promise<Result<Embeddings>>;
  /** Seconds after which a caller who met a full queue may try again, at least 1. */
  retryAfterSeconds(): number;
}

/** What happens to conversations, before batching: one `part` per token. */
export type ChatEvent =
  | { readonly type: 'conversation.changed'; readonly conversation: ConversationSummary }
  | { readonly type: 'conversation.removed'; readonly conversationId: string }
  | {
      readonly type: 'conversation.configured';
      readonly conversationId: string;
      readonly options: ConversationOptions;
    }
  | { readonly type: 'notice'; readonly text: string }
  | { readonly type: 'message.added'; readonly message: Message; readonly leafId: string }
  | { readonly type: 'leaf.changed'; readonly conversationId: string; readonly leafId: string }
  | { readonly type: 'stream.part'; readonly streamId: string; readonly part: StreamPart }
  | { readonly type: 'stream.end'; readonly streamId: string; readonly message: Message };

export type StartedAnswer = { readonly conversationId: string; readonly streamId: string; readonly answerId: string };

export type SendRequest = {
  readonly conversationId?: string | undefined;
  /** The answer this message follows; null: none; absent: the one on screen. */
  readonly parentId?: string | null | undefined;
  readonly text: string;
  /** For a new conversation. */
  readonly options?: Partial<ConversationOptions> | undefined;
};

export interface ChatService {
  /** Latest first. */
  list(): readonly ConversationSummary[];
  get(conversationId: string): Promise<Result<Conversation>>;
  select(conversationId: string, messageId: string): Promise<Result<{ leafId: string }>>;
  rename(conversationId: string, title: string): Promise<Result<ConversationSummary>>;
  configure(conversationId: string, changes: Partial<ConversationOptions>): Promise<Result<ConversationOptions>>;
  /** Stops a running answer, then moves the conversation to the trash. */
  remove(conversationId: string): Promise<Result<void>>;
  restore(conversationId: string): Promise<Result<ConversationSummary>>;
  /** Puts the user's message on disk first, then starts the answer, which arrives as events. */
  send(request: SendRequest): Promise<Result<StartedAnswer & { userMessage: Message }>>;
  /** @param messageId the answer to give once more, or the user message to answer again. */
  regenerate(conversationId: string, messageId: string): Promise<Result<StartedAnswer>>;
  /** @returns false when the stream had already ended. */
  stop(streamId: string): boolean;
  on(listener: (event: ChatEvent) => void): () => void;
}

/** How deep the engine sleeps. */
export interface LadderService {
  status(): LadderStatus;
  on(listener: (status: LadderStatus) => void): () => void;
  /** How many pages are seen now. Without one the engine goes to `light` as soon as it is asleep. */
  pagesSeen(count: number): void;
}

export type TelemetryEvent = Extract<AppEvent, { readonly type: 'telemetry.sample' | 'telemetry.mark' }>;

/** Figures of machine and engine for those who watch. All watch the same samples. */
export interface TelemetryService {
  /** Samples as events from now on, for the time of a lease, and those there are. */
  watch(): TelemetryHistory;
  /** Ends the lease early. @param pages seen now: with several, others may still watch, and the lease runs out by itself. */
  unwatch(pages: number): void;
  spinDemo(): Result<{ endsAt: number }>;
  on(listener: (event: TelemetryEvent) => void): () => void;
}

/** The HTTP server, from the page and the tray. Each change answers with the state after it, and is told to all pages. */
export interface ServerControlService {
  status(): ServerStatus;
  start(): Promise<Result<ServerStatus>>;
  stop(): Promise<Result<ServerStatus>>;
  /** Moves it; when the new address cannot be had, the old one stays. */
  configure(changes: { readonly host?: string; readonly port?: number }): Promise<Result<ServerStatus>>;
  /** null: programs need none. */
  apiKey(): string | null;
  setApiKey(key: string | null): Promise<Result<ServerStatus>>;
  generateApiKey(): Promise<Result<string>>;
  on(listener: (status: ServerStatus) => void): () => void;
}

export type ExchangeLogEvent = Extract<AppEvent, { readonly type: 'server.exchange' | 'server.logCleared' }>;

/** The last exchanges with programs, for those who watch. */
export interface ExchangeLog {
  /** New ones as events from now on, for the time of a lease, and those there are. */
  watch(): ExchangeHistory;
  /** Ends the lease early. @param pages seen now: with several, others may still watch. */
  unwatch(pages: number): void;
  clear(): void;
  on(listener: (event: ExchangeLogEvent) => void): () => void;
}

/** OpenAI-compatible servers elsewhere. */
export interface RemotesService {
  list(): readonly Remote[];
  /** Fails with a sentence when it does not answer as one. */
  add(remote: RemoteInput): Promise<Result<Remote>>;
  change(id: string, changes: Partial<RemoteInput>): Promise<Result<Remote>>;
  test(id: string): Promise<Result<Remote>>;
  remove(id: string): Promise<Result<void>>;
  on(listener: (remotes: readonly Remote[]) => void): () => void;
}

export interface SettingsService {
  readonly value: Settings;
  /** The change counts at once; the result tells whether it is also saved. */
  set(changes: Partial<Settings>): Promise<Result<Settings>>;
  on(listener: (settings: Settings) => void): () => void;
}
