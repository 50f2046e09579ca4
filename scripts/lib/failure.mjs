/** An expected failure: its message is all that a person sees of it; empty when everything has been said. */
export class Failure extends Error {}

/** Turns what the system says about a file or folder into a sentence; undefined when it is something else. */
export function explainFileError(error) {
  const where = error.path ? `: ${error.path}` : '';
  switch (error.code) {
    case 'ENOSPC':
      return `No space left on the disk${where}.`;
    case 'EDQUOT':
      return `The disk quota is used up${where}.`;
    case 'EROFS':
      return `This folder is on a read-only file system${where}. Dormouse installs its packages and builds itself there.`;
    case 'EACCES':
    case 'EPERM':
      return `No permission to write here${where}. Dormouse installs its packages and builds itself in its own folder.`;
    default:
      return undefined;
  }
}

/** Runs an entry's main function: its number is the exit code, failures are sentences, bugs keep their stack. */
export async function runMain(main) {
  try {
    process.exitCode = await main();
  } catch (error) {
    const sentence = error instanceof Failure ? error.message : explainFileError(error);
    if (sentence !== '') console.error(sentence ?? error);
    process.exitCode = error instanceof Failure && error.exitCode ? error.exitCode : 1;
  }
}
