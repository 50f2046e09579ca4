import type { RequestMark, TelemetrySample } from '../../../main/contract/index.ts';
import { alignedWindow, bucketMeans } from '../../lib/bucket-means.ts';

/** recharts draws at most so many points. */
export const chartPoints = 120;

export interface ChartSeries {
  readonly key: string;
  readonly label: string;
  readonly look: 'area' | 'line' | 'dashed' | 'teal' | 'moon';
  readonly valueOf: (sample: TelemetrySample) => number | null;
}

/** `x`: seconds before the right edge, so that equal values make equal points however late it is. */
export type ChartPoint = Readonly<Record<string, number | null>> & { readonly x: number };

export interface ChartData {
  readonly points: readonly ChartPoint[];
  /** Top of the value axis. */
  readonly top: number;
  /** Requests, in seconds before the right edge. */
  readonly requests: readonly { readonly id: string; readonly from: number; readonly to: number }[];
}

interface ChartInput {
  readonly samples: readonly TelemetrySample[];
  readonly marks: readonly RequestMark[];
  /** Seconds. */
  readonly range: number;
  readonly series: readonly ChartSeries[];
  /** Fixed top of the value axis; else what the values need, at least `leastTop`. */
  readonly top: number | null;
  readonly leastTop: number;
}

export function chartData({ samples, marks, range, series, top, leastTop }: ChartInput): ChartData {
  const window = alignedWindow(samples.at(-1)?.at ?? 0, range * 1000, chartPoints);
  const columns = series.map(({ valueOf }) => bucketMeans(samples, window, chartPoints, valueOf));
  const bucket = range / chartPoints;
  const points = Array.from({ length: chartPoints }, (_, at) => ({
    ...Object.fromEntries(series.map(({ key }, index) => [key, columns[index]?.[at] ?? null])),
    x: -range + (at + 0.5) * bucket,
  }));
  const highest = Math.max(0, ...columns.flat().map((value) => value ?? 0));
  const seconds = (at: number) => Math.max(-range, Math.round((at - window.to) / (bucket * 1000)) * bucket);
  const requests = marks
    .filter(({ startedAt, endedAt }) => (endedAt ?? window.to) > window.from && startedAt < window.to)
    .map(({ id, startedAt, endedAt }) => ({
      id,
      from: seconds(startedAt),
      to: endedAt === null ? 0 : Math.min(0, Math.max(seconds(endedAt), seconds(startedAt) + bucket)),
    }));
  return { points, top: top ?? niceTop(Math.max(highest, leastTop)), requests: joined(requests) };
}

/** Requests that touch become one mark: a program may send hundreds in a minute, and each would be an element to draw. */
function joined(requests: ChartData['requests']): ChartData['requests'] {
  const runs: { readonly id: string; readonly from: number; to: number }[] = [];
  for (const { id, from, to } of requests.toSorted((one, other) => one.from - other.from)) {
    const last = runs.at(-1);
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to);
    else runs.push({ id, from, to });
  }
  return runs;
}

/** 1, 2, 2.5, 5 or 10 times a power of ten, not below `value`. */
export function niceTop(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 2.5, 5, 10].find((step) => step * power >= value) ?? 10) * power;
}

/** Whether both draw the same picture in a chart of `height` pixels. */
export function sameChart(one: ChartData, other: ChartData, height: number): boolean {
  const pixel = (value: number | null | undefined) =>
    value === null || value === undefined ? -1 : Math.round((value / one.top) * height);
  return (
    one.top === other.top &&
    one.requests.length === other.requests.length &&
    one.requests.every(({ from, to }, at) => other.requests[at]?.from === from && other.requests[at].to === to) &&
    one.points.every((point, at) => {
      const twin = other.points[at];
      return twin !== undefined && Object.keys(point).every((key) => pixel(point[key]) === pixel(twin[key]));
    })
  );
}
