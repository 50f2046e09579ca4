import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { modelWeights } from '../../../src/main/engine/model-weights.ts';
import {
  bytesOf,
  gpuReserveBytes,
  planPlacement,
  totalOf,
  type ModelWeights,
  type PlacementInput,
} from '../../../src/main/engine/placement.ts';

const MB = 1e6;
const layer = { denseBytes: 50 * MB, expertBytes: 300 * MB };
const weights: ModelWeights = {
  inputBytes: 100 * MB,
  outputBytes: 100 * MB,
  layers: Array.from({ length: 8 }, () => layer),
  kvValuesPerToken: Array.from({ length: 8 }, () => 1024),
  vocabulary: 32_000,
  width: 2048,
  heads: 16,
};

const gpuOf = (freeBytes: number | null, sharesMemory = false) => ({ name: 'Card', freeBytes, sharesMemory });
const input: PlacementInput = {
  weights,
  gpu: gpuOf(24_000 * MB),
  ramFreeBytes: 32_000 * MB,
  noExpertsApart: null,
  ...{ gpuLayers: 'auto', cpuMoe: false, nCpuMoe: 'auto', contextSize: 4096, batchSize: 512 },
  ...{ kvType: 'f16', flashAttention: true, mmap: true },
};

function plan(changes: Partial<PlacementInput> = {}) {
  const result = planPlacement({ ...input, ...changes });
  if (!result.ok) throw new Error(`${result.error.message} ${result.error.hint}`);
  return result.data;
}

describe('what is auto', () => {
  it('puts everything on a card that is large enough (bug: experts in RAM without need)', () => {
    expect(plan()).toMatchObject({ gpuLayers: 9, cpuMoeLayers: 0, why: [] });
  });

  it('keeps the experts of as few layers in RAM as it must, before it gives up a layer (bug: layers given up first)', () => {
    const free = gpuReserveBytes + totalOf(bytesOf(input, 9, 5).gpu);
    expect(plan({ gpu: gpuOf(free) })).toMatchObject({ gpuLayers: 9, cpuMoeLayers: 5, gpuLeftBytes: 0 });
    expect(plan({ gpu: gpuOf(free - 1) })).toMatchObject({ gpuLayers: 9, cpuMoeLayers: 6 });
    expect(plan({ gpu: gpuOf(free) }).why).toEqual([expect.stringMatching(/experts of 5 of 8 layers stay in RAM/)]);
  });

  it('gives up layers when the dense part alone is too large, down to none (bug: out of memory at load)', () => {
    const free = gpuReserveBytes + totalOf(bytesOf(input, 3, 8).gpu);
    expect(plan({ gpu: gpuOf(free) })).toMatchObject({ gpuLayers: 3, cpuMoeLayers: 8 });
    expect(plan({ gpu: gpuOf(100 * MB) })).toMatchObject({ gpuLayers: 0, gpu: { dense: 0, kv: 0 } });
    expect(plan({ gpu: gpuOf(100 * MB) }).why[0]).toMatch(/too little free memory for a single layer/);
  });

  it('never moves experts without the native core, or where memory is shared (bug: a plan that nobody can follow)', () => {
    const free = gpuReserveBytes + totalOf(bytesOf(input, 9, 5).gpu);
    const without = plan({ gpu: gpuOf(free), noExpertsApart: 'No compiler.' });
    expect(without.cpuMoeLayers).toBe(0);
    expect(without.gpuLayers).toBeLessThan(9);
    expect(without.why).toContain('No compiler.');
    expect(plan({ gpu: gpuOf(20_000 * MB, true), cpuMoe: true })).toMatchObject({ cpuMoeLayers: 0, gpuLayers: 9 });
  });
});

