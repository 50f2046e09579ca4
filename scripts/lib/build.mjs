import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import process from 'node:process';
import { Failure } from './failure.mjs';
import { appFolder, buildFolder, nodeModules, root } from './paths.mjs';
import { Progress } from './progress.mjs';
import { runChild } from './run-child.mjs';

const shared = ['tsconfig.base.json', 'package.json', 'package-lock.json', 'scripts/lib/build.mjs'];

const parts = [
  {
    name: 'renderer',
    title: 'the page',
    config: 'vite.config.ts',
    needs: 'src/renderer/index.html',
    gives: 'index.html',
    inputs: [
      'src/renderer',
      'src/main/contract',
      'assets/icon.svg',
      'assets/icon-small.svg',
      'vite.config.ts',
      ...shared,
    ],
  },
  {
    name: 'main',
    title: 'the program',
    config: 'vite.main.config.ts',
    needs: 'src/main/cli.ts',
    gives: 'cli.js',
    inputs: ['src/main', 'vite.main.config.ts', ...shared],
  },
  {
    name: 'preload',
    title: "the window's bridge",
    config: 'vite.preload.config.ts',
    needs: 'src/main/preload/preload.ts',
    gives: 'preload.cjs',
    inputs: ['src/main/preload', 'src/main/contract', 'vite.preload.config.ts', ...shared],
  },
];

/** The parts whose sources changed since they were built. */
export function staleParts() {
  return parts.map((part) => ({ ...part, hash: hashOf(part.inputs) })).filter((part) => !isFresh(part));
}

/** Builds what is stale. A part appears whole or not at all: it is built beside the old one, then moved over it. */
export async function build() {
  const stale = staleParts();
  if (stale.length === 0) return;
  const progress = new Progress('Building', ` ${stale.map((part) => part.title).join(' and ')}`);
  for (const part of stale) await buildPart(part, progress);
  progress.end(`Built in ${progress.seconds} s.`);
}

async function buildPart(part, progress) {
  if (!existsSync(join(root, part.needs))) {
    progress.end(`Could not build ${part.title}.`);
    throw new Failure(`${part.needs} is missing from this folder; is it a complete clone?`);
  }
  const next = join(buildFolder, 'next', part.name);
  const vite = join(nodeModules, 'vite', 'bin', 'vite.js');
  const args = [vite, 'build', '--config', part.config, '--outDir', next, '--emptyOutDir', '--logLevel', 'warn'];
  const timer = setInterval(() => progress.update(part.title), 1000);
  let result;
  try {
    // Without NODE_ENV=test of a test run: React would come in its development build.
    const env = { ...process.env, NODE_ENV: 'production' };
    result = await runChild(process.execPath, args, { cwd: root, capture: true, env });
  } finally {
    clearInterval(timer);
  }
  if (result.stopped) throw Object.assign(new Failure(''), { exitCode: result.code || 130 });
  if (result.code !== 0) {
    progress.end(`Could not build ${part.title}.`);
    throw new Failure(result.output.trim() || `vite ended with exit code ${result.code}.`);
  }
  const target = join(appFolder, part.name);
  mkdirSync(appFolder, { recursive: true });
  rmSync(stampOf(part), { force: true });
  rmSync(target, { recursive: true, force: true });
  renameSync(next, target);
  writeFileSync(stampOf(part), part.hash);
}

const stampOf = (part) => join(appFolder, `${part.name}.stamp`);

function isFresh(part) {
  if (!existsSync(join(appFolder, part.name, part.gives)) || !existsSync(stampOf(part))) return false;
  return readFileSync(stampOf(part), 'utf8') === part.hash;
}

function hashOf(inputs) {
  const hash = createHash('sha256');
  for (const input of inputs) {
    for (const file of filesUnder(join(root, input))) {
      hash
        .update(`${relative(root, file)}\0`)
        .update(readFileSync(file))
        .update('\0');
    }
  }
  return hash.digest('hex');
}

function filesUnder(path) {
  if (!existsSync(path)) return [];
  if (statSync(path).isFile()) return [path];
  return readdirSync(path)
    .sort()
    .flatMap((name) => filesUnder(join(path, name)));
}
