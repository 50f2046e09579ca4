import type { AppError, EngineState, EngineStatus, ModelInfo } from '../contract/index.ts';

/** Which state may follow which. A step that is not here is a bug and throws. */
const next: Readonly<Record<EngineState, readonly EngineState[]>> = {
  empty: ['loading'],
  loading: ['ready', 'empty', 'failed'],
  ready: ['prefill', 'loading', 'unloading'],
  prefill: ['generating', 'ready'],
  // With several at a time one may end while another still reads its prompt.
  generating: ['prefill', 'ready'],
  unloading: ['empty'],
  failed: ['loading'],
};

type Changes = Partial<Omit<EngineStatus, 'state' | 'since' | 'waiting'>>;

/** The engine's status and the only way to change it. */
export class EngineStateMachine {
  #status: EngineStatus;
  readonly #now: () => number;
  readonly #changed: (status: EngineStatus) => void;

  /** @param now Unix time in ms. @param changed called after every change with the new status. */
  constructor(now: () => number, changed: (status: EngineStatus) => void) {
    this.#now = now;
    this.#changed = changed;
    this.#status = {
      state: 'empty',
      since: now(),
      model: null,
      loadProgress: null,
      prefill: null,
      tokensPerSecond: null,
      pool: null,
      sleep: null,
      gpu: null,
      placement: null,
      waiting: 0,
      error: null,
    };
  }

  get status(): EngineStatus {
    return this.#status;
  }

  get model(): ModelInfo | null {
    return this.#status.model;
  }

  /** Goes to another state; progress values of the old one are cleared. @throws on a step that the table forbids. */
  to(state: EngineState, changes: Changes = {}): void {
    const from = this.#status.state;
    if (!next[from].includes(state)) throw new Error(`engine: ${from} -> ${state} is not a step`);
    const cleared = { loadProgress: null, prefill: null, tokensPerSecond: null };
    this.#set({ ...this.#status, ...cleared, ...changes, state, since: this.#now() });
  }

  /** Changes values within the state. */
  note(changes: Changes & { waiting?: number }): void {
    this.#set({ ...this.#status, ...changes });
  }

  /** A load that did not work: back to the model that is still there, or to `failed`. */
  loadFailed(error: AppError, stillLoaded: ModelInfo | null): void {
    const cancelled = error.code === 'load_cancelled';
    const state = stillLoaded !== null ? 'ready' : cancelled ? 'empty' : 'failed';
    this.to(state, { model: stillLoaded, error: cancelled ? null : error });
  }

  #set(status: EngineStatus): void {
    this.#status = status;
    this.#changed(status);
  }
}
