import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, delimiter, join } from 'node:path';
import process from 'node:process';
import { Failure, explainFileError } from './failure.mjs';
import { countInstalled, matchesLock, missingPackages, packagesForThisMachine, wantedStamp } from './lockfile.mjs';
import { nodeModules, root } from './paths.mjs';
import { Progress } from './progress.mjs';
import { runChild } from './run-child.mjs';

const stampFile = join(nodeModules, '.dormouse-stamp.json');

export function isInstalled() {
  return existsSync(stampFile) && readFileSync(stampFile, 'utf8') === wantedStamp();
}

/** Makes node_modules what the lock file says: nothing if it already is, else one `npm ci`. */
export async function install() {
  if (isInstalled()) return;
  if (matchesLock()) {
    writeFileSync(stampFile, wantedStamp());
    return;
  }
  const npm = findNpm();
  rmSync(stampFile, { force: true });

  // Optional ones that fit any machine may belong to one that does not: whether they come, only npm knows.
  const packages = packagesForThisMachine().filter(([, { optional, os }]) => !optional || os);
  const progress = new Progress('Installing packages', ' (about a minute, once)');
  const timer = setInterval(() => progress.update(`${countInstalled(packages)} of ${packages.length} packages`), 1000);
  const args = ['ci', '--include=dev', '--no-audit', '--no-fund', '--no-progress', '--loglevel=warn'];
  // npm's own waits between tries add up to minutes, in which a person offline would learn nothing.
  args.push('--fetch-retry-mintimeout=2000', '--fetch-retry-maxtimeout=10000');
  let result;
  try {
    result = await runChild(npm.command, [...npm.args, ...args], {
      ...npm.options,
      cwd: root,
      capture: true,
      // npm finishes unpacking before it listens; nothing is lost by cutting it short, since the next start begins anew.
      graceMs: 2_000,
    });
  } finally {
    clearInterval(timer);
  }
  if (result.stopped) {
    progress.end('Stopped while installing packages; the next start begins this step again.');
    throw Object.assign(new Failure(''), { exitCode: result.code || 130 });
  }
  // A full disk is only a warning to npm: files are missing then, and it still ends with 0.
  const torn = /TAR_ENTRY_ERROR (\w+)/.exec(result.output)?.[1];
  const missing = result.code === 0 ? missingPackages() : [];
  if (result.code !== 0 || torn || missing.length > 0) {
    progress.end('Packages could not be installed.');
    if (torn) throw new Failure(sentenceFor(torn));
    if (missing.length > 0) throw new Failure(`These packages did not arrive; try again: ${missing.join(', ')}`);
    throw new Failure(explainNpm(result.output, result.code));
  }
  writeFileSync(stampFile, wantedStamp());
  progress.end(`Packages installed in ${progress.seconds} s.`);
}

/** npm as it was called (`npm start` names its own file), else the one on the PATH. */
function findNpm() {
  const called = process.env.npm_execpath;
  if (called && basename(called) === 'npm-cli.js' && existsSync(called)) {
    return { command: process.execPath, args: [called], options: {} };
  }
  const windows = process.platform === 'win32';
  const name = windows ? 'npm.cmd' : 'npm';
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  if (!folders.some((folder) => existsSync(join(folder, name)))) {
    throw new Failure(
      'npm was not found on the PATH. Dormouse needs it once, to install its packages.\n' +
        'It comes with Node.js (on Debian and Ubuntu it is a package of its own: apt-get install npm).',
    );
  }
  return { command: name, args: [], options: windows ? { shell: true } : {} };
}

const offline = new Set(
  'ENOTFOUND EAI_AGAIN ECONNREFUSED ECONNRESET ETIMEDOUT ENETUNREACH EHOSTUNREACH ERR_SOCKET_TIMEOUT FETCH_ERROR'.split(
    ' ',
  ),
);

/** One sentence on what is missing, then npm's own reason. */
export function explainNpm(output, exitCode) {
  const lines = output
    .split('\n')
    .filter((line) => /^npm (error|ERR!)/.test(line))
    .map((line) => line.replace(/^npm (error|ERR!) ?/, '').trim());
  const code = lines.find((line) => line.startsWith('code '))?.slice(5) ?? '';
  const rest = lines.filter(
    (line) => line && !/^(code|errno|syscall|path|A complete log|enoent This is related)/.test(line),
  );
  // npm repeats "network" before each line of that kind and adds general advice after the reason.
  const reason =
    rest[0]?.replace(/^(network|FetchError:) /, '') ?? `npm ended with exit code ${exitCode} and gave no reason.`;
  return `${sentenceFor(code)}\nnpm says: ${reason}`;
}

function sentenceFor(code) {
  if (offline.has(code)) {
    return 'The package registry could not be reached. Dormouse needs the network once, to install its packages.';
  }
  const fileProblem = explainFileError({ code });
  if (fileProblem) return fileProblem;
  switch (code) {
    case 'EUSAGE':
      return 'package.json and package-lock.json do not belong together; run "npm install" to bring them in line.';
    case 'EINTEGRITY':
      return 'A package that was downloaded is not the one the lock file names; "npm cache clean --force" may help.';
    case 'E404':
    case 'ETARGET':
      return 'The package registry does not have a package that the lock file names.';
    default:
      return 'npm could not install the packages.';
  }
}
