import { freemem } from 'node:os';
import type { Logger } from '../base/index.ts';
import { fail, ok, type GpuBackend, type GpuDevice, type PlacementStatus, type Result } from '../contract/index.ts';
import type { LoadRequest } from './engine.ts';
import { chooseDevice } from './gpu-choice.ts';
import { planPlacement, totalOf, type ModelWeights, type Placement } from './placement.ts';
import type { GpuFacts, PoolMiddleware } from './pool-middleware.ts';

/** Most tokens that `--context auto` takes. */
const largestAutoContext = 8192;

/** What `--context auto` means, in tokens. @param trained what the model was trained on; 0: its file does not say. */
export function autoContext(trained: number): number {
  return trained === 0 ? largestAutoContext : Math.min(largestAutoContext, trained);
}

/** A plan that a load can follow, and the device it is for; null: the CPU computes everything. */
export type LoadPlan = { readonly placement: Placement; readonly device: GpuDevice | null };

/** Bytes that llama.cpp took, as node-llama-cpp reads them from it. */
export type MeasuredMemory = {
  readonly model: { readonly ram: number; readonly vram: number };
  readonly context: { readonly ram: number; readonly vram: number };
  readonly mapped: boolean;
};

/** The devices without the native core: llama.cpp knows their names and the sum of their memory. */
export type PlainDevices = {
  readonly names: readonly string[];
  readonly freeBytes: number;
  readonly totalBytes: number;
};

/** Plans where a model goes, has the native core hold to it during the load, and tells where it went. */
export class EnginePlacement {
  readonly #middleware: PoolMiddleware | null;
  readonly #noExpertsApart: string | null;
  readonly #logger: Logger;

  constructor(middleware: PoolMiddleware | { readonly missing: string }, logger: Logger) {
    this.#middleware = 'missing' in middleware ? null : middleware;
    this.#noExpertsApart = 'missing' in middleware ? middleware.missing : null;
    this.#logger = logger;
  }

  /** Graphics devices now, the one for the next load marked. `gpu` is that of the Llama in use. */
  devices(
    gpu: string | false,
    wanted: string | null,
    plain: PlainDevices,
  ): { readonly devices: readonly GpuDevice[]; readonly missing: string | null } {
    const found = this.#facts(gpu) ?? plain.names.map((name, index) => plainDevice(name, index, plain));
    const choice = chooseDevice(found, wanted);
    const chosen = choice?.device.name;
    const devices = found.map(({ name, description, integrated, freeBytes, totalBytes }) => ({
      ...{ name, description, integrated },
      // Some drivers tell nothing: then the plan trusts what was asked for.
      ...(totalBytes === 0 ? { freeBytes: null, totalBytes: null } : { freeBytes, totalBytes }),
      used: this.#middleware === null || name === chosen,
    }));
    const missing =
      choice?.missing === true ? `There is no graphics card "${wanted}"; ${choice.device.name} is used.` : null;
    return { devices, missing };
  }

