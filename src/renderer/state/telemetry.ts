import { createStore, type StoreApi } from 'zustand/vanilla';
import type {
  AppError,
  Bridge,
  ConnectionState,
  LadderStatus,
  RequestMark,
  TelemetryHistory,
  TelemetrySample,
} from '../../main/contract/index.ts';
import { keptMs, SampleRing } from './sample-ring.ts';
import { followDemo, type SpinDemo } from './spin-demo.ts';

/** What the store needs of the tab; tests give their own. */
export interface TabEnvironment {
  readonly isVisible: () => boolean;
  /** @returns a function that ends listening. */
  readonly onVisibility: (listener: () => void) => () => void;
  /** Calls `done` once after a time in ms. @returns a function that cancels. */
  readonly wait: (milliseconds: number, done: () => void) => () => void;
}

export type TelemetryRange = 60 | 120;

export interface TelemetryState {
  /** `off`: nobody looks. `live`: main has answered. `failed`: it refused, for `error`. */
  readonly phase: 'off' | 'starting' | 'live' | 'failed';
  readonly error: AppError | null;
  /** Why there is no GPU to show; null when there is one or it is not known yet. */
  readonly gpuReason: string | null;
  /** What is drawn, oldest first; stands still while `paused`. */
  readonly samples: readonly TelemetrySample[];
  readonly marks: readonly RequestMark[];
  readonly paused: boolean;
  /** Seconds. */
  readonly range: TelemetryRange;
  readonly demo: SpinDemo | null;
  readonly demoError: AppError | null;
}

interface TelemetryOptions {
  readonly bridge: Bridge;
  readonly tab: TabEnvironment;
  readonly onLadder: (ladder: LadderStatus) => void;
}

/** The lease is renewed after this part of it, so that a late timer does not lose it. */
const renewAfter = 0.6;
/** After a refused or unanswered request. */
const retryMs = 5000;
const mostMarks = 200;

/** Samples of main while somebody looks at them; asks for them only then. Samples stay outside React. */
export class Telemetry {
  readonly store: StoreApi<TelemetryState> = createStore(() => ({
    phase: 'off',
    error: null,
    gpuReason: null,
    samples: [],
    marks: [],
    paused: false,
    range: 60,
    demo: null,
    demoError: null,
  }));
  readonly #options: TelemetryOptions;
  readonly #ring = new SampleRing();
  #marks = new Map<string, RequestMark>();
  /** Marks that came as events since the last question; they are newer than its answer. */
  #newMarks = new Map<string, RequestMark>();
  #marksChanged = false;
  #views = 0;
  #connected = false;
  #watching = false;
  /** Counts the times watching began or ended: an answer from before that is stale. */
  #turn = 0;
  #cancelWait: () => void = () => undefined;

  constructor(options: TelemetryOptions) {
    this.#options = options;
  }

  /** Follows the tab. @returns a function that ends it. */
  start(): () => void {
    return this.#options.tab.onVisibility(() => this.#update());
  }

