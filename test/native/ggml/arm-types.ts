/** What crosses between a test and its arm, and the addon's face. */

export type ArmName = 'stock' | 'plain' | 'pool' | 'nodes';

export type ArmOptions = {
  readonly scenario: 'generate' | 'teach' | 'two' | 'rounds' | 'stop' | 'exit' | 'refused' | 'registries';
  readonly arm: ArmName;
  readonly addon: string;
  readonly model: string;
  /** Tokens, or rounds. */
  readonly count: number;
  /** Ids of a fixed text lie below. */
  readonly teacherIds: number;
  readonly flashAttention: boolean;
  /** Of the pool. */
  readonly threads: number;
};

export type GgmlStats = {
  readonly installed: boolean;
  readonly registries: readonly string[];
  readonly backends: number;
  readonly graphs: number;
  readonly poolNodes: number;
  readonly originalNodes: number;
  readonly units: number;
  readonly plans: number;
  readonly aborted: number;
  readonly failed: number;
  readonly weightBytes: number;
  readonly pool: { readonly threads: number; readonly jobs: number } | null;
  readonly expertHits: readonly (readonly number[])[];
};

export type GgmlAddon = {
  install(options: {
    readonly gpu?: string | false;
    readonly threads?: number;
    readonly affinity?: 'off' | 'auto' | 'p-cores';
    readonly spinMs?: number | 'always';
    readonly govern?: boolean;
    readonly fuse?: boolean;
  }): { readonly installed: boolean; readonly reason?: string };
  uninstall(): boolean;
  stats(): GgmlStats;
  requestStop(): void;
  clearStop(): void;
};

export type ArmResult = {
  readonly stats: GgmlStats;
  readonly ids?: readonly number[];
  readonly hash?: string;
  readonly hashes?: readonly string[];
  readonly units?: readonly number[];
  readonly logits?: readonly (readonly number[])[];
  readonly answer?: ReturnType<GgmlAddon['install']>;
  readonly prefillMs?: number;
  readonly stopMs?: number;
  readonly failed?: boolean;
  readonly failedAgain?: boolean;
  readonly kept?: boolean;
};
