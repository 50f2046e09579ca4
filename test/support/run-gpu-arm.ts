import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { build } from 'vite';
import type { GpuArmOptions, GpuArmResult } from './gpu-arm-types.ts';

const root = resolve(import.meta.dirname, '../..');
const outDir = join(root, 'build', 'test-gpu');

/** Signals by which a driver ends the process that it crashes in. */
const crashes = ['SIGSEGV', 'SIGABRT', 'SIGBUS', 'SIGILL', 'SIGFPE'];

export type GpuRun =
  | { readonly ok: true; readonly result: GpuArmResult }
  /** The driver's own crash: a reason to skip, not a fault of ours. */
  | { readonly ok: false; readonly crash: string };

/** Why there is no software renderer to test with, or undefined. */
export function whyNoLavapipe(): string | undefined {
  try {
    if (readdirSync('/usr/share/vulkan/icd.d').some((file) => file.startsWith('lvp_icd'))) return undefined;
  } catch {
    // Neither folder nor driver.
  }
  return 'no software renderer for Vulkan (apt-get install mesa-vulkan-drivers libvulkan1)';
}

/** Node runs no TypeScript, so the arm is bundled once per test file. */
export async function buildGpuArm(): Promise<void> {
  await build({
    root,
    configFile: false,
    logLevel: 'warn',
    build: { ssr: 'test/support/gpu-arm.ts', outDir, emptyOutDir: true, target: 'node20' },
  });
}

/**
 * Runs the arm on the software renderer, which shows itself only to those who name it.
 * @throws when the arm fails by itself; a driver's crash is a value.
 */
export function runGpuArm(
  options: Partial<GpuArmOptions> & Pick<GpuArmOptions, 'scenario' | 'model'>,
  environment: Readonly<Record<string, string>> = {},
): Promise<GpuRun> {
  const all: GpuArmOptions = {
    ...{ gpu: 'vulkan', gpuLayers: 99, expertLayers: 99, batch: 8, count: 256, teacherIds: 1000 },
    ...options,
  };
  // One thread for the renderer: on a busy machine its threads wait for each other.
  const env = { ...process.env, GGML_VK_VISIBLE_DEVICES: '0', LP_NUM_THREADS: '1', ...environment };
  const limits = { env, timeout: 280_000, killSignal: 'SIGKILL', maxBuffer: 256 * 1024 * 1024 } as const;
  return new Promise((done, reject) => {
    execFile(process.execPath, [join(outDir, 'gpu-arm.js'), JSON.stringify(all)], limits, (error, stdout, stderr) => {
      if (error === null) {
        done({ ok: true, result: JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as GpuArmResult });
      } else if (error.signal !== undefined && crashes.includes(error.signal)) {
        done({ ok: false, crash: `driver crash (${error.signal})` });
      } else reject(new Error(`${error.message.split('\n')[0] ?? ''}\n${stderr.slice(-2000)}`));
    });
  });
}
