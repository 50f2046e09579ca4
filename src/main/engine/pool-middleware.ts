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

/** The pool inside llama.cpp: see src/native/ggml. One per process. */
export type PoolMiddleware = {
  /** After llama.cpp was started and before a model is loaded; again at any time to change the options. */
  install(options: MiddlewareOptions): { readonly installed: boolean; readonly reason?: string };
  /** Changes the pool where it is installed; what is not given stays. A change of more than `spinMs` makes a new one. */
  configure(options: Partial<Pick<MiddlewareOptions, 'spinMs' | 'govern'>>): void;
  /** Restores llama.cpp's own functions. @returns false when a graph under way does not end. */
  uninstall(): boolean;
  stats(): MiddlewareStats;
  /** From here to `clearStop` every evaluation ends at its next chunk or node, and fails. */
  requestStop(): void;
  clearStop(): void;
};
