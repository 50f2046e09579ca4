import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/main/base/index.ts';
import {
  coreReader,
  memoryReader,
  processCpuTime,
  Sampler,
  type EngineReading,
} from '../../../src/main/telemetry/index.ts';
import { waitFor } from '../../support/wait-for.ts';

const engine: EngineReading = {
  engine: {
    ...{ state: 'ready', tokensPerSecond: null, promptTokensPerSecond: null },
    ...{ timeToFirstTokenMs: null, contextUsed: null, contextSize: null },
  },
  ladder: 'asleep',
  modelBytes: null,
  workers: [],
};

/** What the system counts in ticks of 10 ms: user and system time of this process, and of all cores, in ms. */
function systemSays() {
  const own = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
    .map(Number);
  const all = /^cpu +(.*)$/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1]?.split(' ').map(Number) ?? [];
  const busy = [0, 1, 2, 5, 6, 7].reduce((sum, at) => sum + (all[at] ?? 0), 0);
  return { own: ((own[11] ?? 0) + (own[12] ?? 0)) * 10, busy: busy * 10 };
}

describe.skipIf(process.platform !== 'linux')(
  'figures of the machine (skipped: they are compared with Linux’s own)',
  () => {
    it('agree with what the system says about a thread that burns one core', async () => {
      const sampler = new Sampler({
        clock: systemClock,
        cores: coreReader(),
        cpuTime: processCpuTime,
        memory: memoryReader(),
        gpus: { reason: null, start: () => undefined, stop: () => undefined, read: () => [] },
        engine: () => engine,
      });
      onTestFinished(() => sampler.unwatch());
      const burner = new Worker('for (;;);', { eval: true });
      onTestFinished(() => void burner.terminate());
      const seen = { ours: 0, cores: 0, first: systemSays(), last: systemSays(), samples: 0 };
      sampler.on((sample) => {
        seen.last = systemSays();
        // The first one only says where to begin.
        if (seen.samples++ === 0) {
          seen.first = seen.last;
          return;
        }
        seen.ours += sample.appCores * sample.elapsedMs;
        seen.cores += sample.cores.reduce((sum, share) => sum + share, 0) * sample.elapsedMs;
        expect(sample.memory.rssBytes).toBeGreaterThan(1_000_000);
        expect(sample.memory.availableBytes).toBeLessThan(sample.memory.totalBytes);
      });
      sampler.watch();
      await waitFor('1.5 s of work', () => seen.last.own - seen.first.own > 1500, { timeoutMs: 40_000 });
      const own = seen.last.own - seen.first.own;
      const busy = seen.last.busy - seen.first.busy;
      expect(Math.abs(seen.ours - own), `process: ${seen.ours} ms, the system says ${own} ms`).toBeLessThan(own * 0.3);
      expect(seen.cores, `cores: ${seen.cores} ms, the system says ${busy} ms`).toBeGreaterThan(busy * 0.7);
      expect(seen.cores).toBeLessThan(busy * 1.3 + 100);
      expect(seen.cores, 'the thread’s work is part of the cores’').toBeGreaterThan(own * 0.7);
    });
  },
);
