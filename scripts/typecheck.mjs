// `npm run typecheck`: one TypeScript project per environment.
import './lib/check-node.mjs';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { runMain } from './lib/failure.mjs';
import { nodeModules, root } from './lib/paths.mjs';
import { runChild } from './lib/run-child.mjs';
import { prepareOrFail } from './prepare.mjs';

const projects = ['src/main/contract', 'src/main', 'src/main/preload', 'src/renderer', 'test'];

const hasSources = (project) => {
  const folder = join(root, project);
  return existsSync(folder) && readdirSync(folder, { recursive: true }).some((name) => /\.tsx?$/.test(String(name)));
};

await runMain(async () => {
  await prepareOrFail({ build: false });
  const tsc = join(nodeModules, 'typescript', 'bin', 'tsc');
  let worst = 0;
  for (const project of projects) {
    if (!hasSources(project)) {
      console.log(`${project}: no sources yet`);
      continue;
    }
    const info = join('build', 'tsc', `${project.replaceAll('/', '-')}.tsbuildinfo`);
    const args = [tsc, '-p', project, '--pretty', '--incremental', '--tsBuildInfoFile', info];
    const { code, stopped } = await runChild(process.execPath, args, { cwd: root });
    if (stopped) return code;
    console.log(`${project}: ${code === 0 ? 'ok' : 'errors'}`);
    worst = Math.max(worst, code);
  }
  return worst;
});
