import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, join, relative } from 'node:path';
import process from 'node:process';
import { Failure } from './failure.mjs';
import { buildFolder, nodeModules, root } from './paths.mjs';
import { Progress } from './progress.mjs';
import { runChild } from './run-child.mjs';

export const addonPath = join(buildFolder, 'native', 'release', 'dormouse.node');

const llamaFolder = join(nodeModules, 'node-llama-cpp', 'llama');
const addonInputs = [
  join(root, 'src/native'),
  join(root, 'scripts/lib/native.mjs'),
  join(nodeModules, 'node-addon-api/package.json'),
  join(nodeModules, 'node-api-headers/package.json'),
  join(llamaFolder, 'binariesGithubRelease.json'),
];
const testInputs = [...addonInputs, join(root, 'test/native')];

const hasProgram = (...names) =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .filter(Boolean)
    .some((folder) => names.some((name) => existsSync(join(folder, name)) || existsSync(join(folder, `${name}.exe`))));

/** @returns what the native build lacks on this machine, by the names of Debian's packages; empty when nothing. */
export function missingTools() {
  const missing = [];
  if (!hasProgram('cmake')) missing.push('cmake');
  // On Windows cmake finds Visual Studio's compiler itself; it is on no PATH.
  if (process.platform === 'win32') return missing;
  if (!hasProgram('g++', 'clang++', 'c++')) missing.push('g++');
  if (!hasProgram('make', 'ninja')) missing.push('make');
  if (!hasProgram('git')) missing.push('git');
  return missing;
}

/** One sentence on what to install, in this system's words. */
export function explainMissing(missing) {
  const names = missing.map((name) => (name === 'g++' ? 'a C++ compiler' : name));
  const what = [...(names.length > 1 ? [names.slice(0, -1).join(', ')] : []), names.at(-1)].join(' and ');
  return `The expert pool is not built, as ${what} ${missing.length > 1 ? 'are' : 'is'} missing (${installHint(missing)}). Dormouse computes on llama.cpp's own threads instead.`;
}

function installHint(missing) {
  switch (process.platform) {
    case 'darwin':
      return 'xcode-select --install, and cmake from cmake.org or Homebrew';
    case 'win32':
      return 'Visual Studio Build Tools with C++ and CMake';
    default:
      return `on Debian and Ubuntu: apt-get install ${missing.join(' ')}`;
  }
}

/** 'fresh', 'stale', 'failed' (the same sources did not compile before) or 'no-tools'. */
export function addonState() {
  const hash = hashOf(addonInputs);
  if (existsSync(addonPath) && readStamp('release', 'addon') === hash) return 'fresh';
  if (missingTools().length > 0) return 'no-tools';
  return readStamp('release', 'failed') === hash ? 'failed' : 'stale';
}

/** @returns a sentence on why there is no addon, or undefined. */
export function whyNoAddon() {
  switch (addonState()) {
    case 'no-tools':
      return explainMissing(missingTools());
    case 'failed':
      return `The expert pool could not be compiled (the compiler's words are in ${relative(root, logPath())}). Dormouse computes on llama.cpp's own threads instead.`;
    default:
      return undefined;
  }
}

/** Builds the addon when it is stale. The app runs without it, so a failure is only noted: see `whyNoAddon`. */
export async function buildAddon() {
  if (addonState() !== 'stale') return;
  const hash = hashOf(addonInputs);
  const progress = new Progress('Building the expert pool', ' (half a minute, once)');
  const timer = setInterval(() => progress.update('compiling'), 1000);
  let result;
  try {
    result = await cmake('release', ['dormouse_addon']);
  } finally {
    clearInterval(timer);
  }
  if (result.stopped) throw Object.assign(new Failure(''), { exitCode: result.code || 130 });
  if (result.code === 0) {
    progress.end(`Built the expert pool in ${progress.seconds} s.`);
    writeStamp('release', 'addon', hash);
    return;
  }
  progress.end('Could not build the expert pool.');
  writeFileSync(logPath(), result.output);
  writeStamp('release', 'failed', hash);
}

/** Builds the test programs and pool-bench of one preset, or throws what the compiler said. */
export async function buildNativeTests(preset) {
  const hash = hashOf(testInputs);
  if (readStamp(preset, 'tests') === hash) return;
  const result = await cmake(preset, ['all']);
  if (result.stopped) throw Object.assign(new Failure(''), { exitCode: result.code || 130 });
  if (result.code !== 0) throw new Failure(result.output.trim());
  writeStamp(preset, 'tests', hash);
  if (preset === 'release') writeStamp(preset, 'addon', hashOf(addonInputs));
}

export const programPath = (preset, name) => join(buildFolder, 'native', preset, 'test', name);

/** A build folder of another place, compiler or CMake makes configuring fail: then once more from nothing. */
async function cmake(preset, targets) {
  const folder = join(buildFolder, 'native', preset);
  const configured = existsSync(join(folder, 'CMakeCache.txt'));
  const result = await configureAndBuild(preset, targets, folder);
  if (result.code === 0 || result.stopped || !configured) return result;
  rmSync(folder, { recursive: true, force: true });
  return configureAndBuild(preset, targets, folder);
}

async function configureAndBuild(preset, targets, folder) {
  rmSync(stampPath(preset, 'failed'), { force: true });
  mkdirSync(folder, { recursive: true });
  const fresh = !existsSync(join(folder, 'CMakeCache.txt'));
  const generator = fresh && process.platform !== 'win32' && !hasProgram('make') ? ['-G', 'Ninja'] : [];
  // A git hook's variables would send the clone of ggml's headers into the wrong repository.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_')));
  const options = { cwd: join(root, 'src', 'native'), capture: true, env };
  const configure = await runChild('cmake', ['--preset', preset, ...generator], options);
  if (configure.code !== 0 || configure.stopped) return configure;
  const config = process.platform === 'win32' ? ['--config', 'Release'] : [];
  return runChild('cmake', ['--build', '--preset', preset, ...config, '--target', ...targets], options);
}

const logPath = () => join(buildFolder, 'native', 'release', 'build.log');
const stampPath = (preset, name) => join(buildFolder, 'native', preset, `${name}.stamp`);

function readStamp(preset, name) {
  const path = stampPath(preset, name);
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

function writeStamp(preset, name, hash) {
  writeFileSync(stampPath(preset, name), hash);
}

function hashOf(inputs) {
  const hash = createHash('sha256');
  for (const file of inputs.flatMap(filesUnder)) hash.update(`${file}\0`).update(readFileSync(file)).update('\0');
  return hash.digest('hex');
}

function filesUnder(path) {
  if (!existsSync(path)) return [];
  if (statSync(path).isFile()) return [path];
  const names = readdirSync(path).sort();
  return names.flatMap((name) => filesUnder(join(path, name))).filter((file) => !/\.(md|ts|pml)$/.test(file));
}
