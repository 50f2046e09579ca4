import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { buildFolder, nodeModules } from './paths.mjs';
import { runChild } from './run-child.mjs';

/** Longest time the one try to fetch Electron may take, and how long its failure is remembered, in ms. */
const fetchLimit = 120_000;
const rememberFor = 24 * 60 * 60 * 1000;
const electronFolder = join(nodeModules, 'electron');
const failureFile = join(buildFolder, 'electron-failed.json');

/**
 * Which shell a start gets, as a pure function of what was found.
 * `fetch` means: try once to get Electron, then ask again.
 * @returns {{shell: 'electron'|'browser'|'fetch', why: string|null}} `why` is one sentence where a window was wanted and
 * cannot be had.
 */
export function chooseShell({ args, node, platform, environment, uid, electron, failedAt, now }) {
  const asksForPage = args.some((arg) => ['--serve', '--open', '--help', '-h', '--version'].includes(arg));
  if (asksForPage) return { shell: 'browser', why: null };
  const browser = (reason) => ({ shell: 'browser', why: `Dormouse opens in the browser: ${reason}` });
  const { SSH_CONNECTION, DISPLAY, WAYLAND_DISPLAY } = environment;
  if (platform === 'linux' && !DISPLAY && !WAYLAND_DISPLAY) {
    return browser(`there is no display here${SSH_CONNECTION ? ' (this is SSH)' : ''}.`);
  }
  if (platform === 'linux' && uid === 0)
    return browser('its window does not run as root, since the sandbox would be off.');
  if (electron === 'ready') return { shell: 'electron', why: null };
  if (electron === 'none') return browser('the package electron is not installed.');
  const [major = 0, minor = 0] = node.split('.').map(Number);
  if (major < 22 || (major === 22 && minor < 12)) {
    return browser(`its window needs Node.js 22.12 or newer to be fetched, and this is ${node}.`);
  }
  if (failedAt !== null && now - failedAt < rememberFor && now >= failedAt) {
    return browser('the window (Electron) could not be downloaded; it is tried again a day after that.');
  }
  return { shell: 'fetch', why: null };
}

/** Looks, tries once to fetch Electron where that is worth it, and decides. */
export async function findShell(args) {
  const first = chooseShell(facts(args));
  if (first.shell !== 'fetch') return first;
  console.error('Fetching the window (Electron, about 120 MB, once)…');
  const abort = AbortSignal.timeout(fetchLimit);
  const options = { capture: true, signal: abort };
  const { stopped } = await runChild(process.execPath, [join(electronFolder, 'install.js')], options).catch(() => ({}));
  if (stopped) process.exit(130);
  if (electronState() !== 'ready') {
    mkdirSync(dirname(failureFile), { recursive: true });
    writeFileSync(failureFile, JSON.stringify({ failedAt: Date.now() }));
  }
  return chooseShell(facts(args));
}

/** Why a window cannot be had here without fetching anything; null when it can. */
export function whyNoElectron() {
  if (electronProgram() === undefined) return 'Electron is not installed here.';
  const { shell, why } = chooseShell({ ...facts([]), electron: 'ready' });
  return shell === 'electron' ? null : why;
}

/** Where the program lies, as Electron's own package tells; undefined when it is not there. */
export function electronProgram() {
  try {
    const inside = readFileSync(join(electronFolder, 'path.txt'), 'utf8');
    const folder = process.env.ELECTRON_OVERRIDE_DIST_PATH || join(electronFolder, 'dist');
    const program = join(folder, inside);
    return existsSync(program) ? program : undefined;
  } catch {
    return undefined;
  }
}

function facts(args) {
  return {
    args,
    node: process.versions.node,
    platform: process.platform,
    environment: process.env,
    uid: process.getuid?.() ?? null,
    electron: electronState(),
    failedAt: readFailure(),
    now: Date.now(),
  };
}

function electronState() {
  if (electronProgram() !== undefined) return 'ready';
  return existsSync(join(electronFolder, 'install.js')) ? 'missing' : 'none';
}

function readFailure() {
  try {
    const { failedAt } = JSON.parse(readFileSync(failureFile, 'utf8'));
    return typeof failedAt === 'number' ? failedAt : null;
  } catch {
    return null;
  }
}
