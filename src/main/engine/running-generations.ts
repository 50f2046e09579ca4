import type { EngineStateMachine } from './engine-state.ts';

/** Least time between two status events that only carry progress or speed, in ms. */
const progressInterval = 200;

type Progress = {
  readonly phase: 'prefill' | 'generating';
  readonly done: number;
  readonly total: number;
  readonly decoded: number;
  readonly decodeStarted: number;
};

/**
 * What the answers that run now make of the engine's status: `generating` while one is written, else `prefill` while a
 * prompt is read, with progress and speed of all together.
 */
export class RunningGenerations {
  readonly #state: EngineStateMachine;
  readonly #now: () => number;
  readonly #running = new Map<string, Progress>();
  #told = 0;

  /** @param now monotonic, in ms. */
  constructor(state: EngineStateMachine, now: () => number = () => performance.now()) {
    this.#state = state;
    this.#now = now;
  }

  get count(): number {
    return this.#running.size;
  }

  begin(id: string): void {
    this.#running.set(id, { phase: 'prefill', done: 0, total: 0, decoded: 0, decodeStarted: 0 });
    this.#tell();
  }

  prefill(id: string, done: number, total: number): void {
    this.#change(id, { done, total });
    if (this.#state.status.state === 'prefill') this.#tell('progress');
  }

  decodes(id: string): void {
    this.#change(id, { phase: 'generating', decodeStarted: this.#now() });
    this.#tell();
  }

  decoded(id: string, tokens: number): void {
    const before = this.#running.get(id);
    if (before === undefined) return;
    this.#running.set(id, { ...before, decoded: before.decoded + tokens });
    if (this.#now() - this.#told >= progressInterval) this.#tell('progress');
  }

  end(id: string): void {
    this.#running.delete(id);
    this.#tell();
  }

  #change(id: string, changes: Partial<Progress>): void {
    const before = this.#running.get(id);
    if (before !== undefined) this.#running.set(id, { ...before, ...changes });
  }

  #tell(what: 'progress' | 'step' = 'step'): void {
    const running = [...this.#running.values()];
    const writing = running.filter((one) => one.phase === 'generating');
    const state = writing.length > 0 ? 'generating' : running.length > 0 ? 'prefill' : 'ready';
    if (state !== this.#state.status.state) {
      // The first progress of a prefill is told at once.
      this.#told = state === 'prefill' ? Number.NEGATIVE_INFINITY : this.#now();
      this.#state.to(state, state === 'ready' ? { error: null } : {});
    } else if (state !== 'ready' && what === 'progress' && this.#now() - this.#told >= progressInterval) {
      this.#told = this.#now();
      this.#state.note(state === 'prefill' ? { prefill: sum(running) } : { tokensPerSecond: this.#speed(writing) });
    }
  }

  #speed(writing: readonly Progress[]): number {
    return writing.reduce(
      (speed, one) => speed + (one.decoded / Math.max(1, this.#now() - one.decodeStarted)) * 1000,
      0,
    );
  }
}

function sum(running: readonly Progress[]): { readonly done: number; readonly total: number } {
  return running.reduce((all, { done, total }) => ({ done: all.done + done, total: all.total + total }), {
    done: 0,
    total: 0,
  });
}
