import { stat } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import writeFileAtomic from 'write-file-atomic';

/** Pauses between tries, in ms. Windows answers EPERM while a virus scanner holds the file. */
const pauses = [10, 40, 160, 640];

/**
 * Replaces a file so that it holds either the old or the new content, whatever happens; the new one is on disk
 * when the promise settles. Rejects with the last error of the system.
 */
export async function writeAtomically(path: string, content: string): Promise<void> {
  for (const pause of [...pauses, null]) {
    try {
      await writeFileAtomic(path, content, { encoding: 'utf8', mode: 0o600 });
      return;
    } catch (error) {
      if (pause === null || !mayPass(error)) throw error;
      await wait(pause);
    }
  }
}

function mayPass(error: unknown): boolean {
  return process.platform === 'win32' && ['EPERM', 'EBUSY', 'EACCES'].includes(systemCode(error) ?? '');
}

/** A name that nothing has yet: `path`, else `path-2` and so on. */
export async function freeName(path: string): Promise<string> {
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? path : `${path}-${number}`;
    if ((await stat(candidate).catch(() => null)) === null) return candidate;
  }
}

/** `ENOENT` and its like; undefined for errors that are not the system's. */
export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
