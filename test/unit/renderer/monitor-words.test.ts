import { describe, expect, it } from 'vitest';
import { chartData, niceTop, sameChart, type ChartSeries } from '../../../src/renderer/features/monitor/chart-data.ts';
import { headlineOf, lastSpeed, wakesIn } from '../../../src/renderer/features/monitor/engine-words.ts';
import { samplesCsv, samplesJson } from '../../../src/renderer/features/monitor/export-samples.ts';
import { toCsv } from '../../../src/renderer/lib/csv.ts';
import { formatBytes, formatCores, formatSince } from '../../../src/renderer/lib/format.ts';
import { sampleAt, sceneMarks, scene, workerOver } from '../../support/fake-telemetry.ts';

const gpu = {
  name: 'GPU "A", 24 GB',
  utilization: 0.5,
  memoryUsedBytes: 1,
  memoryTotalBytes: 2,
  powerWatts: null,
  temperatureCelsius: 40,
};

describe('headline', () => {
  const at = new Date(2026, 2, 2, 12, 41).getTime();
  const ladder = { step: 'asleep', since: at, wokeInMs: null, idleUnloadMinutes: 30 } as const;

  it('says step, figure and since when (bug: the 0.00 of another time)', () => {
    const { step, since, cores, coresUnit, awake } = headlineOf(ladder, sampleAt(at), at);
    expect([step, cores, coresUnit, awake]).toEqual(['Asleep', '0.00', 'cores over the last 10 s', false]);
    expect(since).toMatch(/^since 12:41/);
  });

  it('claims no 10 s before they are over (bug: a figure nobody measured)', () => {
    const { cores, coresUnit } = headlineOf(ladder, sampleAt(at, { appCores: 1.5, coresLast10s: null }), at);
    expect([cores, coresUnit]).toEqual(['1.50', 'cores, over less than 10 s']);
  });

  it('counts a wake in main’s time (bug: the page’s clock differs over SSH)', () => {
    const waking = { ...ladder, step: 'waking', since: at - 2100 } as const;
    expect(headlineOf(waking, sampleAt(at), at + 3_600_000).step).toBe('Waking · 2.1 s');
  });

  it('says what the last wake took and that never is never (bug: null minutes)', () => {
    const woken = { ...ladder, wokeInMs: 2100, idleUnloadMinutes: null };
    expect(headlineOf(woken, sampleAt(at), at).remark).toBe('The model stays in memory. The last wake took 2.1 s.');
  });
});

it('finds the last speed and all wakes (bug: an answer’s speed is gone with its last token)', () => {
  const samples = [
    sampleAt(500, { engine: { tokensPerSecond: 41 }, workers: [workerOver(0, 100, 0, { wakes: 3 })] }),
    sampleAt(1000, { workers: [workerOver(0, 0, 0, { wakes: 0 }), workerOver(1, 0, 0, { wakes: 2 })] }),
  ];
  expect([lastSpeed(samples, 'tokensPerSecond'), wakesIn(samples)]).toEqual([41, 5]);
});

describe('export', () => {
  it('quotes what CSV needs quoted (bug: a GPU’s name breaks the row)', () => {
    expect(toCsv(['a', 'b'], [['x,"y"', null]])).toBe('a,b\r\n"x,""y""",\r\n');
  });

  it('has one row a sample and as many cells in each (bug: columns shift when a core or worker goes)', () => {
    const csv = samplesCsv([
      sampleAt(0, { cores: [0.5, 0.25, 1], gpus: [gpu], workers: [workerOver(0, 100, 20)] }),
      sampleAt(500, { cores: [] }),
    ]);
    const rows = csv.trimEnd().split('\r\n');
    const cells = rows.map((row) => row.replaceAll(/"(?:[^"]|"")*"/g, 'x').split(',').length);
    expect(rows.length).toBe(3);
    expect(new Set(cells).size).toBe(1);
    const column = (name: string) => rows[0]!.split(',').indexOf(name);
    const first = rows[1]!.replaceAll(/"(?:[^"]|"")*"/g, 'x').split(',');
    expect(first[0]).toBe('1970-01-01T00:00:00.000Z');
    expect([first[column('core2')], first[column('worker0_spin_ms')], first[column('gpu0_celsius')]]).toEqual([
      '1',
      '20',
      '40',
    ]);
    expect(rows[2]!.split(',')[column('core2')]).toBe('');
  });

  it('gives JSON back as it came (bug: rounded or renamed values)', () => {
    const samples = scene(0, 3, { cores: 2, threads: 2, gpu: true });
    expect(JSON.parse(samplesJson(samples, sceneMarks(0)))).toEqual({ samples, marks: sceneMarks(0) });
  });
});

