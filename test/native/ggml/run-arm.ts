import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { build } from 'vite';
import type { ArmOptions, ArmResult } from './arm-types.ts';

const root = resolve(import.meta.dirname, '../../..');
/** Of this worker alone: another one may bundle at the same time. */
const outDir = join(root, 'build', 'test-ggml', process.env['VITEST_POOL_ID'] ?? '0');

export const modulesFolder = join(root, 'node_modules');
export const builtinModel = join(root, 'assets/models/dormouse-mini.gguf');
export const addonFile = (name: 'test-ggml' | 'test-ggml-wrong-release' | 'test-ggml-missing-symbol'): string =>
  join(root, 'build/native/release', `${name}.node`);

/** Node runs no TypeScript, so the arm is bundled once per test file. */
export async function buildArm(): Promise<void> {
  await build({
    root,
    configFile: false,
    logLevel: 'warn',
    build: { ssr: 'test/native/ggml/arm.ts', outDir, emptyOutDir: false, target: 'node20' },
  });
}

/** Runs an arm in a process of its own: the middleware and ggml are of one process. */
export async function runArm(
  options: Partial<ArmOptions>,
  environment: Readonly<Record<string, string>> = {},
  launcher: readonly string[] = [],
): Promise<ArmResult> {
  const all: ArmOptions = {
    scenario: 'generate',
    arm: 'pool',
    addon: addonFile('test-ggml'),
    model: builtinModel,
    count: 32,
    teacherIds: 1000,
    flashAttention: false,
    threads: 2,
    ...options,
  };
  const node = [process.execPath, join(outDir, 'arm.js'), JSON.stringify(all)];
  const [program, ...rest] = [...launcher, ...node] as [string, ...string[]];
  const { stdout } = await promisify(execFile)(program, rest, {
    env: { ...process.env, ...environment },
    timeout: 280_000,
    killSignal: 'SIGKILL',
    maxBuffer: 256 * 1024 * 1024,
  });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as ArmResult;
}
