import { fail, ok, type Result } from '../contract/index.ts';

/** What a model's file says about memory, in bytes. */
export type ModelWeights = {
  /** The embedding of the input; always in RAM. */
  readonly inputBytes: number;
  /** Output norm and matrix; on the GPU with the first offloaded layer. */
  readonly outputBytes: number;
  readonly layers: readonly { readonly denseBytes: number; readonly expertBytes: number }[];
  /** Values in the KV cache per token and layer. */
  readonly kvValuesPerToken: readonly number[];
  readonly vocabulary: number;
  readonly width: number;
  readonly heads: number;
};

export type PlacementInput = {
  readonly weights: ModelWeights;
  /** Memory of the graphics device in use; null without one, `freeBytes` null where it does not tell. */
  readonly gpu: { readonly name: string; readonly freeBytes: number | null; readonly sharesMemory: boolean } | null;
  /** RAM that programs can still have; null when unknown. */
  readonly ramFreeBytes: number | null;
  /** Why experts cannot be kept apart from their layers; null when they can. */
  readonly noExpertsApart: string | null;
  readonly gpuLayers: number | 'auto';
  readonly cpuMoe: boolean;
  readonly nCpuMoe: number | 'auto';
  /** Of all sequences together, in tokens. */
  readonly contextSize: number;
  readonly batchSize: number;
  readonly kvType: 'f16' | 'q8_0' | 'q4_0';
  /** Without it attention keeps a score for every token of batch and context. */
  readonly flashAttention: boolean;
  readonly mmap: boolean;
};

/** Bytes in one place. */
export type PlaceBytes = {
  readonly experts: number;
  readonly dense: number;
  readonly kv: number;
  readonly compute: number;
};

export type Placement = {
  /** As llama.cpp counts them: the output is one more than the model's layers. */
  readonly gpuLayers: number;
  /** The experts of the first so many layers stay in RAM. */
  readonly cpuMoeLayers: number;
  readonly contextSize: number;
  readonly ram: PlaceBytes;
  readonly gpu: PlaceBytes;
  /** Graphics memory left beside plan and reserve; null without a GPU, or where it does not tell. */
  readonly gpuLeftBytes: number | null;
  /** In words for people, most important first. */
  readonly why: readonly string[];
};

const MiB = 1024 * 1024;
/** Graphics memory that is never planned for: the screen, other programs, what a driver takes for itself. */
export const gpuReserveBytes = 700 * MiB;
/** Fixed part of a compute buffer, and how far the estimate of the rest may be off. */
const computeBase = 48 * MiB;
const computeMargin = 1.25;

const bytesPerKvValue = { f16: 2, q8_0: 34 / 32, q4_0: 18 / 32 } as const;

export const totalOf = ({ experts, dense, kv, compute }: PlaceBytes): number => experts + dense + kv + compute;

/**
 * Decides what goes where, before anything is loaded. Explicit wishes are kept or refused, never changed; what is `auto`
 * puts as much on the GPU as fits: all layers with the experts of as few layers as possible in RAM, and only if that is
 * not enough, fewer layers.
 */
export function planPlacement(input: PlacementInput): Result<Placement> {
  const asked = wishes(input);
  if (!asked.ok) return asked;
  const { gpuLayers, cpuMoeLayers, why } = asked.data;
  const candidates = candidatesOf(input.weights, gpuLayers, cpuMoeLayers);
  const chosen = candidates.find(([layers, moe]) => fitsGpu(input, layers, moe));
  if (chosen === undefined) return tooLargeForGpu(input, candidates.at(-1) ?? [0, 0]);
  const [layers, moe] = chosen;
  const { ram, gpu } = bytesOf(input, layers, moe);
  const held = (input.mmap ? 0 : ram.experts + ram.dense) + ram.kv + ram.compute;
  if (input.ramFreeBytes !== null && held > input.ramFreeBytes) return tooLargeForRam(input, held);
  const reasons = [...why, ...explain(input, layers, moe, ram)];
  const gpuLeftBytes = input.gpu === null ? null : leftOf(input, totalOf(gpu));
  return ok({
    gpuLayers: layers,
    cpuMoeLayers: moe,
    contextSize: input.contextSize,
    ram,
    gpu,
    gpuLeftBytes,
    why: reasons,
  });
}

type Wishes = {
  readonly gpuLayers: number | 'auto';
  readonly cpuMoeLayers: number | 'auto';
  readonly why: readonly string[];
};

