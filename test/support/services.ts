import { Emitter } from '../../src/main/base/index.ts';
import { ok, type LadderStatus } from '../../src/main/contract/index.ts';
import type { LadderService, TelemetryEvent, TelemetryService } from '../../src/main/services/index.ts';

/** A ladder that stands on the step that the test puts it on. */
export class FakeLadder implements LadderService {
  readonly events = new Emitter<LadderStatus>();
  step: LadderStatus['step'] = 'asleep';
  pages: number[] = [];

  status(): LadderStatus {
    return { step: this.step, since: 7, wokeInMs: null, idleUnloadMinutes: 30 };
  }

  on(listener: (status: LadderStatus) => void): () => void {
    return this.events.on(listener);
  }

  pagesSeen(count: number): void {
    this.pages.push(count);
  }
}

/** Telemetry without samples. */
export class FakeTelemetry implements TelemetryService {
  readonly events = new Emitter<TelemetryEvent>();
  /** How many pages were seen at each end of a lease. */
  readonly unwatched: number[] = [];

  watch() {
    const ladder = new FakeLadder().status();
    return { samples: [], marks: [], ladder, gpuReason: null, leaseMs: 15_000 };
  }

  unwatch(pages: number): void {
    this.unwatched.push(pages);
  }

  spinDemo() {
    return ok({ endsAt: 5000 });
  }

  on(listener: (event: TelemetryEvent) => void): () => void {
    return this.events.on(listener);
  }
}
