import { Emitter, type Clock } from '../base/index.ts';
import type { RequestMark } from '../contract/index.ts';

/** How long an ended request is remembered, in ms. */
const keptMs = 120_000;
/** Most marks at a time: a program may ask hundreds of times a minute. */
const keptMarks = 1000;

/** When requests to the engine ran, for the time axis. Nothing of what was asked. */
export class RequestMarks {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #events = new Emitter<RequestMark>();
  /** In the order in which they began. */
  #marks: RequestMark[] = [];

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  on(listener: (mark: RequestMark) => void): () => void {
    return this.#events.on(listener);
  }

  /** @returns ends it. */
  begin(id: string, source: RequestMark['source']): () => void {
    const begun: RequestMark = { id, source, startedAt: this.#clock.now(), endedAt: null };
    this.#prune();
    this.#marks.push(begun);
    this.#events.emit(begun);
    return () => {
      const ended = { ...begun, endedAt: this.#clock.now() };
      this.#marks = this.#marks.map((mark) => (mark === begun ? ended : mark));
      this.#events.emit(ended);
    };
  }

  /** Those that run, and those that ended within the last 120 s. */
  get all(): readonly RequestMark[] {
    this.#prune();
    return this.#marks;
  }

  #prune(): void {
    const oldest = this.#clock.now() - keptMs;
    this.#marks = this.#marks.filter(({ endedAt }) => endedAt === null || endedAt >= oldest).slice(-keptMarks);
  }
}
