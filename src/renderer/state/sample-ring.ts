import type { TelemetrySample } from '../../main/contract/index.ts';

/** As long as the longest view. */
export const keptMs = 120_000;
/** Twice what 2 Hz gives, should main be quicker one day. */
const mostKept = 480;
/** A clock that was set back by more than this begins a new history. */
const clockJumpMs = 2000;

/** The last 120 s of samples, oldest first, each time once. */
export class SampleRing {
  #samples: TelemetrySample[] = [];

  /** @returns whether it was new. */
  push(sample: TelemetrySample): boolean {
    const last = this.#samples.at(-1);
    if (last !== undefined && sample.at <= last.at) {
      if (sample.at > last.at - clockJumpMs) return false;
      this.#samples = [];
    }
    this.#samples.push(sample);
    this.#trim();
    return true;
  }

  /** Main's own history, which may know more than what came as events, or be older: replies can be late. */
  merge(history: readonly TelemetrySample[]): void {
    const byTime = new Map([...history, ...this.#samples].map((sample) => [sample.at, sample]));
    this.#samples = [...byTime.values()].sort((one, other) => one.at - other.at);
    this.#trim();
  }

  all(): readonly TelemetrySample[] {
    return [...this.#samples];
  }

  #trim(): void {
    const end = this.#samples.at(-1)?.at ?? 0;
    const first = this.#samples.findIndex(({ at }) => at > end - keptMs);
    this.#samples.splice(0, Math.max(first, this.#samples.length - mostKept));
  }
}
