import { expect, it } from 'vitest';
import { SlotQueue } from '../../../src/main/base/index.ts';

function bench(slots: number) {
  const queue = new SlotQueue();
  queue.setSlots(slots);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const task = (name: string) => () => {
    begun.push(name);
    return new Promise<void>((end) => ends.set(name, end));
  };
  const end = async (name: string) => {
    ends.get(name)?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { queue, begun, task, end };
}

it('fills its slots within the call and keeps the order (bug: a later one overtakes)', async () => {
  const { queue, begun, task, end } = bench(2);
  for (const name of ['a', 'b', 'c', 'd']) void queue.run(task(name));
  expect(begun).toEqual(['a', 'b']);
  await end('b');
  expect(begun).toEqual(['a', 'b', 'c']);
});

it('who wants to be alone waits for all before, and all after wait for it', async () => {
  const { queue, begun, task, end } = bench(3);
  void queue.run(task('a'));
  void queue.run(task('b'));
  void queue.runAlone(task('alone'));
  void queue.run(task('c'));
  await end('a');
  expect(begun).toEqual(['a', 'b']);
  await end('b');
  expect(begun).toEqual(['a', 'b', 'alone']);
  await end('alone');
  expect(begun).toEqual(['a', 'b', 'alone', 'c']);
});

it('who gives up leaves the line at once and lets others through (bug: a ghost holds its place)', async () => {
  const { queue, begun, task, end } = bench(2);
  void queue.run(task('a'));
  const gone = new AbortController();
  const left = queue.runAlone(() => Promise.resolve('gave up'), gone.signal);
  void queue.run(task('b'));
  expect(begun).toEqual(['a']);
  gone.abort();
  expect(await left).toBe('gave up');
  expect(begun).toEqual(['a', 'b']);
  await end('a');
});

it('goes on after a task that fails', async () => {
  const { queue, begun, task } = bench(1);
  await expect(queue.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  await new Promise((resolve) => setImmediate(resolve));
  void queue.run(task('a'));
  expect(begun).toEqual(['a']);
});
