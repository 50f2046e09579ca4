import type { Box } from './lane-grid.ts';

export interface StripRows {
  readonly height: number;
  readonly strips: readonly Box[];
  readonly labelWidth: number;
  /** Every how manieth strip has room for its number. */
  readonly labelEvery: number;
}

export const leastStripHeight = 3;
const labelHeight = 11;

interface Room {
  /** What all strips together should take, in CSS pixels. */
  readonly target: number;
  readonly mostStripHeight: number;
  readonly labels: boolean;
}

/** One strip under the other for each thread of the pool; CSS pixels. */
export function stripRows(count: number, width: number, { target, mostStripHeight, labels }: Room): StripRows {
  const gap = count > 24 ? 1 : count > 12 ? 2 : 3;
  const fitting = Math.floor((target - (count - 1) * gap) / count);
  const height = Math.max(leastStripHeight, Math.min(mostStripHeight, fitting));
  const labelWidth = labels ? 22 : 0;
  const strips = Array.from({ length: count }, (_, at) => ({
    x: labelWidth,
    y: at * (height + gap),
    width: Math.max(1, width - labelWidth),
    height,
  }));
  const labelEvery = Math.max(1, Math.ceil(labelHeight / (height + gap)));
  return { height: count * height + Math.max(0, count - 1) * gap, strips, labelWidth, labelEvery };
}

export function stripAt({ strips, height }: StripRows, y: number): number | null {
  if (strips.length === 0 || y < 0 || y > height) return null;
  return Math.min(strips.length - 1, Math.floor((y / height) * strips.length));
}
