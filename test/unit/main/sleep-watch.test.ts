import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { SleepStatus, SleepStep } from '../../../src/main/contract/index.ts';
import { SleepWatch } from '../../../src/main/engine/sleep-watch.ts';

let step: SleepStep;
let cpu: number;
let looks: number;
let heard: SleepStatus[];
let watch: SleepWatch;
beforeEach(() => {
  vi.useFakeTimers();
  [step, cpu, looks, heard] = ['asleep', 0, 0, []];
  watch = new SleepWatch({
    look: () => {
      looks++;
      return step;
    },
    cpuTime: () => cpu,
    now: Date.now,
    changed: (status) => heard.push(status),
  });
});
afterEach(() => vi.useRealTimers());

it('tells each step of falling asleep, then what sleeping costs, then looks no more', () => {
  watch.busy();
  step = 'spinning';
  watch.idle();
  vi.advanceTimersByTime(60);
  step = 'asleep';
  vi.advanceTimersByTime(20);
  const asleepAt = Date.now();
  expect(heard.map((status) => status.step)).toEqual(['computing', 'spinning', 'asleep']);
  cpu = 4000;
  vi.advanceTimersByTime(100);
  cpu += 2000;
  vi.advanceTimersByTime(10_000);
  expect(heard.at(-1)).toEqual({ step: 'asleep', since: asleepAt, cores: 0.0002 });
  const before = looks;
  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(3_600_000);
  expect(looks).toBe(before);
});

it('work in between ends the measurement: no figure of a time with work in it', () => {
  watch.idle();
  vi.advanceTimersByTime(5000);
  watch.busy();
  cpu = 9_000_000;
  vi.advanceTimersByTime(10_000);
  expect(heard.at(-1)).toMatchObject({ step: 'computing' });
  expect(watch.status.cores).toBeNull();
  expect(vi.getTimerCount()).toBe(0);
});

it('leaves no timer when it is closed', () => {
  step = 'spinning';
  watch.idle();
  watch.close();
  expect(vi.getTimerCount()).toBe(0);
});
