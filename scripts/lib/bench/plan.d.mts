export type BenchArguments = {
  readonly scope: 'full' | 'quick' | 'standard';
  readonly pairs: number | undefined;
  readonly threads: number | undefined;
  readonly rounds: number;
  readonly rows: readonly string[] | undefined;
  readonly models: readonly string[] | undefined;
  readonly arms: readonly string[] | undefined;
  readonly json: string | undefined;
  readonly pool: boolean;
  readonly monitor: boolean;
  readonly seconds: number;
};

export type BenchPlan = {
  readonly settings: Readonly<Record<string, unknown>>;
  readonly models: readonly {
    readonly model: string;
    readonly arms: readonly string[];
    /** Task to number of rounds. */
    readonly rounds: Readonly<Record<string, number>>;
  }[];
};

export function readArguments(args: readonly string[]): BenchArguments;
export function makePlan(options: BenchArguments): BenchPlan;
