import type { TelemetrySample } from '../contract/index.ts';

/** What a chart can show: one hundredth of a core, of a worker's time, of the memory. */
const step = 0.01;
/**
 * While the engine rests, cores show others' work alone, and some of that is the browser which draws it: only a quarter of
 * a core is then worth a quicker pace.
 */
const restingCoreStep = 0.25;
/** Linux counts a core's time in ticks of 10 ms, so that a quiet core's share jumps by one of them. */
const tickMs = 10;

/**
 * Whether cores, workers or engine moved by a step that can be seen. Graphics cards are left out: their power and
 * temperature never stand still.
 */
export function movedVisibly(before: TelemetrySample, now: TelemetrySample): boolean {
  return coresMoved(before, now) || workersMoved(before, now) || memoryMoved(before, now) || engineMoved(before, now);
}

function far(a: number, b: number, by: number): boolean {
  return Math.abs(a - b) > by;
}

function coresMoved(before: TelemetrySample, now: TelemetrySample): boolean {
  const ticks = (1.5 * tickMs) / Math.max(1, Math.min(before.elapsedMs, now.elapsedMs));
  const coreStep = rests(before) && rests(now) ? restingCoreStep : Math.max(step, ticks);
  return (
    before.cores.length !== now.cores.length ||
    now.cores.some((share, index) => far(share, before.cores[index] ?? 0, coreStep)) ||
    far(before.appCores, now.appCores, step) ||
    far(before.poolCores, now.poolCores, step)
  );
}

function rests({ ladder }: TelemetrySample): boolean {
  return ladder === 'asleep' || ladder === 'light' || ladder === 'hibernated';
}

function workersMoved(before: TelemetrySample, now: TelemetrySample): boolean {
  if (before.workers.length !== now.workers.length) return true;
  return now.workers.some((worker, index) => {
    const earlier = before.workers[index];
    return (
      earlier === undefined ||
      earlier.state !== worker.state ||
      earlier.benched !== worker.benched ||
      far(earlier.busyMs / before.elapsedMs, worker.busyMs / now.elapsedMs, step) ||
      far(earlier.spinMs / before.elapsedMs, worker.spinMs / now.elapsedMs, step)
    );
  });
}

function memoryMoved({ memory: before }: TelemetrySample, { memory: now }: TelemetrySample): boolean {
  const visible = step * now.totalBytes;
  return (
    before.modelBytes !== now.modelBytes ||
    far(before.rssBytes, now.rssBytes, visible) ||
    far(before.availableBytes, now.availableBytes, visible)
  );
}

function engineMoved(before: TelemetrySample, now: TelemetrySample): boolean {
  const [a, b] = [before.engine, now.engine];
  const speedMoved = (was: number | null, is: number | null) =>
    was === null || is === null ? was !== is : far(was, is, step * Math.max(was, is));
  return (
    before.ladder !== now.ladder ||
    a.state !== b.state ||
    a.contextUsed !== b.contextUsed ||
    a.contextSize !== b.contextSize ||
    a.timeToFirstTokenMs !== b.timeToFirstTokenMs ||
    speedMoved(a.tokensPerSecond, b.tokensPerSecond) ||
    speedMoved(a.promptTokensPerSecond, b.promptTokensPerSecond)
  );
}
