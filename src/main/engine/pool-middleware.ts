import type { PoolStats, SpinBudget } from './expert-pool.ts';

/** What the native middleware tells of itself. Plain copies; times of phases are sums over the threads. */
export type MiddlewareStats = {
  readonly installed: boolean;
  /** null until it was installed. */
  readonly pool: PoolStats | null;
  readonly graphs: number;
  /** Nodes computed on the pool, and left to llama.cpp. */
  readonly poolNodes: number;
  readonly originalNodes: number;
  readonly aborted: number;
  readonly weightBytes: number;
};

export type MiddlewareOptions = {
  /** As the Llama in use tells it. */
  readonly gpu: string | false;
  /** Host and workers; 0 chooses by the machine. */
  readonly threads: number;
  readonly affinity: 'off' | 'auto' | 'p-cores';
  readonly spinMs: SpinBudget;
  /** Whether workers are left out on a busy machine. */
  readonly govern: boolean;
};

/** A graphics device as ggml tells of it now. */
export type GpuFacts = {
  /** Such as `CUDA0`. */
  readonly name: string;
  readonly description: string;
  readonly integrated: boolean;
  /** Keeps weights in the computer's own memory. */
  readonly sharesMemory: boolean;
  readonly freeBytes: number;
  readonly totalBytes: number;
  readonly used: boolean;
};

export type GpuReport = {
  readonly devices: readonly GpuFacts[];
  /** Experts kept out of graphics memory since the last `place`. */
  readonly kept: { readonly tensors: number; readonly layers: number; readonly bytes: number };
  readonly reason?: string;
};

/** The pool inside llama.cpp: see src/native/ggml. One per process. */
export type PoolMiddleware = {
  /** After llama.cpp was started and before a model is loaded; again at any time to change the options. */
  install(options: MiddlewareOptions): { readonly installed: boolean; readonly reason?: string };
  /** Changes the pool where it is installed; what is not given stays. A change of more than `spinMs` makes a new one. */
  configure(options: Partial<Pick<MiddlewareOptions, 'spinMs' | 'govern'>>): void;
  /** Restores llama.cpp's own functions. @returns false when a graph under way does not end. */
  uninstall(): boolean;
  stats(): MiddlewareStats;
  /** With or without the pool installed. `gpu` as the Llama in use tells it. */
  devices(options: { readonly gpu: string | false }): GpuReport;
  /** What loads do from now on: experts of the first layers stay in RAM, the rest goes to `device` alone. */
  place(options: { readonly gpu: string | false; readonly expertLayers: number; readonly device?: string }): {
    readonly placed: boolean;
    readonly reason?: string;
  };
  /** From here to `clearStop` every evaluation ends at its next chunk or node, and fails. */
  requestStop(): void;
  clearStop(): void;
};