describe('chart data', () => {
  const series: readonly ChartSeries[] = [
    { key: 'app', label: 'app', look: 'area', valueOf: ({ appCores }) => appCores },
  ];
  const data = (samples: ReturnType<typeof scene>, top: number | null = null) =>
    chartData({ samples, marks: [], range: 60, series, top, leastTop: 1 });
  const rest = (count: number, cores = 0) =>
    Array.from({ length: count }, (_, at) => sampleAt((at + 1) * 500, { appCores: cores }));

  it('never has more than 120 points (bug: recharts slows down at 120 s)', () => {
    expect(data(rest(240)).points.length).toBe(120);
  });

  it('is the same picture while nothing changes by a pixel (bug: recharts redraws a flat line twice a second)', () => {
    expect(sameChart(data(rest(200)), data(rest(201)), 100)).toBe(true);
    expect(sameChart(data(rest(200)), data(rest(201, 0.001)), 100)).toBe(true);
    expect(sameChart(data(rest(200)), data([...rest(200), sampleAt(100_500, { appCores: 0.5 })]), 100)).toBe(false);
  });

  it('has a gap where nobody measured (bug: a straight line over an hour)', () => {
    const samples = [...rest(10, 1), sampleAt(40_000, { appCores: 1 })];
    const values = data(samples).points.map(({ app }: Readonly<Record<string, number | null>>) => app);
    expect([values.at(-1), values.at(-2), values.at(-75)]).toEqual([1, null, 1]);
  });

  it('joins requests that touch (bug: hundreds of marks, each an element in every chart)', () => {
    const marks = Array.from({ length: 300 }, (_, index) => {
      const startedAt = 41_000 + index * 100;
      return { id: `${index}`, source: 'api', startedAt, endedAt: startedAt + 90 } as const;
    });
    const apart = { id: 'apart', source: 'chat', startedAt: 90_000, endedAt: 91_000 } as const;
    const { requests } = chartData({
      samples: rest(200),
      marks: [apart, ...marks],
      range: 60,
      series,
      top: null,
      leastTop: 1,
    });
    expect(requests.map(({ id }) => id)).toEqual(['0', 'apart']);
    expect(requests[1]!.from).toBe(-10);
  });

  it('tops the axis at a round value above all (bug: a curve that is cut off)', () => {
    expect([0.9, 1, 1.1, 7.8, 41.9, 260].map(niceTop)).toEqual([1, 1, 2, 10, 50, 500]);
  });
});

describe('formats', () => {
  it('never shows a negative zero and picks the unit (bug: -0.00 cores, 0.0 GB)', () => {
    expect([-0.001, 0.004, 6.98].map(formatCores)).toEqual(['0.00', '0.00', '6.98']);
    expect([6 * 2 ** 20, 1023 * 2 ** 20, 15.8 * 2 ** 30].map(formatBytes)).toEqual(['6 MB', '1.0 GB', '15.8 GB']);
  });

  it('says the day when it was another one (bug: asleep since 12:41, but yesterday)', () => {
    const now = new Date(2026, 2, 2, 8, 0).getTime();
    expect(formatSince(new Date(2026, 2, 2, 7, 5).getTime(), now)).toMatch(/^07:05$/);
    expect(formatSince(new Date(2026, 1, 28, 7, 5).getTime(), now)).toMatch(/28.*07:05/);
  });
});
