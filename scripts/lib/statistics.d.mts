export function quantile(values: readonly number[], q: number): number;
export function quartiles(values: readonly number[]): readonly [number, number, number];
export function spread(values: readonly number[]): number;
