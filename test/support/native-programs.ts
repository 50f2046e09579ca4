import { existsSync } from 'node:fs';
import process from 'node:process';
import { missingTools } from '../../scripts/lib/native.mjs';

/** Presets whose programs are tested; `.ci/run` names the sanitizers: DORMOUSE_NATIVE_PRESETS=asan,tsan,ubsan. */
export const nativePresets = (process.env['DORMOUSE_NATIVE_PRESETS'] ?? 'release').split(',');

export const nativePrograms = [
  'test-protocol',
  'test-lifetime',
  'test-late-waker',
  'test-machine',
  'test-stress',
  'test-ggml-graphs',
];

/** Why the native tests cannot run here, or undefined. */
export function whyNoNativeTests(): string | undefined {
  const missing = missingTools();
  if (missing.length > 0) return `no ${missing.join(', no ')} (apt-get install ${missing.join(' ')})`;
  return process.platform === 'linux' ? undefined : 'the C++ test programs are built on Linux only';
}

export function isOnPath(program: string): boolean {
  return (process.env['PATH'] ?? '').split(':').some((folder) => folder !== '' && existsSync(`${folder}/${program}`));
}
