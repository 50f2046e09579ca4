import { describe, expect, it } from 'vitest';
import { alignedWindow, bucketMeans } from '../../../src/renderer/lib/bucket-means.ts';
import { laneAt, laneGrid, leastLaneHeight, type Box } from '../../../src/renderer/lib/lane-grid.ts';
import { pixelRuns, spanAt } from '../../../src/renderer/lib/pixel-runs.ts';
import { shareHeights, stateShares } from '../../../src/renderer/lib/state-shares.ts';
import { leastStripHeight, stripAt, stripRows } from '../../../src/renderer/lib/strip-rows.ts';

const counts = [1, 2, 3, 4, 7, 12, 16, 24, 28, 64, 96, 128];
const widths = [320, 620, 970, 1400];
const overlaps = (one: Box, other: Box) =>
  one.x < other.x + other.width &&
  other.x < one.x + one.width &&
  one.y < other.y + other.height &&
  other.y < one.y + one.height;
const faulty = (boxes: readonly Box[], width: number, height: number) =>
  boxes.filter(
    (box, at) =>
      box.x < 0 ||
      box.x + box.width > width ||
      box.y + box.height > height ||
      boxes.slice(0, at).some((other) => overlaps(box, other)),
  );

describe('laneGrid', () => {
  it.each(counts)('%i cores: no overlap, nothing outside, none too low (bug: lanes nobody can read)', (count) => {
    for (const width of widths) {
      const grid = laneGrid(count, width);
      expect(grid.lanes.length).toBe(count);
      expect(faulty(grid.lanes, width, grid.height)).toEqual([]);
      expect(Math.min(...grid.lanes.map((lane) => lane.height))).toBeGreaterThanOrEqual(leastLaneHeight);
      expect(Math.min(...grid.lanes.map((lane) => lane.width))).toBeGreaterThanOrEqual(32);
      // A label stands left of each lane.
      for (const { x } of grid.lanes) expect(x).toBeGreaterThanOrEqual(grid.labelWidth);
      const found = grid.lanes.map((lane) => laneAt(grid, lane.x + lane.width / 2, lane.y + lane.height / 2));
      expect(found).toEqual(grid.lanes.map((_, at) => at));
    }
  });

  it('keeps 128 cores on one screen of a desktop (bug: a page of lanes)', () => {
    expect(laneGrid(128, 970).height).toBeLessThan(320);
  });

  it('finds no lane where the last row has ended (bug: an undefined core)', () => {
    const grid = laneGrid(7, 970);
    expect(laneAt(grid, 969, grid.height - 1) ?? 6).toBe(6);
    expect(laneAt(grid, -1, 0)).toBeNull();
  });
});

describe('stripRows', () => {
  const rooms = [
    { target: 168, mostStripHeight: 18, labels: true },
    { target: 96, mostStripHeight: 9, labels: false },
  ];

  it.each(counts)('%i threads: no overlap, textures have room (bug: strips of one pixel)', (count) => {
    for (const [width, room] of widths.flatMap((wide) => rooms.map((one) => [wide, one] as const))) {
      const rows = stripRows(count, width, room);
      expect(faulty(rows.strips, width, rows.height)).toEqual([]);
      expect(Math.min(...rows.strips.map((strip) => strip.height))).toBeGreaterThanOrEqual(leastStripHeight);
      const found = rows.strips.map(({ x, y, width: wide, height }) => stripAt(rows, x + wide / 2, y + height / 2));
      expect(found).toEqual(rows.strips.map((_, at) => at));
    }
  });
});

describe('shares of a sample', () => {
  it('add up to the whole strip (bug: a strip with a hole)', () => {
    const shares = stateShares({ state: 'asleep', busyMs: 120, spinMs: 20, asleepMs: 360 });
    expect(shares.computing + shares.spinning + shares.asleep).toBeCloseTo(1);
    expect(shares.computing).toBeCloseTo(0.24);
  });

  it('belong to the state where nothing was counted (bug: a division by zero draws nothing)', () => {
    expect(stateShares({ state: 'spinning', busyMs: 0, spinMs: 0, asleepMs: 0 })).toEqual({
      computing: 0,
      spinning: 1,
      asleep: 0,
    });
  });

  it('show 20 ms of spinning, and never more than there is room (bug: the spin before sleep is invisible)', () => {
    expect(shareHeights({ computing: 0.2, spinning: 0.04, asleep: 0.76 }, 18, 2)).toEqual([4, 2]);
    expect(shareHeights({ computing: 0.99, spinning: 0.01, asleep: 0 }, 3, 2)).toEqual([1, 2]);
    expect(shareHeights({ computing: 0, spinning: 0, asleep: 1 }, 18, 2)).toEqual([0, 0]);
  });
});

describe('pixelRuns', () => {
  const window = { from: 0, to: 10_000 };
  const spans = (times: readonly number[], level: (at: number) => number) =>
    times.map((at) => ({ at, elapsedMs: 1000, level: level(at) }));
  const runs = (times: readonly number[], level: (at: number) => number, width = 100) =>
    pixelRuns(spans(times, level), window, width, 1, (span) => [span.level]);

  it('joins equal neighbours, so that a resting engine is one run however late it is (bug: redrawn at rest)', () => {
    const still = [1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000, 10_000];
    expect(runs(still, () => 0)).toEqual([0, 100, 0]);
    const later = pixelRuns(
      spans([...still.slice(1), 11_000], () => 0),
      { from: 1000, to: 11_000 },
      100,
      1,
      (span) => [span.level],
    );
    expect(later).toEqual([0, 100, 0]);
  });

  it('leaves a gap in time empty, and closes a late sampler’s crack (bug: a line through what nobody measured)', () => {
    expect(runs([1000, 2000, 8000, 9000], () => 5)).toEqual([0, 20, 5, 70, 90, 5]);
    expect(runs([1000, 2200], () => 5)).toEqual([0, 22, 5]);
    expect(
      spanAt(
        spans([1000, 2000, 8000], () => 5),
        5000,
      ),
    ).toBeNull();
    expect(
      spanAt(
        spans([1000, 2000, 8000], () => 5),
        7500,
      )?.at,
    ).toBe(8000);
  });

  it('gives the mean where samples share a pixel (bug: the last one wins)', () => {
    expect(runs([1000, 2000], (at) => (at === 1000 ? 0 : 10), 4)).toEqual([0, 1, 5]);
  });

  it('cuts what reaches out of the window (bug: drawing left of the strip)', () => {
    expect(runs([-500, 500], () => 3)).toEqual([0, 5, 3]);
  });
});

describe('bucketMeans', () => {
  const value = ({ value: it }: { readonly value: number | null }) => it;

  it('weights by time and leaves gaps out (bug: a slow sample counts as little as a quick one)', () => {
    const spans = [
      { at: 1000, elapsedMs: 1000, value: 4 },
      { at: 1500, elapsedMs: 500, value: 0 },
      { at: 2000, elapsedMs: 500, value: null },
      { at: 8000, elapsedMs: 2000, value: 6 },
    ];
    expect(bucketMeans(spans, { from: 0, to: 8000 }, 4, value)).toEqual([8 / 3, null, null, 6]);
  });

  it('keeps values in their bucket while time goes on (bug: the curve flickers at every sample)', () => {
    const early = alignedWindow(60_100, 60_000, 120);
    const late = alignedWindow(60_400, 60_000, 120);
    expect([early, late]).toEqual([
      { from: 500, to: 60_500 },
      { from: 500, to: 60_500 },
    ]);
  });
});
