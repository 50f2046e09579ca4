import type { Clock } from '../base/index.ts';
import { ok, type RequestMark, type Result } from '../contract/index.ts';
import { nothingGenerated, type Engine, type GenerateOutcome, type GenerateRequest } from '../engine/index.ts';
import type { RequestMarks } from '../telemetry/index.ts';
import type { SleepLadder } from './sleep-ladder.ts';

/** What answers need of the engine. */
export type AnsweringEngine = Pick<Engine, 'status' | 'generate' | 'stop' | 'on'>;

export type RequestGateDependencies = {
  readonly engine: AnsweringEngine;
  readonly ladder: Pick<SleepLadder, 'begin' | 'sleeps' | 'awake'>;
  readonly marks: Pick<RequestMarks, 'begin'>;
  readonly clock: Clock;
};

/** The one way to an answer: every request passes here, wakes the engine where it hibernates, and leaves its mark. */
export class RequestGate {
  readonly #deps: RequestGateDependencies;
  /** Requests that wait for the model to wake; the engine does not know them yet. */
  readonly #waiting = new Map<string, AbortController>();
  /** All that were asked for and have not ended. */
  readonly #open = new Set<string>();

  constructor(deps: RequestGateDependencies) {
    this.#deps = deps;
  }

  /** The engine as a chat or the API sees it. */
  engineFor(source: RequestMark['source']): AnsweringEngine {
    const { engine } = this.#deps;
    return {
      status: () => engine.status(),
      on: (listener) => engine.on(listener),
      generate: (request) => this.#generate(source, request),
      stop: (id) => this.#stop(id),
    };
  }

  /** Ends every answer, whoever asked for it. @returns how many there were. */
  stopAll(): number {
    const ids = [...this.#open];
    for (const id of ids) this.#stop(id);
    return ids.length;
  }

  async #generate(source: RequestMark['source'], request: GenerateRequest): Promise<Result<GenerateOutcome>> {
    const { engine, ladder, marks } = this.#deps;
    const ends = [ladder.begin(), marks.begin(request.id, source), () => this.#open.delete(request.id)];
    this.#open.add(request.id);
    try {
      // No detour for an engine that is awake: it gets requests in the order of the calls.
      return await (ladder.sleeps ? this.#generateAwake(request) : engine.generate(request));
    } finally {
      for (const end of ends) end();
    }
  }

  async #generateAwake(request: GenerateRequest): Promise<Result<GenerateOutcome>> {
    const { engine, ladder, clock } = this.#deps;
    const asked = clock.elapsed();
    const stopped = new AbortController();
    this.#waiting.set(request.id, stopped);
    const woken = await ladder.awake(stopped.signal).finally(() => this.#waiting.delete(request.id));
    const waitedMs = clock.elapsed() - asked;
    if (stopped.signal.aborted) return ok(nothingGenerated(waitedMs));
    // Also after a wake that failed: another model may have been loaded in its place.
    const result = await engine.generate(request);
    if (!woken.ok && !result.ok && result.error.code === 'no_model') return woken;
    if (!result.ok) return result;
    const { timings } = result.data;
    return ok({ ...result.data, timings: { ...timings, queuedMs: timings.queuedMs + waitedMs } });
  }

  #stop(id: string): boolean {
    const waiting = this.#waiting.get(id);
    waiting?.abort();
    return waiting !== undefined || this.#deps.engine.stop(id);
  }
}
