import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { nodeModules, root } from './paths.mjs';

const readJson = (path) => {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
};

/** What the installed packages depend on: the lock file and the machine they were chosen for. */
export function wantedStamp() {
  const lock = readFileSync(join(root, 'package-lock.json'));
  return JSON.stringify({
    lock: createHash('sha256').update(lock).digest('hex'),
    abi: process.versions.modules,
    platform: `${process.platform}-${process.arch}`,
  });
}

/** @returns the lock's packages that belong on this machine: path in the repository -> lock entry. */
export function packagesForThisMachine() {
  const lock = readJson(join(root, 'package-lock.json'));
  const entries = Object.entries(lock?.packages ?? {}).filter(([path]) => path.startsWith('node_modules/'));
  return entries.filter(
    ([, entry]) =>
      allows(entry.os, process.platform) &&
      allows(entry.cpu, process.arch) &&
      (!entry.libc || allows(entry.libc, libc())),
  );
}

/** @returns those of `packages` whose files are there. */
export function countInstalled(packages) {
  return packages.filter(([path]) => existsSync(join(root, path, 'package.json'))).length;
}

/**
 * Whether node_modules, installed by hand or by another Node, already is what the lock file says. All native packages
 * here use Node-API, so another Node version alone is no reason to install again.
 */
export function matchesLock() {
  return missingPackages().length === 0;
}

/** @returns the paths of packages that should be there and are not, or in another version. */
export function missingPackages() {
  const installed = readJson(join(nodeModules, '.package-lock.json'))?.packages ?? {};
  const missing = packagesForThisMachine().filter(([path, wanted]) => {
    const found = installed[path];
    if (!found) return !(wanted.optional && !wanted.os);
    return found.version !== wanted.version || !existsSync(join(root, path, 'package.json'));
  });
  return missing.map(([path]) => path);
}

function allows(list, value) {
  if (!list) return true;
  if (list.includes(`!${value}`)) return false;
  const named = list.filter((item) => !item.startsWith('!'));
  return named.length === 0 || named.includes(value);
}

let foundLibc;
function libc() {
  if (process.platform !== 'linux') return undefined;
  if (!foundLibc) {
    process.report.excludeNetwork = true;
    foundLibc = process.report.getReport().header.glibcVersionRuntime ? 'glibc' : 'musl';
  }
  return foundLibc;
}
