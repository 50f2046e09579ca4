import type { EngineStatus, ModelInfo, Result, Sampling, StopReason, StreamPart, Timings } from '../contract/index.ts';
import type { PoolStats } from './expert-pool.ts';

export type { PoolStats };

/** A function that the model may call. `parameters` is a JSON schema of its argument object; null: it takes none. */
export type ToolDefinition = {
  readonly name: string;
  readonly description: string | null;
  readonly parameters: JsonSchema | null;
};

/** A JSON schema as a caller wrote it; the engine refuses what it cannot hold a model to. */
export type JsonSchema = Readonly<Record<string, unknown>> | boolean;

/** A call that the model made. `arguments` is JSON text. */
export type ToolCall = { readonly id: string; readonly name: string; readonly arguments: string };

/** One turn of a chat. Text is always text: special tokens typed by a person stay letters. */
export type ChatTurn =
  | { readonly role: 'system' | 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text: string; readonly toolCalls?: readonly ToolCall[] }
  /** What a tool answered; `callId` is the id of a call in an assistant turn before it. */
  | { readonly role: 'tool'; readonly callId: string; readonly text: string };

/** `text` is continued as it stands, without a chat template (`/v1/completions`). */
export type Prompt =
  { readonly kind: 'chat'; readonly turns: readonly ChatTurn[] } | { readonly kind: 'text'; readonly text: string };

/** What the answer's text must look like. JSON is held by grammar: valid, or the answer ends with `max_tokens`. */
export type OutputFormat =
  { readonly kind: 'text' } | { readonly kind: 'json' } | { readonly kind: 'json_schema'; readonly schema: JsonSchema };

export type ToolUse = {
  readonly tools: readonly ToolDefinition[];
  /** `required`: at least one call, of any tool; a name: a call of that tool. */
  readonly choice: 'auto' | 'required' | { readonly name: string };
  /** Whether one answer may hold several calls. */
  readonly parallel: boolean;
};

/** A piece of an answer. Pieces of one call share its `index`; `text` is the next piece of its arguments' JSON text. */
export type AnswerPart =
  | StreamPart
  | {
      readonly kind: 'tool_call';
      /** 0 for the first call of an answer. */
      readonly index: number;
      readonly id: string;
      readonly name: string;
      readonly text: string;
    };

/** How an answer ended. */
export type AnswerEnd = StopReason | 'tool_calls';

/** An answer as a whole, from whatever engine. */
export type WholeAnswer = {
  readonly text: string;
  readonly thought: string;
  readonly toolCalls: readonly ToolCall[];
  readonly end: AnswerEnd;
  readonly timings: Timings;
};

/** `auto` follows the template in the model's file. */
export type ChatFormat =
  'auto' | 'chatml' | 'qwen' | 'harmony' | 'deepseek' | 'llama3' | 'mistral' | 'gemma' | 'general';

/** How llama.cpp's CPU work is computed; takes effect with the load. */
export type PoolChoice = {
  readonly on: boolean;
  /** Host and workers. */
  readonly threads: number | 'auto';
  readonly affinity: 'off' | 'auto' | 'p-cores';
  readonly spinMs: number | 'always';
};

export type LoadRequest = {
  /** Path of a GGUF file. */
  readonly path: string;
  readonly builtin: boolean;
  /** Tokens; `auto` is what the model was trained on, at most 8192. */
  readonly contextSize: number | 'auto';
  /** Prompt tokens per evaluation call. */
  readonly batchSize: number;
  readonly threads: number | 'auto';
  readonly gpu: 'auto' | 'cuda' | 'vulkan' | 'metal' | 'off';
  readonly gpuLayers: number | 'auto';
  /** Name or a part of the description of one graphics device; null: the best one. */
  readonly gpuDevice: string | null;
  /** The experts of all layers stay in RAM. */
  readonly cpuMoe: boolean;
  /** The experts of the first so many layers stay in RAM; `auto`: of as few as fits. */
  readonly nCpuMoe: number | 'auto';
  readonly kvType: 'f16' | 'q8_0' | 'q4_0';
  readonly flashAttention: 'auto' | 'on' | 'off';
  readonly mmap: boolean;
  readonly mlock: boolean;
  /** Answers that are written at the same time; each has a context of `contextSize`. */
  readonly sequences: number;
  readonly chatFormat: ChatFormat;
  readonly pool: PoolChoice;
};

