// Makes a clone ready to run: packages as the lock file says, then the parts of build/app that are stale.
import './lib/check-node.mjs';
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { build, staleParts } from './lib/build.mjs';
import { Failure, explainFileError, runMain } from './lib/failure.mjs';
import { withFolderLock } from './lib/folder-lock.mjs';
import { install, isInstalled } from './lib/install.mjs';
import { addonState, buildAddon, whyNoAddon } from './lib/native.mjs';
import { buildFolder, root } from './lib/paths.mjs';

const lockFolder = join(buildFolder, 'prepare.lock');

/** Does only what is needed; two at once take turns. A second call does nothing. Failures are values with a sentence. */
export async function prepare({ install: wantPackages = true, build: wantBuild = true } = {}) {
  const isBuilt = () => staleParts().length === 0 && addonState() !== 'stale';
  const ready = () => (!wantPackages || isInstalled()) && (!wantBuild || isBuilt());
  const onWait = (pid) => console.error(`Another Dormouse command is preparing this folder (process ${pid}); waiting…`);
  try {
    if (!ready()) {
      accessSync(root, constants.W_OK);
      await withFolderLock(lockFolder, onWait, async () => {
        if (wantPackages) await install();
        if (!wantBuild) return;
        await build();
        await buildAddon();
      });
    }
    // Without a compiler the app still runs, and says here and at run time what it lacks.
    const withoutPool = wantBuild ? whyNoAddon() : undefined;
    if (withoutPool) console.error(withoutPool);
    return { ok: true };
  } catch (error) {
    const message = error instanceof Failure ? error.message : explainFileError(error);
    if (message === undefined) throw error;
    return { ok: false, message, exitCode: error.exitCode ?? 1 };
  }
}

/** The same for command scripts: throws the failure as a sentence for `runMain`. */
export async function prepareOrFail(options) {
  const outcome = await prepare(options);
  if (!outcome.ok) throw Object.assign(new Failure(outcome.message), { exitCode: outcome.exitCode });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await runMain(async () => {
    await prepareOrFail();
    return 0;
  });
}
