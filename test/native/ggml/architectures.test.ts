import { beforeAll, describe, expect, it } from 'vitest';
import { expertLayers, moeModelPath, moeModels } from '../../support/moe-models.ts';
import { whyNoNativeTests } from '../../support/native-programs.ts';
import { buildArm, runArm } from './run-arm.ts';

const reason = whyNoNativeTests();

if (reason !== undefined) it('the middleware on other architectures', ({ skip }) => skip(reason));

describe.skipIf(reason !== undefined)('the middleware on other architectures', () => {
  beforeAll(buildArm, 300_000);

  it.each(moeModels)('%s: every expert FFN is a unit, and the bits are those of plain llama.cpp', async (name) => {
    const model = moeModelPath(name);
    const plain = await runArm({ arm: 'plain', model, count: 40 });
    const pool = await runArm({ arm: 'pool', model, count: 40 });
    expect(new Set(plain.ids).size, 'a text, not one token again and again').toBeGreaterThan(5);
    expect(pool.ids).toEqual(plain.ids);
    expect(pool.hash).toBe(plain.hash);
    expect(pool.stats.units).toBe(pool.stats.graphs * expertLayers(name));
    expect(pool.stats.failed).toBe(0);
  });

  it.each(moeModels)('%s: a prompt in a batch differs by rounding only', async (name) => {
    const model = moeModelPath(name);
    const plain = await runArm({ scenario: 'teach', arm: 'plain', model });
    const pool = await runArm({ scenario: 'teach', arm: 'pool', model });
    let difference = 0;
    let size = 0;
    plain.logits?.forEach((row, index) => {
      row.forEach((value, token) => {
        difference += (value - (pool.logits?.[index]?.[token] ?? 0)) ** 2;
        size += value ** 2;
      });
    });
    expect(size).toBeGreaterThan(0);
    expect(difference / size).toBeLessThan(1e-3);
  });
});
