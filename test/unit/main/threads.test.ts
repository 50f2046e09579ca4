import { describe, expect, it } from 'vitest';
import { autoThreads, cgroupQuota } from '../../../src/main/engine/threads.ts';

const big = 20e9;

describe('autoThreads', () => {
  it.each([
    [{ available: 16, mathCores: 8, quota: null, modelBytes: big }, 8, 'hyperthreads counted'],
    [{ available: 4, mathCores: 8, quota: null, modelBytes: big }, 4, 'affinity ignored'],
    [{ available: 16, mathCores: 8, quota: 2.5, modelBytes: big }, 2, 'quota rounded up'],
    [{ available: 16, mathCores: 8, quota: 0.5, modelBytes: big }, 1, 'no thread at all'],
    [{ available: 16, mathCores: 8, quota: null, modelBytes: 6e6 }, 1, 'threads fighting over a tiny model'],
  ])('%o -> %i (else: %s)', (facts, expected, _mistake) => {
    expect(autoThreads(facts)).toBe(expected);
  });
});

describe('cgroupQuota', () => {
  const files = (content: Record<string, string>) => (path: string) => {
    const text = content[path];
    if (text === undefined) throw new Error('ENOENT');
    return text;
  };

  it('takes the tightest limit on the way up (a container inside a limited slice)', () => {
    const read = files({
      '/proc/self/cgroup': '0::/slice/pod\n',
      '/sys/fs/cgroup/slice/pod/cpu.max': 'max 100000\n',
      '/sys/fs/cgroup/slice/cpu.max': '150000 100000\n',
    });
    expect(cgroupQuota(read)).toBe(1.5);
  });

  it('reads the limit at the root of a container', () => {
    expect(cgroupQuota(files({ '/proc/self/cgroup': '0::/\n', '/sys/fs/cgroup/cpu.max': '200000 100000\n' }))).toBe(2);
  });

  it('is null without cgroups and without a limit', () => {
    expect(cgroupQuota(files({}))).toBeNull();
    expect(cgroupQuota(files({ '/proc/self/cgroup': '0::/a\n' }))).toBeNull();
  });
});
