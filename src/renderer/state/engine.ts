import { createStore, type StoreApi } from 'zustand/vanilla';
import type { AppError, Bridge, EngineStatus, LadderStatus, RequestOutput } from '../../main/contract/index.ts';

export type KnownModel = RequestOutput<'models.list'>['models'][number];

export interface EngineStoreState {
  /** Null until the first status came. */
  readonly status: EngineStatus | null;
  /** Why the last load asked for on this page failed. */
  readonly loadError: AppError | null;
  /** Null until asked for. */
  readonly models: readonly KnownModel[] | null;
  /** Step of the sleep ladder; null until main told of it. */
  readonly ladder: LadderStatus | null;
}

/** A model that has left memory comes back with the next request: to a person it is there. */
export function wakesWithRequest({ ladder }: EngineStoreState): boolean {
  return ladder?.step === 'hibernated' || ladder?.step === 'waking';
}

/** The engine as main last described it. */
export class Engine {
  readonly store: StoreApi<EngineStoreState> = createStore(() => ({
    status: null,
    loadError: null,
    models: null,
    ladder: null,
  }));
  readonly #bridge: Bridge;
  #events = 0;

  constructor(bridge: Bridge) {
    this.#bridge = bridge;
  }

  apply(status: EngineStatus): void {
    this.#events += 1;
    this.store.setState({ status });
  }

  applyLadder(ladder: LadderStatus): void {
    this.store.setState({ ladder });
  }

  async refresh(): Promise<void> {
    const events = this.#events;
    const result = await this.#bridge.request('engine.status', {});
    // An event that came meanwhile may be newer than this reply.
    if (result.ok && events === this.#events) this.store.setState({ status: result.data });
  }

  async refreshModels(): Promise<void> {
    const result = await this.#bridge.request('models.list', {});
    if (result.ok) this.store.setState({ models: result.data.models });
  }

  /** `builtin` or a path. */
  async load(model: string): Promise<void> {
    this.store.setState({ loadError: null });
    const result = await this.#bridge.request('engine.load', { model });
    if (!result.ok && result.error.code !== 'load_cancelled') this.store.setState({ loadError: result.error });
  }

  /** Takes another graphics card from now on, and loads the model again there. */
  async chooseGpu(gpuDevice: string): Promise<void> {
    const saved = await this.#bridge.request('settings.set', { gpuDevice });
    const model = this.store.getState().status?.model ?? null;
    if (!saved.ok) this.store.setState({ loadError: saved.error });
    else if (model !== null) await this.load(model.builtin ? 'builtin' : model.path);
  }

  async cancelLoad(): Promise<void> {
    await this.#bridge.request('engine.cancelLoad', {});
  }

  dismissLoadError(): void {
    this.store.setState({ loadError: null });
  }
}