/** The flags as numbers within what the model has, or why they cannot be followed. */
function wishes({ weights, gpu, gpuLayers, cpuMoe, nCpuMoe, noExpertsApart }: PlacementInput): Result<Wishes> {
  const layers = weights.layers.length;
  const most = gpuLayers === 'auto' ? 'auto' : Math.min(gpuLayers, layers + 1);
  if (gpu === null) return ok({ gpuLayers: 0, cpuMoeLayers: 0, why: [] });
  const asked = cpuMoe ? layers : nCpuMoe === 'auto' ? 'auto' : Math.min(nCpuMoe, layers);
  const hasExperts = weights.layers.some(({ expertBytes }) => expertBytes > 0);
  if (!hasExperts) return ok({ gpuLayers: most, cpuMoeLayers: 0, why: [] });
  if (gpu.sharesMemory) {
    const why = [`${gpu.name} uses the computer's own memory, so that experts gain nothing by being moved.`];
    return ok({ gpuLayers: most, cpuMoeLayers: 0, why: asked === 'auto' || asked === 0 ? [] : why });
  }
  if (noExpertsApart === null) return ok({ gpuLayers: most, cpuMoeLayers: asked, why: [] });
  if (asked !== 'auto' && asked > 0) {
    return fail(
      'placement_impossible',
      `The experts cannot be kept in RAM while their layers are on the GPU. ${noExpertsApart}`,
      'Start without --cpu-moe and --n-cpu-moe; fewer --gpu-layers keep whole layers in RAM.',
    );
  }
  return ok({ gpuLayers: most, cpuMoeLayers: 0, why: [] });
}

/** What may be tried, best first: [GPU layers, layers whose experts stay in RAM]. */
function candidatesOf(
  weights: ModelWeights,
  gpuLayers: number | 'auto',
  cpuMoe: number | 'auto',
): (readonly [number, number])[] {
  const layers = weights.layers.length;
  const mostExperts = typeof cpuMoe === 'number' ? cpuMoe : layers;
  const most = gpuLayers === 'auto' ? layers + 1 : gpuLayers;
  const found: (readonly [number, number])[] = [];
  const fewest = typeof cpuMoe === 'number' ? cpuMoe : 0;
  for (let moe = fewest; moe <= mostExperts; moe++) found.push([most, moe]);
  if (gpuLayers === 'auto') for (let fewer = most - 1; fewer >= 0; fewer--) found.push([fewer, mostExperts]);
  return found;
}

/** Bytes per place for one choice. */
export function bytesOf(
  input: Pick<PlacementInput, 'weights' | 'gpu' | 'contextSize' | 'batchSize' | 'kvType' | 'flashAttention'>,
  gpuLayers: number,
  cpuMoeLayers: number,
): { readonly ram: PlaceBytes; readonly gpu: PlaceBytes } {
  const { weights, contextSize, kvType } = input;
  const ram = { experts: 0, dense: weights.inputBytes, kv: 0, compute: 0 };
  const gpu = { experts: 0, dense: 0, kv: 0, compute: 0 };
  const first = weights.layers.length + 1 - gpuLayers;
  weights.layers.forEach(({ denseBytes, expertBytes }, index) => {
    const place = index >= first ? gpu : ram;
    place.dense += denseBytes;
    place.kv += Math.ceil((weights.kvValuesPerToken[index] ?? 0) * contextSize * bytesPerKvValue[kvType]);
    (index < cpuMoeLayers ? ram : place).experts += expertBytes;
  });
  (gpuLayers > 0 ? gpu : ram).dense += weights.outputBytes;
  const compute = computeBytes(input);
  if (gpuLayers > 0) gpu.compute = compute + (ram.experts > 0 ? offloadBytes(weights) : 0);
  ram.compute = gpuLayers > weights.layers.length ? computeBase : compute;
  return { ram, gpu };
}

/** Activations of one batch: the logits of all its tokens are the largest part, attention scores the one that grows. */
function computeBytes({
  weights,
  contextSize,
  batchSize,
  flashAttention,
}: Pick<PlacementInput, 'weights' | 'contextSize' | 'batchSize' | 'flashAttention'>): number {
  const scores = flashAttention ? contextSize : contextSize * weights.heads;
  const floats = batchSize * (weights.vocabulary + 12 * weights.width + scores);
  return Math.ceil(computeBase + computeMargin * 4 * floats);
}

