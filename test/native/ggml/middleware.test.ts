import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { cpuQuota } from '../../support/cpu-quota.ts';
import { slowModelPath } from '../../support/gguf.ts';
import { isOnPath, whyNoNativeTests } from '../../support/native-programs.ts';
import { addonFile, buildArm, modulesFolder, runArm } from './run-arm.ts';

const reason = whyNoNativeTests();

if (reason !== undefined) it('the middleware', ({ skip }) => skip(reason));

describe.skipIf(reason !== undefined)('the middleware in node-llama-cpp', () => {
  beforeAll(buildArm, 300_000);

  it.each([false, true])(
    'gives the ids and probabilities of plain llama.cpp, bit by bit, over 256 tokens (flash attention: %s)',
    async (flashAttention) => {
      const plain = await runArm({ arm: 'plain', count: 256, flashAttention });
      const pool = await runArm({ arm: 'pool', count: 256, flashAttention });
      const nodes = await runArm({ arm: 'nodes', count: 256, flashAttention });
      expect(pool.ids).toEqual(plain.ids);
      expect(pool.hash).toBe(plain.hash);
      expect(nodes.hash).toBe(plain.hash);
      expect(plain.stats.graphs, 'plain computes without us').toBe(0);
      expect(pool.stats.units, 'every expert FFN is a unit').toBe(pool.stats.graphs * 4);
      expect(nodes.stats.units).toBe(0);
      expect(pool.stats.plans, 'decode graphs are planned once').toBeLessThan(8);
      expect(pool.stats.expertHits).toHaveLength(4);
    },
  );

  it('differs from plain by rounding only where a prompt is fed in a batch', async () => {
    const plain = await runArm({ scenario: 'teach', arm: 'plain' });
    const pool = await runArm({ scenario: 'teach', arm: 'pool' });
    const rows = plain.logits ?? [];
    expect(rows.length).toBe(96);
    let difference = 0;
    let size = 0;
    rows.forEach((row, index) => {
      row.forEach((value, token) => {
        difference += (value - (pool.logits?.[index]?.[token] ?? 0)) ** 2;
        size += value ** 2;
      });
    });
    expect(difference / size).toBeLessThan(1e-3);
  });

  it('keeps two contexts apart that generate at once', async () => {
    const alone = await runArm({ count: 48 });
    const both = await runArm({ scenario: 'two', count: 48 });
    expect(both.hashes).toEqual([alone.hash, alone.hash]);
    expect(both.stats.failed).toBe(0);
  });

  it('is installed and removed again and again, with contexts that outlive it', async () => {
    const { hashes = [], stats } = await runArm({ scenario: 'rounds', count: 10 });
    expect(hashes).toHaveLength(15);
    expect(new Set(hashes).size).toBe(1);
    expect(stats.installed).toBe(false);
    expect(stats.backends).toBe(0);
  });

  it('stops inside a prefill and goes on cleanly', async ({ annotate }) => {
    const model = slowModelPath();
    const stopped = await runArm({ scenario: 'stop', model });
    const undisturbed = await runArm({ count: 16, model });
    await annotate(`prefill ${stopped.prefillMs?.toFixed(0)} ms, stopped within ${stopped.stopMs?.toFixed(1)} ms`);
    expect(stopped.failed).toBe(true);

    expect(stopped.failedAgain, 'no further batch begins').toBe(true);
    expect(stopped.kept, 'the sequence stands at the last whole batch').toBe(true);
    expect(stopped.hash).toBe(undisturbed.hash);
  });

  it('lets the process end while it generates', async () => {
    const { stats } = await runArm({ scenario: 'exit' });
    expect(stats.installed).toBe(true);
  });

  it.each(['test-ggml-wrong-release', 'test-ggml-missing-symbol'] as const)(
    'installs nothing and says why: %s',
    async (name) => {
      const refused = await runArm({ scenario: 'refused', addon: addonFile(name) });
      const stock = await runArm({ arm: 'stock', count: 8 });
      expect(refused.answer?.installed).toBe(false);
      expect(refused.answer?.reason).toMatch(
        name.includes('release') ? /v0\.0\.1.*v\d/ : /lacks ggml_graph_compute_of_another_time/,
      );
      expect(refused.hash).toBe(stock.hash);
      expect(refused.stats.graphs).toBe(0);
    },
  );

  it('keeps two builds of llama.cpp in one process apart', async ({ skip }) => {
    const { hashes = [], units = [], answer, stats } = await runArm({ scenario: 'registries' });
    if (hashes.length === 0) skip('the Vulkan build of llama.cpp does not load here');
    expect(answer?.reason).toMatch(/not said which one/);
    expect(hashes[0]).toBe(hashes[1]);
    expect(units.every((count) => count > 0)).toBe(true);
    expect(stats.registries).toHaveLength(2);
  });

  it.each([0, 1, 2, 7])('gives the same bits with %d threads', async (threads) => {
    const plain = await runArm({ arm: 'plain', count: 24 });
    const pool = await runArm({ count: 24, threads });
    expect(pool.hash).toBe(plain.hash);
  });

  it('refuses thread counts that make no sense, in words', async () => {
    for (const threads of [-1, 1.5, 9999]) {
      await expect(runArm({ count: 1, threads })).rejects.toThrow(/threads: expected a whole number/);
    }
  });

  it.skipIf(!isOnPath('taskset'))('works with a single core', async () => {
    const plain = await runArm({ arm: 'plain', count: 24 });
    const pool = await runArm({ count: 24, threads: 0 }, {}, ['taskset', '-c', '0']);
    expect(pool.hash).toBe(plain.hash);
    expect(pool.stats.pool?.threads).toBe(1);
  });

  it('works with half a core', async ({ skip }) => {
    const quota = cpuQuota(0.5);
    if (typeof quota === 'string') return skip(quota);
    try {
      const plain = await runArm({ arm: 'plain', count: 24 });
      const pool = await runArm({ count: 24, threads: 0 }, {}, quota.launcher);
      expect(pool.hash).toBe(plain.hash);
      expect(pool.stats.pool?.threads, 'a pool of two would spin its quota away').toBe(1);
    } finally {
      quota.remove();
    }
  });

  it.each(['nowhere/libggml-mine.so', '@node-llama-cpp/linux-x64/bins/linux-x64/libggml-cpu-x64.so'])(
    'works beside a backend that the user has named (GGML_BACKEND_PATH=%s)',
    async (file) => {
      const environment = { GGML_BACKEND_PATH: join(modulesFolder, file) };
      const plain = await runArm({ arm: 'plain', count: 8 }, environment);
      const pool = await runArm({ count: 8 }, environment);
      expect(pool.hash).toBe(plain.hash);
      expect(pool.stats.units).toBeGreaterThan(0);
    },
  );
});
