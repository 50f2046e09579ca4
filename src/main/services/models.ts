import { resolve } from 'node:path';
import {
  fail,
  ok,
  remotePrefix,
  type EngineStatus,
  type FlagValues,
  type ModelInfo,
  type Result,
  type Timings,
} from '../contract/index.ts';
import { modelId, type Engine, type LoadRequest, type PoolStats } from '../engine/index.ts';
import type { LoadMarker } from '../store/index.ts';
import type { KnownModel, ModelService, SettingsService } from './interfaces.ts';
import { ModelSwitch } from './model-switch.ts';

export type EngineModelsDependencies = {
  readonly engine: Engine;
  readonly flags: FlagValues;
  /** Path of the model that `builtin` means. */
  readonly builtinPath: string;
  readonly settings: SettingsService;
  /** Models of remote engines, which a request may name as well. */
  readonly remoteModels?: () => readonly KnownModel[];
  /** Stands while native code may kill the process. */
  readonly marker?: Pick<LoadMarker, 'beginLoad' | 'beginFirstToken' | 'end'>;
};

/** Loads models into the engine with the values of the flags. */
export class EngineModels implements ModelService {
  readonly #engine: Engine;
  readonly #flags: FlagValues;
  readonly #builtinPath: string;
  readonly #settings: SettingsService;
  readonly #remoteModels: () => readonly KnownModel[];
  readonly #marker: EngineModelsDependencies['marker'];
  /** The loaded model, until its first token has come: `builtin` or a path. */
  #unproven: string | null = null;
  #inFirstPrefill = false;
  /** Models that were loaded since start, by id. */
  readonly #known = new Map<string, string>();
  readonly #aliases = new Map<string, string>();
  readonly #switch: ModelSwitch | null;
  #hibernated: ModelInfo | null = null;
  /** Number of the last load, and of the last wake among them. */
  #loads = 0;
  #wakes = 0;

