export type BenchRun = {
  readonly round: number;
  readonly place: number;
  readonly arm: string;
  readonly values: Readonly<Record<string, number>>;
};

export type BenchRow = {
  readonly row: string;
  readonly model: string;
  readonly unit: string;
  readonly arms: Readonly<Record<string, { readonly median: number; readonly values: readonly number[] }>>;
  /** By "arm/base". */
  readonly ratio: Readonly<Record<string, number>>;
  readonly quartiles: Readonly<Record<string, readonly [number, number, number]>>;
  readonly pairs: Readonly<Record<string, number>>;
  /** How far two stock runs in a row are from each other; null with fewer than two. */
  readonly aa: number | null;
  readonly note?: string;
};

export function makeRows(model: string, runs: readonly BenchRun[], expected: readonly string[]): BenchRow[];
export function verdictOf(row: BenchRow, ratio: string): string;
export function number(value: number): string;
export function printRows(title: string, rows: readonly BenchRow[]): void;