describe('what is asked for', () => {
  it('is followed to the letter (bug: a number rounded or clamped in silence)', () => {
    expect(plan({ cpuMoe: true })).toMatchObject({ gpuLayers: 9, cpuMoeLayers: 8, gpu: { experts: 0 } });
    expect(plan({ nCpuMoe: 2, gpuLayers: 9 }).ram.experts).toBe(600 * MB);
    expect(plan({ gpuLayers: 99, nCpuMoe: 99 })).toMatchObject({ gpuLayers: 9, cpuMoeLayers: 8 });
    expect(plan({ gpu: null, cpuMoe: true })).toMatchObject({ gpuLayers: 0, gpuLeftBytes: null });
  });

  it('and does not fit is an error with changes that do fit (bug: advice that fails again)', () => {
    const free = gpuReserveBytes + totalOf(bytesOf(input, 9, 4).gpu);
    const wish = { ...input, gpu: gpuOf(free), gpuLayers: 9, nCpuMoe: 0 } as const;
    const refused = planPlacement(wish);
    if (refused.ok) throw new Error('it fits');
    expect(refused.error.code).toBe('out_of_memory');
    const hint = refused.error.hint ?? '';
    expect(hint).toMatch(/--n-cpu-moe 4/);
    expect(planPlacement({ ...wish, nCpuMoe: 4 }).ok).toBe(true);
    const layers = Number(/--gpu-layers (\d+)/.exec(hint)?.[1]);
    expect(planPlacement({ ...wish, gpuLayers: layers }).ok).toBe(true);
  });

  it('and needs the native core that is missing is an error that says so (bug: --cpu-moe ignored)', () => {
    const refused = planPlacement({ ...input, cpuMoe: true, noExpertsApart: 'No compiler.' });
    expect(refused).toMatchObject({ ok: false, error: { code: 'placement_impossible' } });
  });

  it('and cannot be held in RAM is an error; a mapped file may be larger (bug: swapped to death)', () => {
    expect(planPlacement({ ...input, cpuMoe: true, mmap: false, ramFreeBytes: 1000 * MB })).toMatchObject({
      ok: false,
      error: { code: 'out_of_memory', hint: expect.stringMatching(/--mmap on/) as string },
    });
    expect(plan({ cpuMoe: true, ramFreeBytes: 1000 * MB }).why.at(-1)).toMatch(/read from the disk again and again/);
  });
});

it('every plan fits, loses no byte and is the best of its kind (bug: an off-by-one between layers and output)', () => {
  const count = (max: number) => fc.integer({ min: 0, max });
  const layers = fc.array(fc.record({ denseBytes: count(400), expertBytes: count(4000) }), {
    minLength: 1,
    maxLength: 12,
  });
  fc.assert(
    fc.property(layers, count(40_000), fc.option(count(14)), fc.option(count(14)), (sizes, free, ngl, moe) => {
      const model = {
        ...weights,
        layers: sizes.map(({ denseBytes, expertBytes }) => ({
          denseBytes: denseBytes * MB,
          expertBytes: expertBytes * MB,
        })),
        kvValuesPerToken: sizes.map(() => 1024),
      };
      const wish = {
        ...input,
        weights: model,
        gpu: gpuOf(free * MB),
        gpuLayers: ngl ?? 'auto',
        nCpuMoe: moe ?? 'auto',
      } as const;
      const result = planPlacement({ ...wish, ramFreeBytes: null });
      if (!result.ok) {
        expect(ngl).not.toBeNull();
        return;
      }
      const { ram, gpu, gpuLayers, cpuMoeLayers } = result.data;
      const all = model.layers.reduce((sum, { denseBytes, expertBytes }) => sum + denseBytes + expertBytes, 0);
      expect(ram.experts + ram.dense + gpu.experts + gpu.dense).toBe(all + model.inputBytes + model.outputBytes);
      if (gpuLayers > 0) expect(totalOf(gpu) + gpuReserveBytes).toBeLessThanOrEqual(free * MB);
      const fits = (a: number, b: number) => totalOf(bytesOf(wish, a, b).gpu) + gpuReserveBytes <= free * MB;
      if (ngl === null && gpuLayers < model.layers.length + 1)
        expect(fits(gpuLayers + 1, moe ?? model.layers.length)).toBe(false);
      if (moe === null && cpuMoeLayers > 0 && gpuLayers > 0 && model.layers.some(({ expertBytes }) => expertBytes > 0))
        expect(fits(gpuLayers, 0)).toBe(false);
    }),
  );
});

describe('weights of a file', () => {
  const tensor = (name: string, ...dimensions: number[]) => ({ name, dimensions, ggmlType: 0 });

  it('are counted by layer and kind (bug: biases, or a tied output, forgotten)', () => {
    const found = modelWeights(
      [
        tensor('token_embd.weight', 4, 10),
        tensor('output_norm.weight', 4),
        tensor('blk.0.attn_q.weight', 4, 4),
        tensor('blk.0.ffn_gate_inp.weight', 4, 2),
        tensor('blk.1.ffn_up_exps.weight', 4, 4, 2),
        tensor('blk.1.ffn_up_exps.bias', 4, 2),
        tensor('blk.1.ffn_up_shexp.weight', 4, 4),
      ],
      { embedding_length: 4, attention: { head_count: 2, head_count_kv: [1, 2] } },
      2,
    );
    expect(found).toMatchObject({
      inputBytes: 160,
      outputBytes: 176,
      layers: [
        { denseBytes: 96, expertBytes: 0 },
        { denseBytes: 64, expertBytes: 160 },
      ],
      kvValuesPerToken: [4, 8],
      vocabulary: 10,
    });
  });

  it('with latent attention cache one compressed row (bug: a KV cache sixty times too large)', () => {
    const attention = { head_count: 128, kv_lora_rank: 512, key_length: 192 };
    expect(modelWeights([], { attention, rope: { dimension_count: 64 } }, 1).kvValuesPerToken).toEqual([576]);
  });
});