  connectionChanged(connection: ConnectionState): void {
    const connected = connection === 'open';
    // A new connection may be a new main, which knows of no lease.
    if (connected && !this.#connected) this.#forgetWatch();
    this.#connected = connected;
    this.#update();
  }

  /** A view that shows samples is there. @returns a function for when it is gone. */
  attach(): () => void {
    this.#views += 1;
    this.#updateSoon();
    let attached = true;
    return () => {
      if (!attached) return;
      attached = false;
      this.#views -= 1;
      this.#updateSoon();
    };
  }

  addSample(sample: TelemetrySample): void {
    if (!this.#watching || !this.#ring.push(sample)) return;
    const { demo, paused } = this.store.getState();
    const next = demo === null ? null : followDemo(demo, sample);
    if (paused) {
      if (next !== demo) this.store.setState({ demo: next });
      return;
    }
    this.#dropOldMarks(sample.at);
    const marks = this.#marksChanged ? { marks: [...this.#marks.values()] } : {};
    this.#marksChanged = false;
    this.store.setState({ samples: this.#ring.all(), ...marks, demo: next, phase: 'live', error: null });
  }

  /** Shown with the next sample: a program may send many requests a second, and the charts shall not be drawn for each. */
  addMark(mark: RequestMark): void {
    if (!this.#watching) return;
    this.#marks.set(mark.id, mark);
    this.#newMarks.set(mark.id, mark);
    this.#marksChanged = true;
  }

  /** The view stands still; samples go on, and all of them are there afterwards. */
  setPaused(paused: boolean): void {
    this.store.setState(paused ? { paused } : { paused, samples: this.#ring.all(), marks: [...this.#marks.values()] });
  }

  setRange(range: TelemetryRange): void {
    this.store.setState({ range });
  }

  /** Tries again at once after a failure. */
  retry(): void {
    this.#forgetWatch();
    this.#update();
  }

  /** Asks once for the step of the ladder. The lease that comes with it ends by itself. */
  async learnLadder(): Promise<void> {
    if (this.#watching) return;
    const result = await this.#options.bridge.request('telemetry.watch', {});
    if (result.ok) this.#options.onLadder(result.data.ladder);
  }

  /** Lets the workers spin for 5 s and measures what that costs. */
  async startDemo(): Promise<void> {
    this.store.setState({ demo: null, demoError: null });
    const result = await this.#options.bridge.request('telemetry.spinDemo', {});
    if (!result.ok) {
      this.store.setState({ demoError: result.error });
      return;
    }
    const { endsAt } = result.data;
    const begun: SpinDemo = { endsAt, secondsLeft: 5, before: [], during: [], done: false };
    this.store.setState({ demo: this.#ring.all().reduce(followDemo, begun) });
  }

  dismissDemo(): void {
    this.store.setState({ demo: null, demoError: null });
  }

  /** A page that replaces another one must not end its lease and ask for it anew. */
  #updateSoon(): void {
    queueMicrotask(() => this.#update());
  }

  #update(): void {
    const wanted = this.#views > 0 && this.#options.tab.isVisible();
    if (wanted && this.#connected && !this.#watching) this.#begin();
    else if (!wanted && this.#watching) this.#end();
  }

  #begin(): void {
    this.#watching = true;
    this.#turn += 1;
    this.store.setState(({ samples }) => ({ phase: samples.length === 0 ? 'starting' : 'live', error: null }));
    void this.#ask(this.#turn);
  }

  #end(): void {
    this.#forgetWatch();
    this.store.setState({ phase: 'off', error: null });
    void this.#options.bridge.request('telemetry.unwatch', {});
  }

  #forgetWatch(): void {
    this.#watching = false;
    this.#turn += 1;
    this.#cancelWait();
  }

  async #ask(turn: number): Promise<void> {
    this.#newMarks = new Map();
    const result = await this.#options.bridge.request('telemetry.watch', {});
    if (turn !== this.#turn) return;
    if (result.ok) this.#apply(result.data);
    else this.store.setState({ phase: 'failed', error: result.error });
    const pause = result.ok ? result.data.leaseMs * renewAfter : retryMs;
    this.#cancelWait = this.#options.tab.wait(pause, () => void this.#ask(turn));
  }

  #apply({ samples, marks, ladder, gpuReason }: TelemetryHistory): void {
    this.#ring.merge(samples);
    this.#marks = new Map([...marks.map((mark) => [mark.id, mark] as const), ...this.#newMarks]);
    const all = this.#ring.all();
    const last = all.at(-1);
    if (last !== undefined) this.#dropOldMarks(last.at);
    const view = this.store.getState().paused ? {} : { samples: all, marks: [...this.#marks.values()] };
    this.store.setState({ ...view, phase: 'live', error: null, gpuReason });
    this.#options.onLadder(ladder);
  }

  #dropOldMarks(now: number): void {
    const old = [...this.#marks.values()].filter(({ endedAt }) => endedAt !== null && endedAt < now - keptMs);
    const surplus = [...this.#marks.keys()].slice(0, Math.max(0, this.#marks.size - mostMarks));
    for (const id of [...old.map((mark) => mark.id), ...surplus]) this.#marks.delete(id);
    if (old.length + surplus.length > 0 && !this.store.getState().paused) {
      this.store.setState({ marks: [...this.#marks.values()] });
    }
  }
}
