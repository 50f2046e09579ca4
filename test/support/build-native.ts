import { join } from 'node:path';
import { withFolderLock } from '../../scripts/lib/folder-lock.mjs';
import { buildNativeTests } from '../../scripts/lib/native.mjs';
import { buildFolder } from '../../scripts/lib/paths.mjs';
import { nativePresets, whyNoNativeTests } from './native-programs.ts';

/** Builds the C++ test programs and the addon once before the native tests. */
export default async function buildNative(): Promise<void> {
  if (whyNoNativeTests() !== undefined) return;
  await withFolderLock(
    join(buildFolder, 'prepare.lock'),
    () => {},
    async () => {
      for (const preset of new Set(['release', ...nativePresets])) await buildNativeTests(preset);
    },
  );
}
