import type { Llama } from 'node-llama-cpp';
import type { EngineStatus, Result } from '../contract/index.ts';
import type { EnginePlacement, LoadPlan } from './engine-placement.ts';
import type { LoadRequest } from './engine.ts';
import type { GgufFacts } from './llama-gguf.ts';
import type { StartedLlama } from './llama-start.ts';

export type PlannedLoad = { readonly gpu: EngineStatus['gpu']; readonly plan: Result<LoadPlan> };

/**
 * What goes where, as if the model before were gone already.
 * @param before where that model lies; null: there is none.
 */
export async function planLoad(
  placement: EnginePlacement,
  { llama, backend, ...started }: StartedLlama,
  request: LoadRequest,
  facts: GgufFacts,
  before: EngineStatus['placement'],
): Promise<PlannedLoad> {
  const vram = await llama.getVramState();
  const names = backend === null ? [] : await llama.getGpuDeviceNames();
  const { devices, missing } = placement.devices(backend ?? false, request.gpuDevice, {
    names,
    freeBytes: vram.free,
    totalBytes: vram.total,
  });
  const off = request.gpu === 'off' && backend !== null;
  const reason = off ? 'The graphics card is switched off with --gpu off.' : (missing ?? started.reason);
  const given = {
    ram: before === null ? 0 : before.ram.context,
    gpu: before === null ? 0 : before.gpu.experts + before.gpu.dense + before.gpu.context,
  };
  return {
    gpu: { backend: off ? null : backend, devices: [...devices], reason, hint: off ? null : started.hint },
    plan: placement.plan(backend, devices, facts, request, given),
  };
}

/**
 * llama.cpp reads header, hyper-parameters and vocabulary only: finds out cheaply, while another model is still loaded.
 * @throws what node-llama-cpp throws.
 */
export async function checkLoadable(llama: Llama, modelPath: string, loadSignal: AbortSignal): Promise<void> {
  const vocabulary = await llama.loadModel({ modelPath, vocabOnly: true, gpuLayers: 0, loadSignal });
  await vocabulary.dispose();
}