  /** @param given memory that the model before gives back, in bytes. */
  plan(
    backend: GpuBackend | null,
    devices: readonly GpuDevice[],
    { weights, contextTrained }: { readonly weights: ModelWeights; readonly contextTrained: number },
    request: LoadRequest,
    given: { readonly ram: number; readonly gpu: number },
  ): Result<LoadPlan> {
    const device = backend === null || request.gpu === 'off' ? undefined : devices.find(({ used }) => used);
    const plan = planPlacement({
      weights,
      gpu:
        device === undefined
          ? null
          : {
              name: device.description,
              freeBytes: device.freeBytes === null ? null : device.freeBytes + given.gpu,
              sharesMemory:
                this.#facts(backend ?? false)?.find(({ name }) => name === device.name)?.sharesMemory === true,
            },
      ramFreeBytes: freeRam() + given.ram,
      noExpertsApart: this.#noExpertsApart,
      gpuLayers: request.gpuLayers,
      cpuMoe: request.cpuMoe,
      nCpuMoe: request.nCpuMoe,
      contextSize:
        request.sequences * (request.contextSize === 'auto' ? autoContext(contextTrained) : request.contextSize),
      batchSize: request.batchSize,
      kvType: request.kvType,
      flashAttention: request.flashAttention !== 'off',
      mmap: request.mmap,
    });
    if (!plan.ok) return plan;
    const { ram, gpu, why, gpuLayers, cpuMoeLayers } = plan.data;
    this.#logger.info('placement planned', {
      device: device?.name ?? null,
      ...{ gpuLayers, cpuMoeLayers, ramBytes: totalOf(ram), gpuBytes: totalOf(gpu), why: why.join(' ') },
    });
    return ok({ placement: plan.data, device: device ?? null });
  }

  /** From here to `end` a load puts the experts where the plan says; loads must not overlap. */
  begin(gpu: string | false, { placement, device }: LoadPlan): Result<void> {
    if (this.#middleware === null || device === null) return ok();
    const { placed, reason } = this.#middleware.place({
      gpu,
      expertLayers: placement.cpuMoeLayers,
      device: device.name,
    });
    if (placed || placement.cpuMoeLayers === 0) return ok();
    return fail(
      'placement_impossible',
      `The experts cannot be kept in RAM while their layers are on the GPU: ${reason ?? 'unknown'}.`,
      'Start without --cpu-moe and --n-cpu-moe.',
    );
  }

  /** @returns bytes of experts that were kept out of graphics memory since `begin`. */
  end(gpu: string | false, { placement, device }: LoadPlan): number {
    if (this.#middleware === null || device === null) return 0;
    const { bytes } = this.#middleware.devices({ gpu }).kept;
    this.#middleware.place({ gpu, expertLayers: 0, device: device.name });
    const planned = placement.cpuMoeLayers;
    this.#logger.info('experts kept in RAM', { layers: planned, bytes });
    return bytes;
  }

  /** What is where, as measured. @param kept see `end`. */
  status(plan: LoadPlan, weights: ModelWeights, kept: number, measured: MeasuredMemory): PlacementStatus {
    const { placement, device } = plan;
    const first = weights.layers.length + 1 - placement.gpuLayers;
    const sum = (layers: ModelWeights['layers']) => layers.reduce((bytes, { expertBytes }) => bytes + expertBytes, 0);
    const ramExperts = kept + sum(weights.layers.slice(0, Math.max(0, first)));
    const gpuExperts = Math.max(0, sum(weights.layers) - ramExperts);
    return {
      device: device === null ? null : `${device.name}: ${device.description}`,
      gpuLayers: placement.gpuLayers,
      layers: weights.layers.length + 1,
      cpuMoeLayers: placement.cpuMoeLayers,
      mapped: measured.mapped,
      ram: {
        experts: ramExperts,
        dense: Math.max(0, measured.model.ram - ramExperts),
        context: measured.context.ram,
      },
      gpu: {
        experts: gpuExperts,
        dense: Math.max(0, measured.model.vram - gpuExperts),
        context: measured.context.vram,
      },
      why: [...placement.why],
    };
  }

  #facts(gpu: string | false): readonly GpuFacts[] | null {
    if (this.#middleware === null || gpu === false) return null;
    const { devices, reason } = this.#middleware.devices({ gpu });
    return reason === undefined ? devices : null;
  }
}

function plainDevice(name: string, index: number, { names, freeBytes, totalBytes }: PlainDevices): GpuFacts {
  const share = (bytes: number) => Math.floor(bytes / names.length);
  return {
    name: `GPU${index}`,
    description: name,
    integrated: false,
    sharesMemory: false,
    freeBytes: share(freeBytes),
    totalBytes: share(totalBytes),
    used: true,
  };
}

/** RAM within the limits set for this process, where Node can tell them. */
function freeRam(): number {
  const node: { readonly availableMemory?: () => number } = process;
  return node.availableMemory?.() ?? freemem();
}
