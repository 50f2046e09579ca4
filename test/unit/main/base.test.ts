import { describe, expect, it, vi } from 'vitest';
import { Emitter, SerialQueue, withinTime } from '../../../src/main/base/index.ts';

describe('SerialQueue', () => {
  it('runs in order, one at a time, and goes on after a failure', async () => {
    const queue = new SerialQueue();
    const log: string[] = [];
    const task = (name: string, fails: boolean) => () =>
      Promise.resolve()
        .then(() => log.push(`${name} begins`))
        .then(() => {
          log.push(`${name} ends`);
          if (fails) throw new Error(name);
        });
    const results = await Promise.allSettled([queue.run(task('a', true)), queue.run(task('b', false))]);
    expect(log).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  });
});

describe('Emitter', () => {
  it('a listener that throws or leaves does not keep others from hearing', () => {
    const errors: unknown[] = [];
    const emitter = new Emitter<number>((error) => errors.push(error));
    const heard: number[] = [];
    emitter.on(() => {
      throw new Error('bad');
    });
    const off = emitter.on((value) => {
      off();
      heard.push(value);
    });
    emitter.on((value) => heard.push(value * 10));
    emitter.emit(1);
    emitter.emit(2);
    expect(heard).toEqual([1, 10, 20]);
    expect(errors).toHaveLength(2);
  });
});

describe('withinTime', () => {
  it('tells a promise that settles from one that never does, and passes an error on', async () => {
    vi.useFakeTimers();
    expect(await withinTime(Promise.resolve(), 1000)).toBe(true);
    await expect(withinTime(Promise.reject(new Error('no')), 1000)).rejects.toThrow('no');
    const never = withinTime(new Promise(() => undefined), 1000);
    vi.advanceTimersByTime(1000);
    expect(await never).toBe(false);
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
  });
});