/** A long prefill computes experts on the GPU: one layer's weights are copied there at a time. */
function offloadBytes(weights: ModelWeights): number {
  return Math.max(0, ...weights.layers.map(({ expertBytes }) => expertBytes));
}

function leftOf({ gpu }: PlacementInput, needed: number): number | null {
  if (gpu === null || gpu.freeBytes === null) return null;
  return gpu.freeBytes - gpuReserveBytes - needed;
}

function fitsGpu(input: PlacementInput, gpuLayers: number, cpuMoeLayers: number): boolean {
  if (gpuLayers === 0 || input.gpu === null) return true;
  return (leftOf(input, totalOf(bytesOf(input, gpuLayers, cpuMoeLayers).gpu)) ?? 0) >= 0;
}

function explain(input: PlacementInput, gpuLayers: number, cpuMoeLayers: number, ram: PlaceBytes): string[] {
  const { gpu, weights, ramFreeBytes } = input;
  const why: string[] = [];
  const all = weights.layers.length + 1;
  const automatic = input.gpuLayers === 'auto';
  if (gpu !== null && automatic && gpuLayers === 0) {
    why.push(`${gpu.name} has too little free memory for a single layer, so everything is computed by the CPU.`);
  } else if (gpu !== null && automatic && gpuLayers < all) {
    why.push(`${gpuLayers} of ${all} layers are on ${gpu.name}; the others did not fit.`);
    if (input.noExpertsApart !== null && ram.experts > 0) why.push(input.noExpertsApart);
  } else if (gpu !== null && cpuMoeLayers > 0 && input.nCpuMoe === 'auto' && !input.cpuMoe) {
    why.push(`The experts of ${cpuMoeLayers} of ${all - 1} layers stay in RAM, as ${gpu.name} cannot hold them.`);
  }
  if (input.mmap && ramFreeBytes !== null && ram.experts + ram.dense > ramFreeBytes) {
    why.push(
      'The part in RAM is larger than the memory that is free: some of it is read from the disk again and again.',
    );
  }
  return why;
}

/** What a person could change so that it fits, tried one by one. */
function tooLargeForGpu(input: PlacementInput, [gpuLayers, cpuMoeLayers]: readonly [number, number]) {
  const layers = input.weights.layers.length;
  const needed = totalOf(bytesOf(input, gpuLayers, cpuMoeLayers).gpu);
  const changes: string[] = [];
  const canMove = input.noExpertsApart === null && input.gpu?.sharesMemory !== true;
  if (canMove) {
    for (let moe = cpuMoeLayers + 1; moe <= layers && changes.length === 0; moe++)
      if (fitsGpu(input, gpuLayers, moe)) changes.push(`--n-cpu-moe ${moe}`);
  }
  for (let fewer = gpuLayers - 1, found = false; fewer >= 0 && !found; fewer--) {
    found = fitsGpu(input, fewer, cpuMoeLayers);
    if (found) changes.push(`--gpu-layers ${fewer}`);
  }
  for (let size = input.contextSize / 2, found = false; size >= 512 && !found; size /= 2) {
    found = fitsGpu({ ...input, contextSize: size }, gpuLayers, cpuMoeLayers);
    if (found) changes.push(`--context ${Math.floor(size)}`);
  }
  const free = input.gpu?.freeBytes ?? 0;
  return fail(
    'out_of_memory',
    `The model needs ${inGb(needed)} on ${input.gpu?.name ?? 'the GPU'}, where ${inGb(Math.max(0, free - gpuReserveBytes))} can be used.`,
    `It fits with ${changes.join(', or with ')}.`,
  );
}

function tooLargeForRam({ ramFreeBytes, mmap, contextSize }: PlacementInput, held: number) {
  const changes = [
    ...(mmap ? [] : ['--mmap on']),
    ...(contextSize > 1024 ? [`--context ${Math.max(1024, Math.floor(contextSize / 4))}`] : []),
    '--kv q8_0',
    'a smaller model',
  ];
  return fail(
    'out_of_memory',
    `The model needs ${inGb(held)} of RAM beside its mapped file, and ${inGb(ramFreeBytes ?? 0)} are free.`,
    `Try ${changes.slice(0, 3).join(', or ')}.`,
  );
}

export function inGb(bytes: number): string {
  return bytes >= 1e8 ? `${(bytes / 1e9).toFixed(1)} GB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
