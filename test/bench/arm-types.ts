/** What crosses between the bench and one of its arms. */

/** `stock` is node-llama-cpp as it comes, `plain` the same without repacked weights, the rest are the pool's spin budgets. */
export type BenchArm = 'stock' | 'plain' | 'always' | '20ms' | '2ms' | '0.1ms' | '0';

export type BenchTask = 'load' | 'idle' | 'decode' | 'prefill' | 'wake' | 'busy' | 'output';

export type BenchRequest = {
  readonly arm: BenchArm;
  readonly tasks: readonly BenchTask[];
  /** The native core; stock runs do not touch it. */
  readonly addon: string;
  readonly model: string;
  /** Tokens. */
  readonly contextSize: number;
  /** Of llama.cpp and of the pool. */
  readonly threads: number;
  /** Tokens timed at each prompt. */
  readonly decodeTokens: number;
  /** A decode is cut off after this, and what it did is counted. */
  readonly limitMs: number;
  readonly idleMs: number;
  readonly busyMs: number;
  /** Threads of the other session. */
  readonly busyThreads: number;
  /** Ids compared with those of `plain`. */
  readonly outputTokens: number;
  readonly wakes: readonly { readonly gapMs: number; readonly name: string; readonly count: number }[];
};

export type BenchResult = {
  /** Row to value: s, cores, tok/s or ms, by the row. A row that does not fit the model's context is missing. */
  readonly values: Readonly<Record<string, number>>;
  /** Greedy ids, for `output`. */
  readonly ids?: readonly number[];
  /** Of the probabilities of the whole vocabulary at each of them, bit by bit. */
  readonly hash?: string;
};

export type BenchAddon = {
  install(options: {
    readonly gpu: string | false;
    readonly threads: number;
    readonly affinity: 'auto';
    readonly spinMs: number | 'always';
    readonly govern: boolean;
  }): { readonly installed: boolean; readonly reason?: string };
  uninstall(): boolean;
};
