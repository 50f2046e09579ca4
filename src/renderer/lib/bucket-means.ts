import { beginOf, type Span, type TimeWindow } from './pixel-runs.ts';

/**
 * Means over equal parts of a window, weighted by time, for charts with a fixed number of points.
 * @returns one value for each bucket; null where no span with a value reaches into it, so that a gap stays a gap.
 */
export function bucketMeans<T extends Span>(
  spans: readonly T[],
  { from, to }: TimeWindow,
  count: number,
  valueOf: (span: T) => number | null,
): readonly (number | null)[] {
  const size = (to - from) / count;
  const sums = new Array<number>(count).fill(0);
  const weights = new Array<number>(count).fill(0);
  spans.forEach((span, index) => {
    const value = valueOf(span);
    const begin = Math.max(beginOf(span, spans[index - 1]), from);
    const end = Math.min(span.at, to);
    if (value === null || end <= begin) return;
    for (let at = Math.floor((begin - from) / size); at < count && from + at * size < end; at += 1) {
      const overlap = Math.min(end, from + (at + 1) * size) - Math.max(begin, from + at * size);
      sums[at] = (sums[at] ?? 0) + value * overlap;
      weights[at] = (weights[at] ?? 0) + overlap;
    }
  });
  return sums.map((sum, at) => {
    const weight = weights[at] ?? 0;
    return weight > 0 ? sum / weight : null;
  });
}

/**
 * The window that ends with the last sample, moved to whole buckets: values must not change their bucket, and with it
 * the picture, only because time goes on.
 */
export function alignedWindow(end: number, rangeMs: number, count: number): TimeWindow {
  const size = rangeMs / count;
  const to = Math.ceil(end / size) * size;
  return { from: to - rangeMs, to };
}
