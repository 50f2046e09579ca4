/** Pixels. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface LaneGrid {
  readonly columns: number;
  readonly height: number;
  /** In the order of the cores, row by row. The label stands left of the box, in `labelWidth`. */
  readonly lanes: readonly Box[];
  readonly labelWidth: number;
}

const targetHeight = 208;
const mostLaneHeight = 56;
export const leastLaneHeight = 14;
const leastLaneWidth = 44;
const columnGap = 12;
/** A lane is easiest to read about three times as wide as high. */
const bestRatio = 3.4;

/** Lays out one lane for each of `count` cores, from one wide lane to a grid of 128 small ones. CSS pixels. */
export function laneGrid(count: number, width: number): LaneGrid {
  const labelWidth = count > 100 ? 24 : count > 10 ? 18 : 12;
  const room = labelWidth + leastLaneWidth + columnGap;
  const most = Math.max(1, Math.min(count, Math.floor((width + columnGap) / room)));
  let best = gridOf(count, width, 1, labelWidth);
  for (let columns = 2; columns <= most; columns += 1) {
    const grid = gridOf(count, width, columns, labelWidth);
    if (badness(grid, count) < badness(best, count)) best = grid;
  }
  return best;
}

function gridOf(count: number, width: number, columns: number, labelWidth: number): LaneGrid {
  const rows = Math.ceil(count / columns);
  const rowGap = rows > 6 ? 6 : 10;
  const fitting = Math.floor((targetHeight - (rows - 1) * rowGap) / rows);
  const height = Math.max(leastLaneHeight, Math.min(mostLaneHeight, fitting));
  const cell = (width + columnGap) / columns;
  const lanes = Array.from({ length: count }, (_, at) => ({
    x: Math.round((at % columns) * cell) + labelWidth,
    y: Math.floor(at / columns) * (height + rowGap),
    width: Math.max(1, Math.floor(cell - columnGap - labelWidth)),
    height,
  }));
  return { columns, height: rows * height + (rows - 1) * rowGap, lanes, labelWidth };
}

/** Too high is worst, then lanes out of shape, then an unfilled last row. */
function badness({ columns, height, lanes }: LaneGrid, count: number): number {
  const first = lanes[0];
  if (first === undefined) return 0;
  const shape = Math.abs(Math.log(first.width / first.height / bestRatio));
  const empty = (Math.ceil(count / columns) * columns - count) / count;
  return Math.max(0, height - targetHeight) / 20 + shape + 2 * empty;
}

/** The lane at a point, label and gaps included in the lane they belong to; null outside. */
export function laneAt({ columns, lanes, labelWidth }: LaneGrid, x: number, y: number): number | null {
  const first = lanes[0];
  if (first === undefined) return null;
  const next = lanes[1] ?? first;
  const cellWidth = columns > 1 ? next.x - first.x : first.width + labelWidth;
  const rowHeight = (lanes[columns]?.y ?? first.height) || first.height;
  const column = Math.floor((x + columnGap / 2) / cellWidth);
  const at = Math.floor(y / rowHeight) * columns + column;
  return x < 0 || y < 0 || column >= columns || at >= lanes.length ? null : at;
}
