import type { RequestMark, TelemetrySample } from '../../../main/contract/index.ts';
import { toCsv, type CsvValue } from '../../lib/csv.ts';

/** One row for each sample; times in UTC, shares 0..1, sizes in bytes. Cores and workers get columns of their own. */
export function samplesCsv(samples: readonly TelemetrySample[]): string {
  const most = (count: (sample: TelemetrySample) => number) => Math.max(0, ...samples.map(count));
  const cores = range(most((sample) => sample.cores.length));
  const gpus = range(most((sample) => sample.gpus.length));
  const workers = range(most((sample) => sample.workers.length));
  const header = [
    ...['time', 'elapsed_ms', 'step', 'engine', 'app_cores', 'pool_cores', 'cores_last_10s'],
    ...['tokens_per_second', 'prompt_tokens_per_second', 'time_to_first_token_ms', 'context_used', 'context_size'],
    ...['rss_bytes', 'model_bytes', 'available_bytes', 'total_bytes'],
    ...gpus.flatMap((at) => gpuFields.map((field) => `gpu${at}_${field}`)),
    ...cores.map((at) => `core${at}`),
    ...workers.flatMap((at) => workerFields.map((field) => `worker${at}_${field}`)),
  ];
  return toCsv(
    header,
    samples.map((sample) => [
      ...plainCells(sample),
      ...gpus.flatMap((at) => gpuCells(sample, at)),
      ...cores.map((at) => sample.cores[at] ?? null),
      ...workers.flatMap((at) => workerCells(sample, at)),
    ]),
  );
}

/** Everything as main sent it, request marks too. */
export function samplesJson(samples: readonly TelemetrySample[], marks: readonly RequestMark[]): string {
  return JSON.stringify({ samples, marks }, null, 1);
}

const gpuFields = ['name', 'utilization', 'memory_used_bytes', 'memory_total_bytes', 'power_watts', 'celsius'] as const;
const workerFields = ['id', 'state', 'benched', 'busy_ms', 'spin_ms', 'asleep_ms', 'cpu_ms', 'wakes'] as const;

function plainCells({ at, elapsedMs, ladder, engine, memory, ...sample }: TelemetrySample): readonly CsvValue[] {
  return [
    ...[new Date(at).toISOString(), elapsedMs, ladder, engine.state],
    ...[sample.appCores, sample.poolCores, sample.coresLast10s],
    ...[engine.tokensPerSecond, engine.promptTokensPerSecond, engine.timeToFirstTokenMs],
    ...[engine.contextUsed, engine.contextSize],
    ...[memory.rssBytes, memory.modelBytes, memory.availableBytes, memory.totalBytes],
  ];
}

function gpuCells({ gpus }: TelemetrySample, at: number): readonly CsvValue[] {
  const gpu = gpus[at];
  if (gpu === undefined) return gpuFields.map(() => null);
  const { name, utilization, memoryUsedBytes, memoryTotalBytes, powerWatts, temperatureCelsius } = gpu;
  return [name, utilization, memoryUsedBytes, memoryTotalBytes, powerWatts, temperatureCelsius];
}

function workerCells({ workers }: TelemetrySample, at: number): readonly CsvValue[] {
  const worker = workers[at];
  if (worker === undefined) return workerFields.map(() => null);
  const { id, state, benched, busyMs, spinMs, asleepMs, cpuMs, wakes } = worker;
  return [id, state, benched, busyMs, spinMs, asleepMs, cpuMs, wakes];
}

function range(count: number): readonly number[] {
  return Array.from({ length: count }, (_, at) => at);
}
