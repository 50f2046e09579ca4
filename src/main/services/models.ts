import type { EngineStatus, FlagValues, ModelInfo, Result } from '../contract/index.ts';
import { modelId, type Engine, type LoadRequest } from '../engine/index.ts';
import type { KnownModel, ModelService } from './interfaces.ts';

export type EngineModelsDependencies = {
  readonly engine: Engine;
  readonly flags: FlagValues;
  /** Path of the model that `builtin` means. */
  readonly builtinPath: string;
};

/** Loads models into the engine with the values of the flags. */
export class EngineModels implements ModelService {
  readonly #engine: Engine;
  readonly #flags: FlagValues;
  readonly #builtinPath: string;
  /** Models that were loaded since start, by id. */
  readonly #known = new Map<string, string>();

  constructor({ engine, flags, builtinPath }: EngineModelsDependencies) {
    this.#engine = engine;
    this.#flags = flags;
    this.#builtinPath = builtinPath;
    this.#known.set('builtin', builtinPath);
  }

  status(): EngineStatus {
    return this.#engine.status();
  }

  known(): readonly KnownModel[] {
    const loaded = this.#engine.status().model?.id;
    return [...this.#known]
      .map(([id, path]) => ({ id, path, loaded: id === loaded }))
      .sort((a, b) => Number(b.loaded) - Number(a.loaded));
  }

  async load(model: string): Promise<Result<ModelInfo>> {
    const builtin = model === 'builtin';
    const path = builtin ? this.#builtinPath : model;
    const result = await this.#engine.load(loadRequest(this.#flags, path, builtin));
    if (result.ok) this.#known.set(modelId({ path, builtin }), path);
    return result;
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
  };
}
