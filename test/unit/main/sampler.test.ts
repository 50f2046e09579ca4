import { beforeEach, expect, it } from 'vitest';
import type { TelemetrySample } from '../../../src/main/contract/index.ts';
import { leaseMs, Sampler, type EngineReading } from '../../../src/main/telemetry/index.ts';
import { movedVisibly } from '../../../src/main/telemetry/visible-change.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const asleepEngine: EngineReading = {
  engine: {
    ...{ state: 'ready', tokensPerSecond: null, promptTokensPerSecond: null },
    ...{ timeToFirstTokenMs: null, contextUsed: 0, contextSize: 512 },
  },
  ladder: 'asleep',
  modelBytes: 5,
  workers: [],
};

let clock: ManualClock;
let engine: EngineReading;
let busy: number;
let cards: string[];
let heard: TelemetrySample[];
let sampler: Sampler;
beforeEach(() => {
  clock = new ManualClock();
  [engine, busy, cards, heard] = [asleepEngine, 0, [], []];
  sampler = new Sampler({
    clock,
    cores: () => [{ busy, total: clock.elapsed() }],
    cpuTime: () => clock.elapsed() / 4,
    memory: () => ({ rssBytes: 1, availableBytes: 50, totalBytes: 100 }),
    gpus: {
      reason: 'none here',
      start: () => cards.push('start'),
      stop: () => cards.push('stop'),
      read: () => [],
    },
    engine: () => engine,
  });
  sampler.on((sample) => heard.push(sample));
});

it('unwatched there is no timer, no card is asked, and nothing is read', () => {
  clock.advance(3_600_000);
  expect([clock.timers, cards, heard]).toEqual([[], [], []]);
});

it('the first sample comes half a second after the first look and is over that time alone', () => {
  clock.advance(50_000);
  sampler.watch();
  busy += 125;
  clock.advance(499);
  expect(heard).toEqual([]);
  clock.advance(1);
  expect(heard).toMatchObject([
    { at: clock.now(), elapsedMs: 500, cores: [0.25], appCores: 0.25, coresLast10s: null, ladder: 'asleep' },
  ]);
});

it('twice a second while something moves, every other second while nothing does, and at once when work begins', () => {
  sampler.watch();
  for (let at = 0; at < 4000; at += 500) {
    busy += at % 1000 === 0 ? 500 : 0;
    clock.advance(500);
  }
  expect(heard, '2 Hz').toHaveLength(8);
  clock.advance(4500);
  heard = [];
  sampler.watch();
  clock.advance(10_000);
  expect(heard, '0.5 Hz').toHaveLength(5);
  clock.advance(1900);
  sampler.nudge();
  clock.advance(1);
  expect(heard, 'an engine that begins to work is not looked at a second and a half later').toHaveLength(6);
  clock.advance(500);
  expect(heard).toHaveLength(7);
});

it('a slow drift is a change too: each sample differs from the one before by less than can be seen', () => {
  engine = { ...engine, ladder: 'computing' };
  sampler.watch();
  let share = 0;
  for (let at = 0; at < 40; at++) {
    share += 0.01;
    busy += share * 500;
    clock.advance(500);
    sampler.watch();
  }
  expect(heard).toHaveLength(40);
});

it('one tick of the system’s clock more or less is no change: a quiet machine would be sampled at full pace for ever', () => {
  sampler.watch();
  for (let at = 0; at < 8; at++) {
    busy += at % 2 === 0 ? 10 : 0;
    clock.advance(500);
  }
  expect(heard.length).toBeLessThan(8);
});

it('ends with the lease, and not before: a page that is gone costs nothing, one that asks again loses no sample', () => {
  sampler.watch();
  clock.advance(leaseMs - 100);
  expect(clock.timers).toHaveLength(1);
  sampler.watch();
  clock.advance(leaseMs - 100);
  expect(clock.timers).toHaveLength(1);
  clock.advance(2100);
  expect(clock.timers).toEqual([]);
  expect(sampler.watched).toBe(false);
  expect(cards).toEqual(['start', 'stop']);
});

