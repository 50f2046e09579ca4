import type { TelemetrySample } from '../../main/contract/index.ts';

/** As the contract says. */
const demoMs = 5000;
/** The time before that is compared with. */
const beforeMs = 3000;

/** Five seconds of spinning, measured. All times are main's clock. */
export interface SpinDemo {
  readonly endsAt: number;
  readonly secondsLeft: number;
  /** CPU of the process in cores, of each sample that lies wholly before it, and wholly within. */
  readonly before: readonly number[];
  readonly during: readonly number[];
  readonly done: boolean;
}

/** What one more sample tells. Samples across an edge are of neither side. */
export function followDemo(demo: SpinDemo, { at, elapsedMs, appCores }: TelemetrySample): SpinDemo {
  if (demo.done) return demo;
  const { endsAt, before, during } = demo;
  const startsAt = endsAt - demoMs;
  const begin = at - elapsedMs;
  const secondsLeft = Math.max(0, Math.min(5, Math.ceil((endsAt - at) / 1000)));
  if (at <= startsAt) return begin < startsAt - beforeMs ? demo : { ...demo, before: [...before, appCores] };
  const within = begin >= startsAt && at <= endsAt;
  return { ...demo, secondsLeft, during: within ? [...during, appCores] : during, done: at >= endsAt };
}

/** Mean in cores; null where no sample told. */
export function meanCores(cores: readonly number[]): number | null {
  return cores.length === 0 ? null : cores.reduce((sum, value) => sum + value, 0) / cores.length;
}
