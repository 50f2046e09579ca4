import { resolve } from 'node:path';
import type { EngineStatus, FlagValues, ModelInfo, Result, Timings } from '../contract/index.ts';
import { modelId, type Engine, type LoadRequest, type PoolStats } from '../engine/index.ts';
import type { KnownModel, ModelService, SettingsService } from './interfaces.ts';

export type EngineModelsDependencies = {
  readonly engine: Engine;
  readonly flags: FlagValues;
  /** Path of the model that `builtin` means. */
  readonly builtinPath: string;
  readonly settings: SettingsService;
};

/** Loads models into the engine with the values of the flags. */
export class EngineModels implements ModelService {
  readonly #engine: Engine;
  readonly #flags: FlagValues;
  readonly #builtinPath: string;
  readonly #settings: SettingsService;
  /** Models that were loaded since start, by id. */
  readonly #known = new Map<string, string>();

  constructor({ engine, flags, builtinPath, settings }: EngineModelsDependencies) {
    this.#engine = engine;
    this.#flags = flags;
    this.#builtinPath = builtinPath;
    this.#settings = settings;
    this.#known.set('builtin', builtinPath);
  }

  status(): EngineStatus {
    return this.#engine.status();
  }

  lastTimings(): Timings | null {
    return this.#engine.lastTimings();
  }

  poolStats(): PoolStats | null {
    return this.#engine.poolStats();
  }

  known(): readonly KnownModel[] {
    const loaded = this.#engine.status().model?.id;
    return [...this.#known]
      .map(([id, path]) => ({ id, path, loaded: id === loaded }))
      .sort((a, b) => Number(b.loaded) - Number(a.loaded));
  }

  async load(model: string, { remember } = { remember: true }): Promise<Result<ModelInfo>> {
    const builtin = model === 'builtin';
    const path = this.pathOf(model);
    const result = await this.#engine.load(loadRequest(this.#flags, path, builtin));
    if (!result.ok) return result;
    this.#known.set(modelId({ path, builtin }), path);
    const lastModel = builtin ? model : path;
    // A model that cannot be remembered is loaded all the same.
    if (remember && this.#settings.value.lastModel !== lastModel) void this.#settings.set({ lastModel });
    return result;
  }

  pathOf(model: string): string {
    return model === 'builtin' ? this.#builtinPath : resolve(model);
  }

  /** What to load at the start: what the command line asks for, else the last one, else the built-in one. */
  firstModel(): { readonly model: string; readonly asked: boolean } {
    const { model } = this.#flags;
    return model === null
      ? { model: this.#settings.value.lastModel ?? 'builtin', asked: false }
      : { model, asked: true };
  }

  cancelLoad(): boolean {
    return this.#engine.cancelLoad();
  }

  unload(): Promise<Result<void>> {
    return this.#engine.unload();
  }

  onStatus(listener: (status: EngineStatus) => void): () => void {
    return this.#engine.on((event) => {
      if (event.type === 'status') listener(event.status);
    });
  }
}

function loadRequest(flags: FlagValues, path: string, builtin: boolean): LoadRequest {
  return {
    path,
    builtin,
    contextSize: flags.context,
    batchSize: flags.batch,
    threads: flags.threads,
    gpu: flags.gpu,
    gpuLayers: flags['gpu-layers'],
    kvType: flags.kv,
    flashAttention: flags['flash-attention'],
    mmap: flags.mmap === 'on',
    mlock: flags.mlock,
    chatFormat: flags['chat-format'],
    pool: {
      on: flags.pool === 'on',
      threads: flags['pool-threads'],
      affinity: flags['pool-affinity'],
      spinMs: flags['spin-ms'],
    },
  };
}
