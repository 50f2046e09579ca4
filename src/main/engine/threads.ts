import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

export type ThreadFacts = {
  /** Cores that the scheduler lets this process use. */
  readonly available: number;
  /** Physical cores fit for arithmetic; hyperthreads and efficiency cores not counted. */
  readonly mathCores: number;
  /** CPU time this process may use, in cores; null when unlimited. */
  readonly quota: number | null;
  /** Size of the model file in bytes. */
  readonly modelBytes: number;
};

/** Below this size a layer is over before a second thread has started on it. */
const oneThreadBelowBytes = 64 * 1024 * 1024;

/**
 * Threads for llama.cpp's CPU path: physical cores within affinity mask and quota, at least 1. One more thread than
 * free cores costs far more than it brings, since llama.cpp's threads wait for each other by spinning
 * (5.5 M parameter model, busy 2-core machine: 1,244 tok/s with 1 thread, 85 with 2, 2 with 4).
 */
export function autoThreads(facts: ThreadFacts): number {
  if (facts.modelBytes < oneThreadBelowBytes) return 1;
  const quota = facts.quota === null ? Number.POSITIVE_INFINITY : Math.floor(facts.quota);
  return Math.max(1, Math.min(facts.available, facts.mathCores, quota));
}

/**
 * CPU quota of this process's cgroup v2 in cores, or null.
 * @param read reads a file; injected by tests.
 */
export function cgroupQuota(read: (path: string) => string = (path) => readFileSync(path, 'utf8')): number | null {
  try {
    const own = /^0::(.*)$/m.exec(read('/proc/self/cgroup'))?.[1] ?? '/';
    let smallest: number | null = null;
    for (let folder = own; ; folder = folder.slice(0, folder.lastIndexOf('/'))) {
      const quota = quotaIn(folder === '/' ? '' : folder, read);
      if (quota !== null && (smallest === null || quota < smallest)) smallest = quota;
      if (folder === '/' || folder === '') return smallest;
    }
  } catch {
    return null;
  }
}

function quotaIn(folder: string, read: (path: string) => string): number | null {
  try {
    const [quota, period] = read(`/sys/fs/cgroup${folder}/cpu.max`).trim().split(' ').map(Number);
    return quota !== undefined && period !== undefined && quota > 0 && period > 0 ? quota / period : null;
  } catch {
    return null;
  }
}

/** @param mathCores as node-llama-cpp counts them. */
export function threadFacts(mathCores: number, modelBytes: number): ThreadFacts {
  return { available: availableParallelism(), mathCores, quota: cgroupQuota(), modelBytes };
}
