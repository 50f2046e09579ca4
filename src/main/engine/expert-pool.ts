import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { PoolMiddleware } from './pool-middleware.ts';

/** A worker is busy with a chunk, waits at full speed, or is blocked and costs nothing. */
export type PoolWorkerState = 'computing' | 'spinning' | 'asleep';

/** Times in milliseconds since the pool was made. */
export type PoolWorkerStats = {
  /** As in the thread's name, from 1; the host thread is not listed. */
  readonly id: number;
  readonly state: PoolWorkerState;
  /** Taken out by the governor, because others need its core. */
  readonly benched: boolean;
  readonly busyMs: number;
  readonly spinMs: number;
  readonly asleepMs: number;
  /** CPU time as the system counts it. */
  readonly cpuMs: number;
  readonly wakes: number;
  /** Chunks computed. */
  readonly jobs: number;
};

export type PoolStats = {
  readonly epoch: number;
  /** Chunks computed by host and workers. */
  readonly jobs: number;
  readonly sleepers: number;
  readonly wakes: number;
  /** Host and workers. */
  readonly threads: number;
  readonly spinMs: SpinBudget;
  /** Host time inside epochs, and the part of it spent waiting for workers. */
  readonly hostMs: number;
  readonly hostWaitMs: number;
  readonly governor: {
    readonly benched: number;
    /** Rehearsals of benched workers. */
    readonly probes: number;
    /** Host time lost to workers whose core was taken away. */
    readonly lostMs: number;
    /** The budget in force: shorter than the configured one while the machine is oversubscribed. */
    readonly spinMs: SpinBudget;
  };
  readonly workers: readonly PoolWorkerStats[];
};

/** Milliseconds of spinning before a worker sleeps, 0 to 1,000,000; `always` never sleeps. */
export type SpinBudget = number | 'always';

export type PoolSettings = {
  /** Host and workers, 0 to 1,024; 0 or none: physical cores within affinity mask and quota. */
  readonly threads?: number;
  /** Default 20. */
  readonly spinMs?: SpinBudget;
  /** Default `auto`: one thread per core. */
  readonly affinity?: 'off' | 'auto' | 'p-cores';
};

export type SelfTestRequest = {
  /** Default 1. The test ends after ten seconds whatever is asked for. */
  readonly runs?: number;
  /** Per run, 0 to 65,535; default 16. */
  readonly chunks?: number;
  /** Default 20. */
  readonly chunkMicroseconds?: number;
};

export type SelfTestOutcome = {
  readonly status: 'completed' | 'stopped' | 'stalled' | 'nested' | 'too-many-chunks';
  readonly ms: number;
  /** Each worker's state, when no chunk finished for a minute. */
  readonly diagnosis?: string;
};

/** One pool. Methods throw after `destroy()`. */
export type ExpertPool = {
  configure(settings: Pick<PoolSettings, 'spinMs'>): void;
  /** A plain copy; never waits for a run. */
  stats(): PoolStats;
  /** Spinning workers go to sleep at once. */
  park(): void;
  /** Resolves to true when no worker is inside a chunk, to false if that takes more than a minute. */
  quiesce(): Promise<boolean>;
  /** Has the pool compute chunks of pure spinning: for tests, and to show it at work. */
  selfTest(request?: SelfTestRequest): Promise<SelfTestOutcome>;
  /** Ends the threads. */
  destroy(): void;
};

export type MachineTopology = {
  /** Within the affinity mask of this process. */
  readonly logicalCores: number;
  readonly physicalCores: number;
  readonly performanceCores: number;
  /** CPU time granted by the control group, in cores; null when unlimited. */
  readonly quotaCores: number | null;
  readonly autoThreads: number;
};

const middlewareFunctions = [
  'install',
  'configure',
  'uninstall',
  'stats',
  'requestStop',
  'clearStop',
  'devices',
  'place',
];

type Addon = PoolMiddleware & {
  readonly Pool: new (settings: PoolSettings) => ExpertPool;
  readonly topology: () => MachineTopology;
  readonly llamaRelease: string;
};

export type ExpertPoolAddon = {
  /** @throws TypeError when a setting is out of its range. */
  createPool(settings?: PoolSettings): ExpertPool;
  topology(): MachineTopology;
  /** The llama.cpp release whose headers the addon was compiled with, such as `v0.4.0`. */
  readonly llamaRelease: string;
};

export type AddonFailure = {
  readonly code: 'pool_not_built' | 'pool_not_loadable' | 'pool_outdated';
  readonly message: string;
  readonly hint: string;
};

export type AddonOutcome =
  | { readonly ok: true; readonly addon: ExpertPoolAddon; readonly middleware: PoolMiddleware }
  | { readonly ok: false; readonly error: AddonFailure };

/** @param root the folder that holds package.json and build. */
export function addonPath(root: string): string {
  return join(root, 'build', 'native', 'release', 'dormouse.node');
}

/**
 * Loads the native core. That it is missing is an expected failure: the app then computes on llama.cpp's own threads.
 * @param path see `addonPath`.
 */
export function loadExpertPoolAddon(path: string, platform: NodeJS.Platform = process.platform): AddonOutcome {
  if (!existsSync(path)) {
    return failure('pool_not_built', 'The expert pool is not built.', `${whatToInstall(platform)}, then start again.`);
  }
  let loaded: unknown;
  try {
    loaded = createRequire(import.meta.url)(path);
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
    return failure(
      'pool_not_loadable',
      `The expert pool could not be loaded: ${reason}`,
      'Delete the folder build/native and start again; it is then built anew for this system.',
    );
  }
  if (!isAddon(loaded)) {
    return failure(
      'pool_outdated',
      'The expert pool is of another version.',
      'Delete the folder build/native and start again.',
    );
  }
  const { Pool, topology, llamaRelease } = loaded;
  return {
    ok: true,
    middleware: loaded,
    addon: { createPool: (settings = {}) => new Pool(settings), topology, llamaRelease },
  };
}

function failure(code: AddonFailure['code'], message: string, hint: string): AddonOutcome {
  return { ok: false, error: { code, message, hint } };
}

function whatToInstall(platform: NodeJS.Platform): string {
  switch (platform) {
    case 'darwin':
      return 'Install the command line tools (xcode-select --install) and CMake';
    case 'win32':
      return 'Install Visual Studio Build Tools with C++ and CMake';
    default:
      return 'Install CMake and a C++ compiler (on Debian and Ubuntu: apt-get install cmake g++ make git)';
  }
}

function isAddon(value: unknown): value is Addon {
  return (
    typeof value === 'object' &&
    value !== null &&
    'Pool' in value &&
    typeof value.Pool === 'function' &&
    'topology' in value &&
    typeof value.topology === 'function' &&
    'llamaRelease' in value &&
    typeof value.llamaRelease === 'string' &&
    middlewareFunctions.every((name) => name in value && typeof value[name as keyof typeof value] === 'function')
  );
}
