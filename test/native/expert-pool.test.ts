import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { addonPath as builtPath } from '../../scripts/lib/native.mjs';
import { root } from '../../scripts/lib/paths.mjs';
import { addonPath, loadExpertPoolAddon } from '../../src/main/engine/expert-pool.ts';
import type { ExpertPool, ExpertPoolAddon, PoolSettings } from '../../src/main/engine/expert-pool.ts';
import { whyNoNativeTests } from '../support/native-programs.ts';
import { waitFor } from '../support/wait-for.ts';

const reason = whyNoNativeTests();

function addon(): ExpertPoolAddon {
  const outcome = loadExpertPoolAddon(addonPath(root));
  if (!outcome.ok) throw new Error(`${outcome.error.message} ${outcome.error.hint}`);
  return outcome.addon;
}

function pool(settings: PoolSettings): ExpertPool {
  const created = addon().createPool(settings);
  onTestFinished(() => created.destroy());
  return created;
}

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'dormouse-addon-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

describe('loading', () => {
  it('an addon that was not built is a value with what to install', () => {
    const outcome = loadExpertPoolAddon('/nowhere/dormouse.node', 'linux');
    expect(outcome).toMatchObject({ ok: false, error: { code: 'pool_not_built' } });
    expect(outcome.ok ? '' : outcome.error.hint).toContain('apt-get install cmake g++');
  });

  it('a file that is no addon is a value, not an exception', async () => {
    const path = join(await temporaryFolder(), 'dormouse.node');
    await writeFile(path, 'not a library');
    expect(loadExpertPoolAddon(path)).toMatchObject({ ok: false, error: { code: 'pool_not_loadable' } });
  });

  it('the path is the one that the build writes', () => {
    expect(addonPath(root)).toBe(builtPath);
  });
});

describe('the addon', () => {
  if (reason !== undefined) {
    it('cannot be built', ({ skip }) => skip(reason));
    return;
  }

  it('computes and counts', async () => {
    const two = pool({ threads: 2, spinMs: 5 });
    const outcome = await two.selfTest({ runs: 200, chunks: 8, chunkMicroseconds: 5 });
    expect(outcome.status).toBe('completed');
    const stats = two.stats();
    expect(stats).toMatchObject({ epoch: 200, jobs: 1600, threads: 2, spinMs: 5 });
    expect(stats.workers).toHaveLength(1);
    expect(stats.workers[0]!.id).toBe(1);
    expect(structuredClone(stats)).toEqual(stats);
  });

  it('is asleep after its spin budget, and spins with "always"', async () => {
    const two = pool({ threads: 2, spinMs: 1 });
    await two.selfTest({ runs: 3 });
    await waitFor('the worker asleep', () => two.stats().workers[0]!.state === 'asleep');
    two.configure({ spinMs: 'always' });
    expect(two.stats().spinMs).toBe('always');
    await two.selfTest({ runs: 50, chunks: 64 });
    two.configure({ spinMs: 0 });
    await waitFor('the worker asleep', () => two.stats().workers[0]!.state === 'asleep');
    expect(await two.quiesce()).toBe(true);
    two.park();
  });

  it('refuses what is out of range, and everything once it is destroyed', () => {
    const native = addon();
    expect(() => native.createPool({ threads: 1.5 })).toThrow(/threads: expected a whole number from 0 to 1024/);
    expect(() => native.createPool({ spinMs: -1 })).toThrow(/spinMs: expected 0 to 1000000/);
    expect(() => native.createPool({ affinity: 'some' as 'off' })).toThrow(/affinity: expected/);
    const gone = native.createPool({ threads: 2 });
    gone.destroy();
    gone.destroy();
    expect(() => gone.stats()).toThrow(/destroyed/);
  });

  it('can be destroyed while a self-test runs on it', async () => {
    const two = addon().createPool({ threads: 2 });
    const running = two.selfTest({ runs: 1_000_000, chunks: 4, chunkMicroseconds: 20 });
    await waitFor('the first epoch', () => two.stats().epoch > 0);
    two.destroy();
    expect((await running).status).toBe('stopped');
  });

  it('counts this machine and knows its llama.cpp', () => {
    const native = addon();
    const topology = native.topology();
    expect(topology.physicalCores).toBeGreaterThanOrEqual(1);
    expect(topology.autoThreads).toBeLessThanOrEqual(topology.physicalCores);
    expect(native.llamaRelease).toMatch(/^v\d/);
  });

  it('lets Node exit with a pool that nobody destroyed', async () => {
    const copy = join(await temporaryFolder(), 'dormouse.node');
    await copyFile(addonPath(root), copy);
    const script = `const { Pool } = require(${JSON.stringify(copy)}); const pool = new Pool({ threads: 3, spinMs: 'always' });
      pool.selfTest({ runs: 10 }).then((outcome) => console.log(outcome.status));`;
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], { timeout: 120_000 });
    expect(stdout.trim()).toBe('completed');
  });
});
