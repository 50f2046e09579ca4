import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  chooseDevice,
  explainChoice,
  foreseeProblem,
  gpuCandidates,
  noDevice,
  startProblem,
} from '../../../src/main/engine/gpu-choice.ts';
import { readGpuSystem, type GpuSystem } from '../../../src/main/engine/gpu-system.ts';
import { temporaryFolder } from '../../support/temp-folder.ts';

const fine: GpuSystem = {
  ...{ platform: 'linux', anyCard: true, nvidiaCard: true, nvidiaDriver: '580.65.06', missingCudaFiles: [] },
  ...{ vulkanLoader: true, forbidden: [] },
};

it.each([
  ['a driver that is not loaded', { nvidiaDriver: null }, /driver is not loaded/, /Install NVIDIA’s driver/],
  ['an old driver', { nvidiaDriver: '550.54.14' }, /550.54.14 is too old for CUDA 13/, /580 or newer/],
  ['CUDA’s runtime missing', { missingCudaFiles: ['libcublas.so.13'] }, /libcublas\.so\.13 missing/, /Install CUDA 13/],
  ['no permission', { forbidden: ['/dev/nvidia0'] }, /may not use it \(\/dev\/nvidia0\)/, /usermod -aG/],
] as const)('%s is said plainly, with what to do (bug: a silent run on the CPU)', (_name, change, reason, hint) => {
  const system = { ...fine, ...change };
  const problem = foreseeProblem('cuda', system);
  expect(problem?.reason).toMatch(reason);
  expect(problem?.hint).toMatch(hint);
  if (problem === null) return;
  expect(explainChoice('auto', 'vulkan', [problem], system).reason).toMatch(/Vulkan is used instead\.$/);
  expect(explainChoice('auto', null, [problem], system)).toEqual({ reason: problem.reason, hint: problem.hint });
});

describe('what is in the way of Vulkan', () => {
  it.each([
    [{ vulkanLoader: false }, /Vulkan is not installed/, /apt-get install libvulkan1/],
    [{ forbidden: ['/dev/dri/renderD128'] }, /may not use it/, /log in again/],
    [{ anyCard: false, nvidiaCard: false }, /No graphics card was found/, /Nothing needs to be done/],
  ] as const)('%o', (change, reason, hint) => {
    const problem = foreseeProblem('vulkan', { ...fine, ...change });
    expect(problem?.reason).toMatch(reason);
    expect(problem?.hint).toMatch(hint);
  });
  it('nothing (bug: a working card refused)', () => expect(foreseeProblem('vulkan', fine)).toBeNull());
});

it('an AMD owner hears nothing of CUDA; who asked for it does (bug: a warning about what is as it should be)', () => {
  const amd = { ...fine, nvidiaCard: false };
  const problem = foreseeProblem('cuda', amd);
  if (problem === null) throw new Error('CUDA without NVIDIA');
  expect(explainChoice('auto', 'vulkan', [problem], amd)).toEqual({ reason: null, hint: null });
  expect(explainChoice('cuda', null, [problem], amd).reason).toMatch(/needs an NVIDIA/);
});

it('tries CUDA, then Vulkan; Metal on a Mac; what was asked for alone (bug: another backend taken in silence)', () => {
  expect(gpuCandidates('auto', 'linux')).toEqual(['cuda', 'vulkan']);
  expect(gpuCandidates('auto', 'darwin')).toEqual(['metal']);
  expect(gpuCandidates('vulkan', 'linux')).toEqual(['vulkan']);
  expect(gpuCandidates('off', 'linux')).toEqual([]);
  expect(foreseeProblem('metal', fine)?.reason).toMatch(/Apple/);
  expect(startProblem('cuda', fine).reason).toMatch(/driver 580\.65\.06/);
  expect(noDevice('vulkan', fine).reason).toMatch(/found no graphics card/);
});

it('takes the card that was chosen, else one of its own with the most free memory (bug: a laptop’s integrated one)', () => {
  const device = (name: string, description: string, integrated: boolean, freeBytes: number) => ({
    ...{ name, description, integrated, freeBytes },
  });
  const small = device('Vulkan0', 'Radeon RX 6600', false, 8);
  const large = device('Vulkan1', 'GeForce RTX 3090', false, 24);
  const shared = device('Vulkan2', 'Iris Xe', true, 64);
  const all = [shared, small, large];
  expect(chooseDevice(all, null)).toEqual({ device: large, missing: false });
  expect(chooseDevice(all, 'vulkan0')?.device).toBe(small);
  expect(chooseDevice(all, 'iris')?.device).toBe(shared);
  expect(chooseDevice(all, 'Arc')).toEqual({ device: large, missing: true });
  expect(chooseDevice([], 'Arc')).toBeNull();
});

it('reads cards, driver and libraries from the system’s files (bug: a path that no system has)', () => {
  const root = temporaryFolder();
  const put = (path: string, text = '') => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  expect(readGpuSystem('linux', root, {})).toMatchObject({ anyCard: false, nvidiaCard: false, vulkanLoader: false });
  expect(readGpuSystem('linux', root, { GGML_VK_VISIBLE_DEVICES: '0' }).anyCard).toBe(true);
  put('dev/dri/renderD128');
  put('sys/class/drm/card0/device/vendor', '0x10de\n');
  put('sys/module/nvidia/version', '570.1\n');
  put('usr/lib/x86_64-linux-gnu/libvulkan.so.1');
  put('usr/local/cuda-13.0/lib64/libcudart.so.13');
  put('etc/ld.so.conf.d/cuda.conf', '/opt/own/lib\n');
  put('opt/own/lib/libcublas.so.13');
  expect(readGpuSystem('linux', root, {})).toEqual({
    ...{ platform: 'linux', anyCard: true, nvidiaCard: true, nvidiaDriver: '570.1' },
    ...{ missingCudaFiles: ['libcublasLt.so.13'], vulkanLoader: true, forbidden: [] },
  });
});