export type GenerateRequest = {
  /** Chosen by the caller; names the generation in events and in `stop`. */
  readonly id: string;
  /** A chat must hold at least one turn with text that is not from the system. */
  readonly prompt: Prompt;
  readonly sampling: Sampling;
  /** Added to the logit of a token before sampling, -100..100, by token id. */
  readonly logitBias: ReadonlyMap<number, number>;
  /** Texts that end the answer; they may span tokens and are not part of it. */
  readonly stop: readonly string[];
  /** A tool call that `tools` demands comes before any format. */
  readonly output: OutputFormat;
  /** null: no tools. Only chats have any. */
  readonly tools: ToolUse | null;
  /**
   * When the prompt does not fit: `drop_oldest` leaves out whole turns after the system prompt, oldest first;
   * `refuse` answers `prompt_too_long`. The system prompt and the last turn are never dropped, so that
   * a prompt which still does not fit is refused. An answer that fills the context ends with `context_full`.
   */
  readonly overflow: 'drop_oldest' | 'refuse';
  /** The model that must answer; `model_changed` when another one is loaded by then. null: any. */
  readonly modelPath: string | null;
};

export type GenerateOutcome = { readonly stopReason: AnswerEnd; readonly timings: Timings };

/** Tokens of a prompt as it would be fed, template and tools included. */
export type CountRequest = Pick<GenerateRequest, 'prompt' | 'tools' | 'modelPath'>;

export type EmbedRequest = Pick<GenerateRequest, 'id' | 'modelPath'> & {
  /** Texts or token ids. */
  readonly inputs: readonly (string | readonly number[])[];
};

export type EmbedOutcome = {
  /** One for each input, in their order, each of length 1 (L2). Fewer when it was stopped. */
  readonly vectors: readonly (readonly number[])[];
  readonly promptTokens: number;
};

export type EngineEvent =
  | { readonly type: 'status'; readonly status: EngineStatus }
  | { readonly type: 'part'; readonly generationId: string; readonly part: AnswerPart };

/** Runs one model. Methods and events hold only values that survive a structured clone, so it may move to a process of its own. */
export interface Engine {
  status(): EngineStatus;
  /** What each worker does and has done; null without a pool. A plain copy, cheap enough for a chart. */
  poolStats(): PoolStats | null;
  /** Tokens in the KV cache, of the fullest sequence; null without a model. */
  contextUsed(): number | null;
  /** Lets the pool's workers spin for 5 s, to show what that costs. @returns Unix time in ms of the end. */
  spinDemo(): Result<{ endsAt: number }>;
  /** Of the answer that ended last; null before the first. */
  lastTimings(): Timings | null;
  /** Waits for running answers, then loads. If that fails the previous model is loaded as before. */
  load(request: LoadRequest): Promise<Result<ModelInfo>>;
  /** @returns false when no load is running or waiting. */
  cancelLoad(): boolean;
  unload(): Promise<Result<void>>;
  /**
   * Begins in the order of the calls, as many at a time as there are sequences; parts arrive as events before the
   * promise settles.
   */
  generate(request: GenerateRequest): Promise<Result<GenerateOutcome>>;
  /** Does not wait for running answers, unless a model is being loaded. */
  countTokens(request: CountRequest): Promise<Result<number>>;
  /** In line with the answers, alone. `prompt_too_long` for an input beyond the context; `stop` ends it between inputs. */
  embed(request: EmbedRequest): Promise<Result<EmbedOutcome>>;
  /** Ends a generation that is queued, in prefill or in decode. @returns false when it is not known (any more). */
  stop(generationId: string): boolean;
  on(listener: (event: EngineEvent) => void): () => void;
  /** Stops everything and frees all memory. Afterwards every call answers `engine_closed`. */
  close(): Promise<void>;
}

/** The outcome of a generation that was stopped before it produced anything. */
export function nothingGenerated(queuedMs: number): GenerateOutcome {
  return {
    stopReason: 'stopped',
    timings: {
      promptTokens: 0,
      promptTokensEvaluated: 0,
      turnsDropped: 0,
      queuedMs,
      prefillMs: 0,
      timeToFirstTokenMs: null,
      predictedTokens: 0,
      predictedMs: 0,
      tokensPerSecond: null,
    },
  };
}
