import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../../src/main/base/index.ts';
import type { SleepStep } from '../../../src/main/contract/index.ts';
import { addonPath, LlamaEngine, loadExpertPoolAddon } from '../../../src/main/engine/index.ts';
import { ask, builtinLoad, createEngine, requestOf, unwrap } from '../../support/engine.ts';
import { slowModelPath } from '../../support/gguf.ts';
import { temporaryFolder } from '../../support/temp-folder.ts';
import { waitFor } from '../../support/wait-for.ts';

const built = existsSync(addonPath(fileURLToPath(new URL('../../..', import.meta.url))));
const withPool = { on: true, threads: 2, affinity: 'off', spinMs: 5 } as const;

describe.skipIf(!built)('the pool in the engine (skipped: the addon is not built, install cmake and g++)', () => {
  it('computes the experts, falls asleep after the answer, and answers as without it', async () => {
    const engine = createEngine();
    unwrap(await engine.load({ ...builtinLoad, pool: withPool }));
    expect(engine.status().pool).toMatchObject({ installed: true, reason: null, threads: 2, spinMs: 5 });
    const steps: SleepStep[] = [];
    engine.on((event) => {
      const step = event.type === 'status' ? event.status.sleep?.step : undefined;
      if (step !== undefined && steps.at(-1) !== step) steps.push(step);
    });
    const jobs = engine.poolStats()?.jobs ?? 0;
    expect((await ask(engine, 'What is the capital city of Norway, please?')).text).toBe(
      'The capital of Norway is Oslo.',
    );
    expect(engine.poolStats()?.jobs).toBeGreaterThan(jobs);
    await waitFor('all workers asleep', () => engine.status().sleep?.step === 'asleep');
    expect(steps[0]).toBe('computing');
    expect(steps.at(-1)).toBe('asleep');
    expect(engine.poolStats()?.workers.map(({ state }) => state)).toEqual(['asleep']);
    await engine.close();
  });

  it('is taken out with --pool off and put in again by the next load', async () => {
    const engine = createEngine();
    unwrap(await engine.load({ ...builtinLoad, pool: { ...withPool, on: false } }));
    expect(engine.status().pool).toMatchObject({ installed: false });
    expect(engine.status().pool?.reason).toMatch(/--pool off/);
    expect((await ask(engine, 'What is 8 plus 6, please?')).text).toBe('8 + 6 = 14.');
    expect(engine.status().sleep).toBeNull();
    unwrap(await engine.load({ ...builtinLoad, pool: withPool }));
    expect(engine.status().pool).toMatchObject({ installed: true });
    expect((await ask(engine, 'What is 8 plus 6, please?')).text).toBe('8 + 6 = 14.');
    await engine.close();
  });

  it('stops in the middle of one huge batch: no further batch begins', async () => {
    const engine = createEngine();
    unwrap(
      await engine.load({ ...builtinLoad, builtin: false, path: slowModelPath(), batchSize: 2048, pool: withPool }),
    );
    const request = requestOf('mouse '.repeat(5000), { sampling: { temperature: 0, maxTokens: 1 } });
    const off = engine.on((event) => {
      if (event.type === 'status' && event.status.prefill !== null) setImmediate(() => engine.stop(request.id));
    });
    const outcome = unwrap(await engine.generate(request));
    off();
    expect(outcome).toMatchObject({ stopReason: 'stopped', timings: { promptTokensEvaluated: 0, predictedTokens: 0 } });
    const next = await ask(engine, 'mouse', { sampling: { temperature: 0, maxTokens: 3 } });
    expect(next.timings.predictedTokens).toBe(3);
    await engine.close();
  });
});

it('without an addon the engine works on llama.cpp’s own threads and says what is missing', async () => {
  const missing = loadExpertPoolAddon(addonPath(temporaryFolder()));
  if (missing.ok) throw new Error('there is an addon in an empty folder');
  expect(missing.error).toMatchObject({ code: 'pool_not_built' });
  expect(missing.error.hint).toMatch(/cmake|CMake/);
  const engine = new LlamaEngine({ logger: silentLogger, middleware: { missing: missing.error.message } });
  unwrap(await engine.load(builtinLoad));
  expect(engine.status()).toMatchObject({ pool: { installed: false, reason: missing.error.message }, sleep: null });
  expect((await ask(engine, 'What is 8 plus 6, please?')).text).toBe('8 + 6 = 14.');
  await engine.close();
});
