import type { Box } from './lane-grid.ts';

export interface StripRows {
  readonly columns: number;
  readonly height: number;
  /** Down the first column, then the next. */
  readonly strips: readonly Box[];
  readonly labelWidth: number;
  /** Every how manieth strip has room for its number. */
  readonly labelEvery: number;
}

/** Textures need so many pixels to be told apart. */
export const leastStripHeight = 4;
const labelHeight = 11;
const columnGap = 14;
const mostRows = 24;
const leastColumn = 120;

interface Room {
  /** What all strips together should take, in CSS pixels. */
  readonly target: number;
  readonly mostStripHeight: number;
  readonly labels: boolean;
}

/** One strip for each thread of the pool, one under the other, in as many columns as it takes; CSS pixels. */
export function stripRows(count: number, width: number, { target, mostStripHeight, labels }: Room): StripRows {
  const wanted = Math.max(1, Math.ceil(count / mostRows));
  const columns = Math.max(1, Math.min(wanted, Math.floor(width / leastColumn)));
  const rows = Math.ceil(count / columns);
  const gap = rows > 12 ? 2 : 3;
  const height = Math.max(leastStripHeight, Math.min(mostStripHeight, Math.floor((target + gap) / rows) - gap));
  const labelWidth = labels ? 22 : 0;
  const cell = (width + columnGap) / columns;
  const strips = Array.from({ length: count }, (_, at) => ({
    x: Math.round(Math.floor(at / rows) * cell) + labelWidth,
    y: (at % rows) * (height + gap),
    width: Math.max(1, Math.floor(cell - columnGap - labelWidth)),
    height,
  }));
  const labelEvery = Math.max(1, Math.ceil(labelHeight / (height + gap)));
  return { columns, height: rows * height + Math.max(0, rows - 1) * gap, strips, labelWidth, labelEvery };
}

/** The strip at a point, label and gaps included in the strip they belong to; null outside. */
export function stripAt({ strips, columns, height, labelWidth }: StripRows, x: number, y: number): number | null {
  const [first] = strips;
  if (first === undefined || x < 0 || y < 0 || y >= height) return null;
  const rows = Math.ceil(strips.length / columns);
  const cell = columns === 1 ? first.width + labelWidth + columnGap : (strips[rows]?.x ?? 0) - first.x;
  const column = Math.floor(x / cell);
  const at = column * rows + Math.min(rows - 1, Math.floor((y / height) * rows));
  return column >= columns || at >= strips.length ? null : at;
}
