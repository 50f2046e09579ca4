import type { RequestMark } from '../../../main/contract/index.ts';
import type { TimeWindow } from '../../lib/pixel-runs.ts';

/** Requests as flat pairs of left and right edge in pixels; one that still runs goes on to the right edge. */
export function markRuns(marks: readonly RequestMark[], { from, to }: TimeWindow, width: number): readonly number[] {
  const scale = width / (to - from);
  return marks
    .filter(({ startedAt, endedAt }) => startedAt < to && (endedAt ?? to) > from)
    .flatMap(({ startedAt, endedAt }) => [
      Math.max(0, Math.round((startedAt - from) * scale)),
      Math.min(width, Math.round(((endedAt ?? to) - from) * scale)),
    ]);
}