  constructor({ engine, flags, builtinPath, settings, remoteModels, marker }: EngineModelsDependencies) {
    this.#remoteModels = remoteModels ?? (() => []);
    this.#engine = engine;
    this.#flags = flags;
    this.#builtinPath = builtinPath;
    this.#settings = settings;
    this.#known.set('builtin', builtinPath);
    this.#switch = flags['model-switch'] ? new ModelSwitch(this) : null;
    for (const alias of flags.alias) this.#addAlias(alias);
    this.#marker = marker;
    if (marker !== undefined) this.onStatus(({ state }) => this.#watchFirstToken(state));
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
    const local = [...this.#known].map(([id, path]) => ({ id, path, loaded: id === loaded }));
    return [...local.sort((a, b) => Number(b.loaded) - Number(a.loaded)), ...this.#remoteModels()];
  }

  aliases(): ReadonlyMap<string, string> {
    return new Map([...this.#aliases].filter(([, id]) => this.#known.has(id)));
  }

  resolve(name: string): string | null {
    // A model that happens to be called like an alias is what its own name means.
    if (this.#known.has(name) || this.#isRemote(name)) return name;
    const id = this.#aliases.get(name);
    return id !== undefined && this.#known.has(id) ? id : null;
  }

  #isRemote(id: string): boolean {
    return this.#remoteModels().some((model) => model.id === id);
  }

  get maySwitch(): boolean {
    return this.#switch !== null;
  }

  hold(id: string | null, signal: AbortSignal): Promise<Result<() => void>> {
    if (id !== null && this.#isRemote(id)) return Promise.resolve(ok(() => undefined));
    return this.#switch?.hold(id, signal) ?? Promise.resolve(ok(() => undefined));
  }

  async load(model: string, { remember } = { remember: true }): Promise<Result<ModelInfo>> {
    this.#loads += 1;
    const builtin = model === 'builtin';
    const path = this.pathOf(model);
    const lastModel = builtin ? model : path;
    await this.#marker?.beginLoad(lastModel);
    const result = await this.#engine
      .load(loadRequest(this.#flags, path, builtin, this.#settings.value.gpuDevice))
      .finally(() => this.#marker?.end(lastModel, 'load'));
    if (!result.ok) return result;
    this.#hibernated = null;
    this.#unproven = lastModel;
    this.#known.set(modelId({ path, builtin }), path);
    // A model that cannot be remembered is loaded all the same.
    if (remember && this.#settings.value.lastModel !== lastModel) void this.#settings.set({ lastModel });
    return result;
  }

  pathOf(model: string): string {
    if (model.startsWith(remotePrefix)) return model;
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
    // On purpose: no request brings it back.
    this.#hibernated = null;
    return this.#engine.unload();
  }

  hibernated(): ModelInfo | null {
    return this.#hibernated;
  }

  /** Takes the model out of memory until `wake`. Known as hibernated from the call on, before the memory is free. */
  async hibernate(): Promise<Result<void>> {
    const { model } = this.#engine.status();
    this.#hibernated = model;
    const result = await this.#engine.unload();
    if (!result.ok && this.#hibernated === model) this.#hibernated = null;
    return result;
  }

  /** Loads the hibernated model again, as it was loaded before. If that fails it stays hibernated. */
  async wake(): Promise<Result<ModelInfo>> {
    const model = this.#hibernated;
    if (model === null) return fail('no_model', 'No model is loaded.', 'Load a model first.');
    this.#wakes = this.#loads + 1;
    return this.load(model.builtin ? 'builtin' : model.path, { remember: false });
  }

  /** Cancels the load of `wake`, but none that somebody has asked for since. */
  cancelWake(): void {
    if (this.#wakes === this.#loads) this.#engine.cancelLoad();
  }

  onStatus(listener: (status: EngineStatus) => void): () => void {
    return this.#engine.on((event) => {
      if (event.type === 'status') listener(event.status);
    });
  }

  /** @param text `NAME=MODEL`; a model given as a path is known from now on. */
  #addAlias(text: string): void {
    const [name = '', ...rest] = text.split('=');
    const model = rest.join('=');
    const id = /\.gguf$/i.test(model) ? modelId({ path: resolve(model), builtin: false }) : model;
    if (id !== model) this.#known.set(id, resolve(model));
    this.#aliases.set(name, id);
  }

  /** Prefill is where a model's weights are first computed with; once a token has come, they have all been. */
  #watchFirstToken(state: EngineStatus['state']): void {
    const model = this.#unproven;
    if (model === null || this.#marker === undefined) return;
    if (state === 'prefill' && !this.#inFirstPrefill) {
      this.#inFirstPrefill = true;
      this.#marker.beginFirstToken(model);
    }
    if (state === 'prefill' || !this.#inFirstPrefill) return;
    this.#inFirstPrefill = false;
    this.#marker.end(model, 'first_token');
    if (state === 'generating') this.#unproven = null;
  }
}

function loadRequest(flags: FlagValues, path: string, builtin: boolean, chosenGpu: string | null): LoadRequest {
  return {
    path,
    builtin,
    contextSize: flags.context,
    batchSize: flags.batch,
    threads: flags.threads,
    gpu: flags.gpu,
    gpuLayers: flags['gpu-layers'],
    gpuDevice: flags['gpu-device'] ?? chosenGpu,
    cpuMoe: flags['cpu-moe'],
    nCpuMoe: flags['n-cpu-moe'],
    kvType: flags.kv,
    flashAttention: flags['flash-attention'],
    mmap: flags.mmap === 'on',
    mlock: flags.mlock,
    sequences: flags.parallel,
    chatFormat: flags['chat-format'],
    pool: {
      on: flags.pool === 'on',
      threads: flags['pool-threads'],
      affinity: flags['pool-affinity'],
      spinMs: flags['spin-ms'],
    },
  };
}
