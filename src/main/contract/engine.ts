import { z } from 'zod';
import { appErrorSchema } from './errors.ts';

/** `idle` is a duration, not a state: an engine that waits is `ready`. */
export const engineStateSchema = z.enum(['empty', 'loading', 'ready', 'prefill', 'generating', 'unloading', 'failed']);
export type EngineState = z.infer<typeof engineStateSchema>;

export const modelInfoSchema = z.object({
  /** Stable, file-name based, as offered at `/v1/models`. */
  id: z.string(),
  name: z.string(),
  path: z.string(),
  builtin: z.boolean(),
  architecture: z.string(),
  quantization: z.string().nullable(),
  sizeBytes: z.number().int().nonnegative(),
  layers: z.number().int().nonnegative(),
  /** 0 for a dense model. */
  experts: z.number().int().nonnegative(),
  expertsUsed: z.number().int().nonnegative(),
  contextTrained: z.number().int().nonnegative(),
  /** Tokens that prompt and answer of one request may have together, however many are answered at a time. */
  contextSize: z.number().int().nonnegative(),
  /** Requests answered at the same time, each in a context of `contextSize`. */
  sequences: z.number().int().min(1),
  chatFormat: z.string(),
  /** Whether the chat format separates thinking from the answer. */
  thinks: z.boolean(),
});
export type ModelInfo = z.infer<typeof modelInfoSchema>;

/** Workers compute, spin for a moment after work, then block and cost nothing. */
export const sleepStepSchema = z.enum(['computing', 'spinning', 'asleep']);
export type SleepStep = z.infer<typeof sleepStepSchema>;

export const poolStatusSchema = z.object({
  /** Whether the sleeping pool computes the experts; else llama.cpp's own CPU path does, for `reason`. */
  installed: z.boolean(),
  reason: z.string().nullable(),
  /** Host and workers. */
  threads: z.number().int(),
  spinMs: z.union([z.number(), z.literal('always')]),
});
export type PoolStatus = z.infer<typeof poolStatusSchema>;

export const sleepStatusSchema = z.object({
  step: sleepStepSchema,
  /** Unix time in ms at which `step` began. */
  since: z.number(),
  /** CPU time of the whole process over the last 10 s without work, in cores; null until it was measured. */
  cores: z.number().nullable(),
});
export type SleepStatus = z.infer<typeof sleepStatusSchema>;

export const gpuBackendSchema = z.enum(['cuda', 'vulkan', 'metal']);
export type GpuBackend = z.infer<typeof gpuBackendSchema>;

/** A graphics device, as its driver tells of it. */
export const gpuDeviceSchema = z.object({
  /** Unique and short, such as `CUDA0`. */
  name: z.string(),
  description: z.string(),
  integrated: z.boolean(),
  /** null where the driver does not tell. */
  freeBytes: z.number().nullable(),
  totalBytes: z.number().nullable(),
  /** Whether models are put on it. */
  used: z.boolean(),
});
export type GpuDevice = z.infer<typeof gpuDeviceSchema>;

/** Which graphics card computes, and why this one, or why none. */
export const gpuStatusSchema = z.object({
  /** null: the CPU computes everything. */
  backend: gpuBackendSchema.nullable(),
  devices: z.array(gpuDeviceSchema),
  /** One plain sentence where a person should know more than the name; null: all is as expected. */
  reason: z.string().nullable(),
  /** What to do about it. */
  hint: z.string().nullable(),
});
export type GpuStatus = z.infer<typeof gpuStatusSchema>;

/** Bytes in one place, as measured after the load. `context` is KV cache and compute buffers. */
export const placeBytesSchema = z.object({ experts: z.number(), dense: z.number(), context: z.number() });

/** Where the loaded model is. */
export const placementStatusSchema = z.object({
  /** Name and description of the device; null: all in RAM. */
  device: z.string().nullable(),
  gpuLayers: z.number().int(),
  /** Layers of the model, and one for its output. */
  layers: z.number().int(),
  /** The experts of the first so many layers are in RAM although their layers may be on the GPU. */
  cpuMoeLayers: z.number().int(),
  /** Whether the part in RAM is the file itself, mapped. */
  mapped: z.boolean(),
  ram: placeBytesSchema,
  gpu: placeBytesSchema,
  /** Why it is so, in words for people. */
  why: z.array(z.string()),
});
export type PlacementStatus = z.infer<typeof placementStatusSchema>;

export const engineStatusSchema = z.object({
  state: engineStateSchema,
  /** Unix time in ms at which `state` began. */
  since: z.number(),
  model: modelInfoSchema.nullable(),
  /** Share of the model read while `loading`, 0..1. */
  loadProgress: z.number().min(0).max(1).nullable(),
  /** Prompt tokens evaluated so far and in total, while in `prefill`. */
  prefill: z.object({ done: z.number(), total: z.number() }).nullable(),
  /** Decode speed of the running answers together, tokens per second. */
  tokensPerSecond: z.number().nullable(),
  /** Generations that wait for their turn. */
  waiting: z.number().int().nonnegative(),
  /** null until llama.cpp was started. */
  pool: poolStatusSchema.nullable(),
  /** null while there is no pool to look at. */
  sleep: sleepStatusSchema.nullable(),
  /** null until llama.cpp was started. */
  gpu: gpuStatusSchema.nullable(),
  /** null without a model. */
  placement: placementStatusSchema.nullable(),
  /** Why the last load failed. The previous model, if any, is still loaded. */
  error: appErrorSchema.nullable(),
});
export type EngineStatus = z.infer<typeof engineStatusSchema>;

export const stopReasonSchema = z.enum(['end', 'stop_string', 'max_tokens', 'stopped', 'context_full']);
export type StopReason = z.infer<typeof stopReasonSchema>;

export const timingsSchema = z.object({
  /** Tokens of the whole prompt, template included. */
  promptTokens: z.number().int(),
  /** Tokens of it that had to be evaluated; the rest was in the KV cache. */
  promptTokensEvaluated: z.number().int(),
  /** Turns left out so that the prompt fits the context. */
  turnsDropped: z.number().int(),
  prefillMs: z.number(),
  /** From the start of prefill to the first token; null when none came. */
  timeToFirstTokenMs: z.number().nullable(),
  /** Time in the queue before prefill began. */
  queuedMs: z.number(),
  predictedTokens: z.number().int(),
  /** From the end of prefill to the last token; `tokensPerSecond` is over this time. */
  predictedMs: z.number(),
  tokensPerSecond: z.number().nullable(),
});
export type Timings = z.infer<typeof timingsSchema>;

/** Values a caller may set; what is absent comes from the flags, then from the model's own defaults. */
export const samplingSchema = z.object({
  temperature: z.number().min(0).max(5).optional(),
  topP: z.number().min(0).max(1).optional(),
  topK: z.number().int().min(0).max(1_000_000).optional(),
  minP: z.number().min(0).max(1).optional(),
  repeatPenalty: z.number().min(0.1).max(5).optional(),
  /** Taken off a token's logit for each time that the answer already has it. */
  frequencyPenalty: z.number().min(-2).max(2).optional(),
  /** Taken off a token's logit once the answer has it. */
  presencePenalty: z.number().min(-2).max(2).optional(),
  seed: z.number().int().min(0).max(4_294_967_295).optional(),
  maxTokens: z.number().int().min(1).optional(),
});
export type Sampling = z.infer<typeof samplingSchema>;
