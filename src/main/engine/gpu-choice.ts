import type { GpuBackend, GpuDevice } from '../contract/index.ts';
import type { GpuSystem } from './gpu-system.ts';

export type GpuAsked = GpuBackend | 'auto' | 'off';

/** Why a backend is not in use. `hint` says what a person can do. */
export type GpuProblem = { readonly backend: GpuBackend; readonly reason: string; readonly hint: string };

/** CUDA 13 needs NVIDIA's driver from here on. */
const leastNvidiaDriver = 580;

/** Backends to try, best first. */
export function gpuCandidates(asked: GpuAsked, platform: NodeJS.Platform): readonly GpuBackend[] {
  if (asked === 'off') return [];
  if (asked !== 'auto') return [asked];
  return platform === 'darwin' ? ['metal'] : ['cuda', 'vulkan'];
}

/** What is known to be in the way of a backend before it is tried; null: try it. */
export function foreseeProblem(backend: GpuBackend, system: GpuSystem): GpuProblem | null {
  const { platform } = system;
  if ((backend === 'metal') !== (platform === 'darwin')) {
    const reason =
      backend === 'metal' ? 'Metal exists on Apple computers only.' : `${nameOf(backend)} does not exist on a Mac.`;
    return { backend, reason, hint: 'Start with --gpu auto.' };
  }
  if (platform !== 'linux') return null;
  return backend === 'cuda' ? foreseeCuda(system) : foreseeVulkan(system);
}

function foreseeCuda(system: GpuSystem): GpuProblem | null {
  const problem = (reason: string, hint: string) => ({ backend: 'cuda', reason, hint }) as const;
  if (!system.nvidiaCard) {
    return problem('CUDA needs an NVIDIA graphics card, and none was found.', 'Start with --gpu auto.');
  }
  if (system.nvidiaDriver === null) {
    return problem(
      'There is an NVIDIA card, but NVIDIA’s driver is not loaded.',
      `Install NVIDIA’s driver (${leastNvidiaDriver} or newer) and start the computer again.`,
    );
  }
  const forbidden = system.forbidden.filter((file) => file.includes('nvidia'));
  if (forbidden.length > 0) return problem(...mayNotOpen(forbidden));
  if (Number.parseInt(system.nvidiaDriver, 10) < leastNvidiaDriver) {
    return problem(
      `NVIDIA’s driver ${system.nvidiaDriver} is too old for CUDA 13.`,
      `Install driver ${leastNvidiaDriver} or newer and start the computer again.`,
    );
  }
  if (system.missingCudaFiles.length > 0) {
    return problem(
      `The NVIDIA card cannot be used through CUDA, because CUDA’s runtime is not installed (${system.missingCudaFiles.join(', ')} missing).`,
      'Install CUDA 13 (NVIDIA’s packages cuda-cudart-13-0 and libcublas-13-0 are enough) and start Dormouse again.',
    );
  }
  return null;
}

function foreseeVulkan(system: GpuSystem): GpuProblem | null {
  const problem = (reason: string, hint: string) => ({ backend: 'vulkan', reason, hint }) as const;
  if (!system.anyCard) {
    return problem('No graphics card was found, so the CPU computes everything.', 'Nothing needs to be done.');
  }
  if (!system.vulkanLoader) {
    return problem(
      'There is a graphics card, but Vulkan is not installed.',
      'Install it (on Debian and Ubuntu: apt-get install libvulkan1 mesa-vulkan-drivers) and start Dormouse again.',
    );
  }
  const forbidden = system.forbidden.filter((file) => file.includes('dri'));
  return forbidden.length > 0 ? problem(...mayNotOpen(forbidden)) : null;
}

function mayNotOpen(files: readonly string[]): [string, string] {
  return [
    `There is a graphics card, but your user may not use it (${files.join(', ')}).`,
    'Put your user into the groups that own these files (sudo usermod -aG render,video $USER), then log in again.',
  ];
}

/** A backend that looked fine but did not start. */
export function startProblem(backend: GpuBackend, system: GpuSystem): GpuProblem {
  const driver = backend === 'cuda' && system.nvidiaDriver !== null ? ` (driver ${system.nvidiaDriver})` : '';
  return {
    backend,
    reason: `${nameOf(backend)} does not start on this computer${driver}.`,
    hint:
      backend === 'cuda'
        ? 'Install the newest NVIDIA driver and CUDA 13, then start Dormouse again; the log has the details.'
        : 'Install the newest driver of your graphics card, then start Dormouse again; the log has the details.',
  };
}

/** A backend that started and found no card it can use. */
export function noDevice(backend: GpuBackend, system: GpuSystem): GpuProblem {
  const problem = foreseeProblem(backend, { ...system, anyCard: true });
  return {
    backend,
    reason: problem?.reason ?? `${nameOf(backend)} found no graphics card that it can use.`,
    hint: problem?.hint ?? 'Install the driver of your graphics card and start Dormouse again.',
  };
}

/**
 * What a person should know: nothing when the best backend works; that a better one could; why the CPU computes.
 * @param problems in the order of trying. @param used null: the CPU.
 */
export function explainChoice(
  asked: GpuAsked,
  used: GpuBackend | null,
  problems: readonly GpuProblem[],
  system: GpuSystem,
): { readonly reason: string | null; readonly hint: string | null } {
  if (asked === 'off') return { reason: 'The graphics card is switched off with --gpu off.', hint: null };
  // Without an NVIDIA card nobody misses CUDA.
  const telling = problems.filter(({ backend }) => backend !== 'cuda' || system.nvidiaCard || asked === 'cuda');
  const first = telling[0];
  if (first === undefined) return { reason: null, hint: null };
  if (used === null) return { reason: first.reason, hint: first.hint };
  return { reason: `${first.reason} ${nameOf(used)} is used instead.`, hint: first.hint };
}

export function nameOf(backend: GpuBackend): string {
  switch (backend) {
    case 'cuda':
      return 'CUDA';
    case 'vulkan':
      return 'Vulkan';
    case 'metal':
      return 'Metal';
  }
}

/**
 * The card to use: the one that was chosen, by name or a part of its description; else one of its own memory before one
 * that shares the computer's, and the one with the most free memory.
 * @returns null without devices; `missing` when the chosen one is not there.
 */
export function chooseDevice<Device extends Pick<GpuDevice, 'name' | 'description' | 'integrated' | 'freeBytes'>>(
  devices: readonly Device[],
  wanted: string | null,
): { readonly device: Device; readonly missing: boolean } | null {
  const word = wanted?.toLowerCase() ?? null;
  const named =
    word === null
      ? undefined
      : (devices.find(({ name }) => name.toLowerCase() === word) ??
        devices.find(({ description }) => description.toLowerCase().includes(word)));
  const [best] = [...devices].sort(
    (a, b) => Number(a.integrated) - Number(b.integrated) || (b.freeBytes ?? 0) - (a.freeBytes ?? 0),
  );
  const device = named ?? best;
  return device === undefined ? null : { device, missing: wanted !== null && named === undefined };
}
