import { z } from 'zod';
import { engineStateSchema, sleepStepSchema } from './engine.ts';

/** Steps of the sleep ladder, from most to least awake. `waking` is a hibernated engine that loads its model again. */
export const ladderStepSchema = z.enum(['computing', 'spinning', 'asleep', 'light', 'hibernated', 'waking']);
export type LadderStep = z.infer<typeof ladderStepSchema>;

export const ladderStatusSchema = z.object({
  step: ladderStepSchema,
  /** Unix time in ms at which `step` began. */
  since: z.number(),
  /** How long the last wake from hibernation took, in ms; null before the first. */
  wokeInMs: z.number().nullable(),
  /** Minutes without a request until hibernation; null when it is off. */
  idleUnloadMinutes: z.number().nullable(),
});
export type LadderStatus = z.infer<typeof ladderStatusSchema>;

/** One pool thread over the time since the sample before: the three times add up to about that time. */
export const workerSampleSchema = z.object({
  id: z.number().int(),
  /** What it does at this moment. */
  state: sleepStepSchema,
  /** Left out of work for now, because the machine is crowded. */
  benched: z.boolean(),
  busyMs: z.number(),
  spinMs: z.number(),
  asleepMs: z.number(),
  /** CPU time by the thread's own clock. */
  cpuMs: z.number(),
  /** Times it was woken since the sample before. */
  wakes: z.number().int(),
});
export type WorkerSample = z.infer<typeof workerSampleSchema>;

export const gpuSampleSchema = z.object({
  name: z.string(),
  /** 0..1; null where the driver does not tell. The same for the others. */
  utilization: z.number().nullable(),
  memoryUsedBytes: z.number().nullable(),
  memoryTotalBytes: z.number().nullable(),
  powerWatts: z.number().nullable(),
  temperatureCelsius: z.number().nullable(),
});
export type GpuSample = z.infer<typeof gpuSampleSchema>;

export const telemetrySampleSchema = z.object({
  /** Unix time in ms. */
  at: z.number(),
  /** Since the sample before, in ms; rates are over this time. */
  elapsedMs: z.number(),
  /** Busy share 0..1 of each logical core, by everybody's work. Empty where the system does not tell. */
  cores: z.array(z.number()),
  /** CPU of Dormouse's process, in cores. */
  appCores: z.number(),
  /** The part of it that pool threads used, by their own clocks. */
  poolCores: z.number(),
  /** CPU of the process over the last 10 s, in cores; null until sampling has gone on for that long. */
  coresLast10s: z.number().nullable(),
  memory: z.object({
    rssBytes: z.number(),
    /** The model's file, mapped and shared with the system's cache; null without a model. */
    modelBytes: z.number().nullable(),
    availableBytes: z.number(),
    totalBytes: z.number(),
  }),
  gpus: z.array(gpuSampleSchema),
  workers: z.array(workerSampleSchema),
  engine: z.object({
    state: engineStateSchema,
    /** Decode speed now; null while no answer is written. */
    tokensPerSecond: z.number().nullable(),
    /** Prompt speed now; null while no prompt is read. */
    promptTokensPerSecond: z.number().nullable(),
    /** Of the last answer, in ms. */
    timeToFirstTokenMs: z.number().nullable(),
    /** Tokens in the KV cache, and how many fit; null without a model. */
    contextUsed: z.number().nullable(),
    contextSize: z.number().nullable(),
  }),
  ladder: ladderStepSchema,
});
export type TelemetrySample = z.infer<typeof telemetrySampleSchema>;

/** One request to the engine, for the time axis. Never any text. */
export const requestMarkSchema = z.object({
  id: z.string(),
  /** A chat of the page, or a program through the API. */
  source: z.enum(['chat', 'api']),
  startedAt: z.number(),
  /** null while it runs. */
  endedAt: z.number().nullable(),
});
export type RequestMark = z.infer<typeof requestMarkSchema>;

export const telemetryHistorySchema = z.object({
  /** Up to 120 s, oldest first, if somebody watched. */
  samples: z.array(telemetrySampleSchema),
  marks: z.array(requestMarkSchema),
  ladder: ladderStatusSchema,
  /** Why there is no GPU to show, as a sentence; null when there is one or it is not known yet. */
  gpuReason: z.string().nullable(),
  /** After this time without another `telemetry.watch` sampling ends, in ms. */
  leaseMs: z.number(),
});
export type TelemetryHistory = z.infer<typeof telemetryHistorySchema>;
