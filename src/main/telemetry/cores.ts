import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';

/** Time of one core since the start of the system, in a unit that cancels out. */
export type CoreTimes = { readonly busy: number; readonly total: number };

/** @returns one entry per logical core, in the system's order; none where the system does not tell. */
export type CoreReader = () => readonly CoreTimes[];

/** The cores as this system tells them. On Linux from its own file, since Node's count leaves out part of the time. */
export function coreReader(platform: NodeJS.Platform = process.platform, path = '/proc/stat'): CoreReader {
  return platform === 'linux' ? () => parseProcStat(readFileSync(path, 'utf8')) : readOsCores;
}

/** Lines like `cpu0 user nice system idle iowait irq softirq steal guest guest_nice`; guests are part of user. */
export function parseProcStat(text: string): CoreTimes[] {
  return [...text.matchAll(/^cpu\d+ (.*)$/gm)].map(([, figures = '']) => {
    const times = figures.trim().split(/\s+/).slice(0, 8).map(Number);
    const total = times.reduce((sum, time) => sum + time, 0);
    return { busy: total - (times[3] ?? 0) - (times[4] ?? 0), total };
  });
}

function readOsCores(): CoreTimes[] {
  return cpus().map(({ times }) => {
    const busy = times.user + times.nice + times.sys + times.irq;
    return { busy, total: busy + times.idle };
  });
}

/** Busy shares between two looks. */
export class CoreSampler {
  readonly #read: CoreReader;
  #before: readonly CoreTimes[] = [];

  constructor(read: CoreReader) {
    this.#read = read;
  }

  /** @returns the share 0..1 of each core since the call before; 0 for cores that were not there then. */
  sample(): number[] {
    const now = readOrNothing(this.#read);
    const before = this.#before;
    this.#before = now;
    // A core that came or went moves all behind it.
    if (before.length !== now.length) return now.map(() => 0);
    return now.map(({ busy, total }, index) => {
      const earlier = before[index] ?? { busy, total };
      const span = total - earlier.total;
      // Waiting for a disk is counted loosely and may go backwards.
      return span <= 0 ? 0 : Math.min(1, Math.max(0, (busy - earlier.busy) / span));
    });
  }
}

function readOrNothing(read: CoreReader): readonly CoreTimes[] {
  try {
    return read();
  } catch {
    return [];
  }
}
