import type { WorkerSample } from '../contract/index.ts';

/** What one pool thread has done since it was made: as `WorkerSample`, but sums. */
export type WorkerTotals = WorkerSample;

/** Times and wakes of the pool's threads between two looks. */
export class WorkerSampler {
  #before = new Map<number, WorkerTotals>();

  /** @returns what was added since the call before; at the first call everything so far. */
  sample(totals: readonly WorkerTotals[]): WorkerSample[] {
    const before = this.#before;
    this.#before = new Map(totals.map((worker) => [worker.id, worker]));
    return totals.map((worker) => {
      const earlier = before.get(worker.id);
      // Sums that shrank belong to a new pool: all it did is new.
      return earlier === undefined || isAnother(earlier, worker) ? worker : difference(earlier, worker);
    });
  }
}

function lifeOf({ busyMs, spinMs, asleepMs }: WorkerTotals): number {
  return busyMs + spinMs + asleepMs;
}

function isAnother(earlier: WorkerTotals, worker: WorkerTotals): boolean {
  return lifeOf(worker) < lifeOf(earlier) || worker.wakes < earlier.wakes;
}

function difference(earlier: WorkerTotals, worker: WorkerTotals): WorkerSample {
  return {
    ...worker,
    busyMs: Math.max(0, worker.busyMs - earlier.busyMs),
    spinMs: Math.max(0, worker.spinMs - earlier.spinMs),
    asleepMs: Math.max(0, worker.asleepMs - earlier.asleepMs),
    cpuMs: Math.max(0, worker.cpuMs - earlier.cpuMs),
    wakes: worker.wakes - earlier.wakes,
  };
}
