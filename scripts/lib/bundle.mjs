import { basename, join } from 'node:path';
import process from 'node:process';
import { Failure } from './failure.mjs';
import { buildFolder, nodeModules, root } from './paths.mjs';
import { runChild } from './run-child.mjs';

/**
 * Turns one TypeScript file with what it imports of ours into `build/tools/NAME.js`, so that plain Node can run it.
 * @param entry path in the repository.
 * @returns the path of the result.
 */
export async function bundle(entry) {
  const name = basename(entry).replace(/\.ts$/, '');
  const vite = join(nodeModules, 'vite', 'bin', 'vite.js');
  const args = ['build', '--config', 'vite.main.config.ts', '--ssr', entry, '--logLevel', 'warn'];
  const target = ['--outDir', join(buildFolder, 'tools'), '--emptyOutDir', 'false'];
  const env = { ...process.env, NODE_ENV: 'production' };
  const result = await runChild(process.execPath, [vite, ...args, ...target], { cwd: root, capture: true, env });
  if (result.code !== 0) throw new Failure(result.output.trim() || `vite ended with exit code ${result.code}.`);
  return join(buildFolder, 'tools', `${name}.js`);
}
