import { Emitter, type Clock, type Logger } from '../base/index.ts';
import type { EngineStatus, RequestMark, Result, TelemetryHistory } from '../contract/index.ts';
import type { Engine } from '../engine/index.ts';
import {
  leaseMs,
  Sampler,
  type EngineReading,
  type RequestMarks,
  type SamplerDependencies,
} from '../telemetry/index.ts';
import type { LadderService, TelemetryEvent, TelemetryService } from './interfaces.ts';

export type EngineTelemetryDependencies = {
  readonly engine: Pick<Engine, 'status' | 'poolStats' | 'lastTimings' | 'contextUsed' | 'spinDemo' | 'on'>;
  readonly ladder: Pick<LadderService, 'status' | 'on'>;
  readonly marks: RequestMarks;
  /** Whether the model's file is mapped into memory instead of copied. */
  readonly mapped: boolean;
  readonly machine: Omit<SamplerDependencies, 'engine' | 'clock'>;
  readonly clock: Clock;
  readonly logger: Logger;
};

/** Samples of machine and engine for the pages that watch. */
export class EngineTelemetry implements TelemetryService {
  readonly #deps: EngineTelemetryDependencies;
  readonly #sampler: Sampler;
  readonly #events: Emitter<TelemetryEvent>;
  readonly #off: readonly (() => void)[];
  /** Told with the next sample, in which they are drawn: a program may send many requests a second. */
  readonly #newMarks = new Map<string, RequestMark>();

  constructor(deps: EngineTelemetryDependencies) {
    const { engine, ladder, marks, machine, clock, logger } = deps;
    this.#deps = deps;
    this.#events = new Emitter((error) => logger.error('telemetry listener failed', { error: String(error) }));
    this.#sampler = new Sampler({ ...machine, clock, engine: () => this.#readEngine() });
    const nudge = () => this.#sampler.nudge();
    this.#off = [
      this.#sampler.on((sample) => {
        this.#tellMarks();
        this.#events.emit({ type: 'telemetry.sample', sample });
      }),
      marks.on((mark) => {
        if (this.#sampler.watched) this.#newMarks.set(mark.id, mark);
      }),
      engine.on((event) => {
        if (event.type === 'status') nudge();
      }),
      ladder.on(nudge),
    ];
  }

  on(listener: (event: TelemetryEvent) => void): () => void {
    return this.#events.on(listener);
  }

  watch(): TelemetryHistory {
    this.#sampler.watch();
    return {
      samples: [...this.#sampler.samples],
      marks: [...this.#deps.marks.all],
      ladder: this.#deps.ladder.status(),
      gpuReason: this.#sampler.gpuReason,
      leaseMs,
    };
  }

  unwatch(pages: number): void {
    if (pages <= 1) this.#sampler.unwatch();
  }

  spinDemo(): Result<{ endsAt: number }> {
    const result = this.#deps.engine.spinDemo();
    this.#sampler.nudge();
    return result;
  }

  close(): void {
    this.#sampler.unwatch();
    for (const off of this.#off) off();
  }

  #tellMarks(): void {
    for (const mark of this.#newMarks.values()) this.#events.emit({ type: 'telemetry.mark', mark });
    this.#newMarks.clear();
  }

  #readEngine(): EngineReading {
    const { engine, ladder, mapped, clock } = this.#deps;
    const status = engine.status();
    const { state, model, tokensPerSecond } = status;
    return {
      engine: {
        state,
        tokensPerSecond,
        promptTokensPerSecond: promptSpeed(status, clock.now()),
        timeToFirstTokenMs: engine.lastTimings()?.timeToFirstTokenMs ?? null,
        contextUsed: engine.contextUsed(),
        contextSize: model?.contextSize ?? null,
      },
      ladder: ladder.status().step,
      modelBytes: mapped ? (model?.sizeBytes ?? null) : null,
      workers: (engine.poolStats()?.workers ?? []).map(
        ({ id, state: doing, benched, busyMs, spinMs, asleepMs, cpuMs, wakes }) => ({
          ...{ id, state: doing, benched, busyMs, spinMs, asleepMs, cpuMs, wakes },
        }),
      ),
    };
  }
}

/** Over the prompt so far: batches come too seldom for a rate between two samples. */
function promptSpeed({ state, since, prefill }: EngineStatus, now: number): number | null {
  if (state !== 'prefill' || prefill === null || prefill.done === 0) return null;
  return (prefill.done / Math.max(1, now - since)) * 1000;
}
