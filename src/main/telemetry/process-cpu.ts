/** Time over which `lastCores` looks back, in ms. */
const window = 10_000;

/** CPU of this process between two looks, and over the last 10 s. */
export class ProcessCpu {
  readonly #cpuTime: () => number;
  /** Oldest first. `at` is monotonic, `cpu` in ms. */
  readonly #readings: { readonly at: number; readonly cpu: number }[] = [];

  /** @param cpuTime of the whole process so far, in ms. */
  constructor(cpuTime: () => number) {
    this.#cpuTime = cpuTime;
  }

  /**
   * @param at monotonic time in ms.
   * @returns CPU in cores since the call before (0 at the first), and over the last 10 s: null until looks go back so far.
   */
  sample(at: number): { readonly cores: number; readonly coresLast10s: number | null } {
    const readings = this.#readings;
    const cpu = this.#cpuTime();
    const before = readings.at(-1);
    readings.push({ at, cpu });
    // The newest one that is at least 10 s old stays first.
    while ((readings[1]?.at ?? Number.POSITIVE_INFINITY) <= at - window) readings.shift();
    const first = readings[0];
    return {
      cores: before === undefined ? 0 : rate(before, { at, cpu }),
      coresLast10s: first === undefined || first.at > at - window ? null : rate(first, { at, cpu }),
    };
  }

  /** Forgets all looks: what was between them and now is not known. */
  clear(): void {
    this.#readings.length = 0;
  }
}

function rate(from: { at: number; cpu: number }, to: { at: number; cpu: number }): number {
  return Math.max(0, to.cpu - from.cpu) / Math.max(1, to.at - from.at);
}

/** CPU time of this process so far, in ms. */
export function processCpuTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
