import { Emitter, type Clock } from '../base/index.ts';
import type { LadderStep, TelemetrySample } from '../contract/index.ts';
import { CoreSampler, type CoreReader } from './cores.ts';
import type { GpuSource } from './gpu.ts';
import type { MemoryReader } from './memory.ts';
import { ProcessCpu } from './process-cpu.ts';
import { movedVisibly } from './visible-change.ts';
import { WorkerSampler, type WorkerTotals } from './workers.ts';

/** Whoever watches asks again within this time, in ms. */
export const leaseMs = 15_000;
/** Time between samples while something changes, and while nothing does, in ms. */
const fastMs = 500;
const slowMs = 2000;
/** Samples without a change until the slow pace. */
const calmSamples = 4;
/** Samples are kept for this long, in ms. */
const keptMs = 120_000;
const restingCards =
  'Graphics cards are left alone while the engine rests, so that they can sleep too. The next request brings their figures back.';

/** The engine at this moment. */
export type EngineReading = {
  readonly engine: TelemetrySample['engine'];
  readonly ladder: LadderStep;
  /** Bytes of the mapped model file; null without a model. */
  readonly modelBytes: number | null;
  readonly workers: readonly WorkerTotals[];
};

export type SamplerDependencies = {
  readonly clock: Clock;
  readonly cores: CoreReader;
  /** CPU time of the process so far, in ms. */
  readonly cpuTime: () => number;
  readonly memory: MemoryReader;
  readonly gpus: GpuSource;
  readonly engine: () => EngineReading;
};

/**
 * Takes samples while somebody watches: twice a second, every other second while nothing moves, and without any timer
 * when nobody does. All who watch share one lease and one row of samples.
 */
export class Sampler {
  readonly #deps: SamplerDependencies;
  readonly #events = new Emitter<TelemetrySample>();
  readonly #cores: CoreSampler;
  readonly #cpu: ProcessCpu;
  readonly #workers = new WorkerSampler();
  #samples: TelemetrySample[] = [];
  /** The sample against which change is measured, so that a slow drift is one as well. */
  #reference: TelemetrySample | null = null;
  #calm = 0;
  /** Monotonic times; the lease's end is null while nobody watches. */
  #leaseEnds: number | null = null;
  #lookedAt = 0;
  #cardsRest = false;
  #cancel: () => void = () => undefined;

  constructor(deps: SamplerDependencies) {
    this.#deps = deps;
    this.#cores = new CoreSampler(deps.cores);
    this.#cpu = new ProcessCpu(deps.cpuTime);
  }

  on(listener: (sample: TelemetrySample) => void): () => void {
    return this.#events.on(listener);
  }

  get watched(): boolean {
    return this.#leaseEnds !== null;
  }

  /** Up to 120 s, oldest first. */
  get samples(): readonly TelemetrySample[] {
    const oldest = this.#deps.clock.now() - keptMs;
    return this.#samples.filter(({ at }) => at >= oldest);
  }

  get gpuReason(): string | null {
    return this.#cardsRest ? restingCards : this.#deps.gpus.reason;
  }

  /** Watches from now on, or for another lease. */
  watch(): void {
    const begins = this.#leaseEnds === null;
    const now = this.#deps.clock.elapsed();
    this.#leaseEnds = now + leaseMs;
    if (!begins) return;
    // The first sample is over the time from here, not from the last lease.
    const { workers, ladder } = this.#deps.engine();
    this.#cores.sample();
    this.#workers.sample(workers);
    this.#cpu.clear();
    this.#cpu.sample(now);
    this.#lookedAt = now;
    [this.#reference, this.#calm] = [null, 0];
    this.#careForCards(ladder, true);
    this.#next(fastMs);
  }

  /** Ends the lease: no timer and no child process stays. */
  unwatch(): void {
    if (this.#leaseEnds === null) return;
    this.#leaseEnds = null;
    this.#cancel();
    this.#deps.gpus.stop();
    this.#cardsRest = false;
  }

  /** Something has happened: the fast pace again, at once. */
  nudge(): void {
    const slow = this.#calm >= calmSamples;
    this.#calm = 0;
    if (this.#leaseEnds === null || !slow) return;
    this.#next(Math.max(0, this.#lookedAt + fastMs - this.#deps.clock.elapsed()));
  }

  #next(ms: number): void {
    this.#cancel();
    this.#cancel = this.#deps.clock.after(ms, () => this.#look());
  }

  #look(): void {
    const now = this.#deps.clock.elapsed();
    if (this.#leaseEnds === null || now >= this.#leaseEnds) return this.unwatch();
    const sample = this.#sample(now);
    this.#keep(sample);
    const moved = this.#reference === null || movedVisibly(this.#reference, sample);
    if (moved) this.#reference = sample;
    this.#calm = moved ? 0 : this.#calm + 1;
    this.#next(this.#calm >= calmSamples ? slowMs : fastMs);
    this.#events.emit(sample);
  }

  #sample(now: number): TelemetrySample {
    const { clock, memory, gpus, engine: look } = this.#deps;
    const { engine, ladder, modelBytes, workers: totals } = look();
    this.#careForCards(ladder, false);
    const elapsedMs = Math.max(1, now - this.#lookedAt);
    this.#lookedAt = now;
    const { cores, coresLast10s } = this.#cpu.sample(now);
    const workers = this.#workers.sample(totals);
    const poolMs = workers.reduce((sum, { cpuMs }) => sum + cpuMs, 0);
    return {
      at: clock.now(),
      elapsedMs: round(elapsedMs, 1),
      cores: this.#cores.sample().map((share) => round(share, 4)),
      appCores: round(cores, 4),
      poolCores: round(poolMs / elapsedMs, 4),
      coresLast10s: coresLast10s === null ? null : round(coresLast10s, 4),
      memory: { ...memory(), modelBytes },
      gpus: gpus.read().map((card) => ({ ...card })),
      workers: workers.map((worker) => ({
        ...worker,
        busyMs: round(worker.busyMs, 2),
        spinMs: round(worker.spinMs, 2),
        asleepMs: round(worker.asleepMs, 2),
        cpuMs: round(worker.cpuMs, 2),
      })),
      engine,
      ladder,
    };
  }

  #keep(sample: TelemetrySample): void {
    this.#samples = [...this.samples, sample];
  }

  /** An open driver keeps a laptop's card awake: it is asked only while the engine does not rest. */
  #careForCards(ladder: LadderStep, begins: boolean): void {
    const rest = ladder === 'light' || ladder === 'hibernated';
    if (!begins && rest === this.#cardsRest) return;
    this.#cardsRest = rest;
    if (rest) this.#deps.gpus.stop();
    else this.#deps.gpus.start();
  }
}

function round(value: number, digits: number): number {
  const scale = 10 ** digits;
  return Math.round(value * scale) / scale;
}
