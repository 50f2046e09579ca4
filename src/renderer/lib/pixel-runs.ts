/** A measurement over a span of time: it began `elapsedMs` before `at` (Unix time in ms). */
export interface Span {
  readonly at: number;
  readonly elapsedMs: number;
}

/** Both in Unix ms; `from` is the left edge of a chart and `to` its right edge. */
export interface TimeWindow {
  readonly from: number;
  readonly to: number;
}

/** Samplers are late by a little now and then; only a longer silence is a gap. */
export const gapMs = 250;

/** The last `rangeMs` up to the last sample; null without one. */
export function windowOf(spans: readonly Span[], rangeMs: number): TimeWindow | null {
  const last = spans.at(-1);
  return last === undefined ? null : { from: last.at - rangeMs, to: last.at };
}

/** Where each span begins: at the end of the one before, unless there is a gap or an overlap between them. */
export function beginOf(span: Span, before: Span | undefined): number {
  const begin = span.at - span.elapsedMs;
  if (before === undefined) return begin;
  return begin < before.at + gapMs ? before.at : begin;
}

/**
 * Cuts spans into runs of whole pixels along the time axis, so that equal runs draw equal pictures. Spans that share a
 * pixel give their mean over time; neighbours of equal levels are one run; where no span is, there is no run.
 * @param depth how many levels `levelsOf` gives for a span; they are rounded to whole pixels.
 * @returns flat, for each run: left edge, right edge, levels.
 */
export function pixelRuns<T extends Span>(
  spans: readonly T[],
  { from, to }: TimeWindow,
  width: number,
  depth: number,
  levelsOf: (span: T) => readonly number[],
): readonly number[] {
  const runs: number[] = [];
  const scale = width / (to - from);
  const sums = new Array<number>(depth).fill(0);
  let left = -1;
  let weight = 0;
  spans.forEach((span, at) => {
    const begin = Math.max(beginOf(span, spans[at - 1]), from);
    const duration = Math.min(span.at, to) - begin;
    if (duration <= 0) return;
    const first = Math.round((begin - from) * scale);
    if (weight === 0 || first > left) {
      left = first;
      weight = 0;
      sums.fill(0);
    }
    levelsOf(span).forEach((level, index) => (sums[index] = (sums[index] ?? 0) + level * duration));
    weight += duration;
    const right = Math.min(width, Math.round((begin + duration - from) * scale));
    if (right <= left) return;
    const total = weight;
    append(
      runs,
      left,
      right,
      sums.map((sum) => Math.round(sum / total)),
    );
    left = right;
    weight = 0;
    sums.fill(0);
  });
  return runs;
}

function append(runs: number[], left: number, right: number, levels: readonly number[]): void {
  const size = levels.length + 2;
  const last = runs.length - size;
  const joins = last >= 0 && runs[last + 1] === left && levels.every((level, at) => runs[last + 2 + at] === level);
  if (joins) runs[last + 1] = right;
  else runs.push(left, right, ...levels);
}

/** The span that covers a time, or null in a gap. */
export function spanAt<T extends Span>(spans: readonly T[], time: number): T | null {
  const at = spans.findIndex((span) => span.at >= time);
  const span = spans[at];
  return span === undefined || beginOf(span, spans[at - 1]) > time ? null : span;
}

export function sameNumbers(one: readonly number[], other: readonly number[]): boolean {
  return one.length === other.length && one.every((value, at) => value === other[at]);
}
