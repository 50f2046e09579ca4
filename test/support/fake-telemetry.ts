import type {
  LadderStatus,
  PoolStatus,
  RequestMark,
  TelemetrySample,
  WorkerSample,
} from '../../src/main/contract/index.ts';

type Values = Partial<Omit<TelemetrySample, 'engine'>> & { readonly engine?: Partial<TelemetrySample['engine']> };

const gigabyte = 2 ** 30;

/** One sample of an engine at rest, on a machine with two quiet cores and no GPU. */
export function sampleAt(at: number, { engine, ...values }: Values = {}): TelemetrySample {
  return {
    at,
    elapsedMs: 500,
    cores: [0.02, 0.01],
    appCores: 0,
    poolCores: 0,
    coresLast10s: 0,
    memory: {
      rssBytes: 0.4 * gigabyte,
      modelBytes: 6 * 2 ** 20,
      availableBytes: 20 * gigabyte,
      totalBytes: 32 * gigabyte,
    },
    gpus: [],
    workers: [],
    ladder: 'asleep',
    ...values,
    engine: {
      state: 'ready',
      tokensPerSecond: null,
      promptTokensPerSecond: null,
      timeToFirstTokenMs: null,
      contextUsed: 0,
      contextSize: 8192,
      ...engine,
    },
  };
}

/** A thread over 500 ms: what is neither busy nor spinning is sleep. */
export function workerOver(
  id: number,
  busyMs: number,
  spinMs: number,
  values: Partial<WorkerSample> = {},
): WorkerSample {
  const asleepMs = 500 - busyMs - spinMs;
  const state = asleepMs > 0 ? 'asleep' : spinMs > busyMs ? 'spinning' : 'computing';
  return { id, state, benched: false, busyMs, spinMs, asleepMs, cpuMs: busyMs + spinMs, wakes: 1, ...values };
}

export interface Scene {
  readonly cores: number;
  readonly threads: number;
  readonly gpu: boolean;
}

/**
 * A minute and a half as a person might see it, at 2 Hz: rest, an answer, rest, a longer answer. The values wobble, but
 * the same way every time.
 * @param step the number of the sample since the scene began.
 */
export function sceneSample(start: number, step: number, { cores, threads, gpu }: Scene): TelemetrySample {
  const phase = step % 180;
  const busy = (phase > 40 && phase < 70) || (phase > 100 && phase < 150);
  const falling = phase === 70 || phase === 150;
  const wobble = (seed: number) => Math.abs(Math.sin(seed * 12.9898 + step * 78.233) * 43758.5453) % 1;
  const workers = Array.from({ length: threads }, (_, id) =>
    busy
      ? workerOver(id, 380 + 60 * wobble(id), 40 + 20 * wobble(id + 9), { state: 'computing', wakes: 3 })
      : falling
        ? workerOver(id, 90, 20)
        : workerOver(id, 0, 0, { wakes: 0 }),
  );
  const poolCores = workers.reduce((sum, { cpuMs }) => sum + cpuMs, 0) / 500;
  return sampleAt(start + step * 500, {
    cores: Array.from({ length: cores }, (_, at) =>
      busy && at < threads ? 0.82 + 0.15 * wobble(at) : 0.02 + 0.05 * wobble(at),
    ),
    appCores: busy ? poolCores + 0.2 : poolCores,
    poolCores,
    coresLast10s: busy ? poolCores + 0.1 : phase > 90 || phase < 40 ? 0 : 0.4,
    workers,
    ladder: busy ? 'computing' : 'asleep',
    gpus: gpu
      ? [
          {
            name: 'GeForce RTX 3090',
            utilization: busy ? 0.5 + 0.1 * wobble(1) : 0,
            memoryUsedBytes: 6.1 * gigabyte,
            memoryTotalBytes: 24 * gigabyte,
            powerWatts: busy ? 190 : 22,
            temperatureCelsius: busy ? 54 : 41,
          },
        ]
      : [],
    engine: {
      state: busy ? 'generating' : 'ready',
      tokensPerSecond: busy ? 40 + 3 * wobble(5) : null,
      timeToFirstTokenMs: 210,
      contextUsed: 1834,
    },
  });
}

/** Requests of the scene above. */
export function sceneMarks(start: number) {
  return [
    { id: 'r1', source: 'chat' as const, startedAt: start + 40 * 500, endedAt: start + 70 * 500 },
    { id: 'r2', source: 'api' as const, startedAt: start + 100 * 500, endedAt: start + 150 * 500 },
  ];
}

export function scene(start: number, count: number, what: Scene): TelemetrySample[] {
  return Array.from({ length: count }, (_, step) => sceneSample(start, step, what));
}

/** What the page below plays main's part of telemetry with. */
export interface FakeTelemetry {
  readonly samples: readonly TelemetrySample[];
  readonly marks?: readonly RequestMark[];
  readonly ladder?: Partial<LadderStatus>;
  readonly gpuReason?: string | null;
  readonly pool?: PoolStatus;
}

/** Runs in the page after `injectMain`, and before the page itself: so it can use nothing from outside. */
export function injectTelemetry({ samples, marks = [], ladder = {}, gpuReason = null, pool }: FakeTelemetry): void {
  const { replies } = window.fakeMain;
  const status = replies['engine.status'];
  const calls: Record<string, number> = {};
  const count = (name: string) => (calls[name] = (calls[name] ?? 0) + 1);
  window.telemetryCalls = calls;
  replies['engine.status'] = (input) => ({
    ...(status?.(input) as object),
    pool: pool ?? { installed: true, reason: null, threads: 2, spinMs: 20 },
    sleep: { step: 'asleep', since: 0, cores: 0 },
  });
  replies['telemetry.watch'] = () => {
    count('watch');
    const step = { step: 'asleep', since: 0, wokeInMs: null, idleUnloadMinutes: 30, ...ladder };
    return { samples, marks, ladder: step, gpuReason, leaseMs: 15_000 };
  };
  replies['telemetry.unwatch'] = () => {
    count('unwatch');
    return {};
  };
  replies['telemetry.spinDemo'] = () => ({ endsAt: (samples.at(-1)?.at ?? 0) + 5000 });
}

declare global {
  interface Window {
    telemetryCalls: Record<string, number>;
  }
}