it('several pages share one timer and one row of samples', () => {
  sampler.watch();
  clock.advance(200);
  sampler.watch();
  clock.advance(300);
  expect(heard).toHaveLength(1);
  expect(clock.timers).toHaveLength(1);
});

it('an early end leaves no timer, and the time until the next lease is in no sample', () => {
  sampler.watch();
  clock.advance(500);
  sampler.unwatch();
  expect(clock.timers).toEqual([]);
  busy += 1_000_000;
  clock.advance(60_000);
  sampler.watch();
  clock.advance(500);
  expect(heard.at(-1)).toMatchObject({ elapsedMs: 500, cores: [0] });
});

it('keeps 120 s and no more', () => {
  sampler.watch();
  for (let at = 0; at < 300_000; at += 1000) {
    busy += at % 2000 === 0 ? 1000 : 0;
    clock.advance(1000);
    sampler.watch();
  }
  const { samples } = sampler;
  expect(samples.length).toBeLessThanOrEqual(241);
  expect(samples[0]?.at).toBeGreaterThanOrEqual(clock.now() - 120_000);
  expect(samples.at(-1)?.coresLast10s).toBe(0.25);
});

it('leaves graphics cards alone while the engine rests, although somebody watches, and says so', () => {
  sampler.watch();
  clock.advance(1000);
  engine = { ...engine, ladder: 'light' };
  clock.advance(2000);
  expect(cards).toEqual(['start', 'stop']);
  expect(sampler.gpuReason).toMatch(/rests/);
  engine = { ...engine, ladder: 'computing' };
  sampler.nudge();
  clock.advance(2000);
  expect(cards).toEqual(['start', 'stop', 'start']);
  expect(sampler.gpuReason).toBe('none here');
});

it('pool threads are counted apart from the rest of the process', () => {
  const worker = (cpuMs: number) =>
    ({ id: 1, state: 'computing', benched: false, busyMs: cpuMs, spinMs: 0, asleepMs: 0, cpuMs, wakes: 0 }) as const;
  engine = { ...engine, workers: [worker(1000)] };
  sampler.watch();
  engine = { ...engine, workers: [worker(1400)] };
  clock.advance(500);
  expect(heard).toMatchObject([{ poolCores: 0.8, workers: [{ busyMs: 400, cpuMs: 400 }] }]);
});

it('each value that a chart shows counts as movement, and an equal sample does not', () => {
  sampler.watch();
  clock.advance(500);
  const one = heard[0]!;
  const worker = {
    id: 1,
    state: 'asleep',
    benched: false,
    busyMs: 0,
    spinMs: 0,
    asleepMs: 500,
    cpuMs: 0,
    wakes: 0,
  } as const;
  const base = { ...one, workers: [worker] };
  expect(movedVisibly(base, { ...base, at: base.at + 500 })).toBe(false);
  const others = { cores: [base.cores[0]! + 0.2] };
  const working = { ...base, ladder: 'computing' } as const;
  expect(movedVisibly(base, { ...base, ...others }), 'a Monitor kept awake by the browser that draws it').toBe(false);
  expect(movedVisibly(working, { ...working, ...others })).toBe(true);
  const changes: Partial<TelemetrySample>[] = [
    { cores: [base.cores[0]! + 0.3] },
    { cores: [0, 0] },
    { appCores: base.appCores + 0.02 },
    { poolCores: 0.02 },
    { workers: [{ ...worker, state: 'spinning' }] },
    { workers: [{ ...worker, benched: true }] },
    { workers: [{ ...worker, busyMs: 10 }] },
    { workers: [{ ...worker, spinMs: 10 }] },
    { workers: [] },
    { ladder: 'light' },
    { memory: { ...base.memory, rssBytes: 3 } },
    { memory: { ...base.memory, availableBytes: 48 } },
    { memory: { ...base.memory, modelBytes: null } },
    { engine: { ...base.engine, state: 'prefill' } },
    { engine: { ...base.engine, tokensPerSecond: 1 } },
    { engine: { ...base.engine, contextUsed: 1 } },
  ];
  for (const change of changes) expect(movedVisibly(base, { ...base, ...change }), JSON.stringify(change)).toBe(true);
});
