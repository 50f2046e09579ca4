// `npm run lint`: eslint, the import table, formatting, unused files and packages. `--fix` repairs what tools can.
import './lib/check-node.mjs';
import { join } from 'node:path';
import process from 'node:process';
import { runMain } from './lib/failure.mjs';
import { nodeModules, root } from './lib/paths.mjs';
import { runChild } from './lib/run-child.mjs';
import { prepareOrFail } from './prepare.mjs';

const fix = process.argv.includes('--fix');
const steps = [
  { name: 'eslint', program: 'eslint/bin/eslint.js', args: ['.', '--max-warnings', '0', ...(fix ? ['--fix'] : [])] },
  {
    name: 'import table',
    program: 'dependency-cruiser/bin/dependency-cruise.mjs',
    args: ['--config', '.dependency-cruiser.mjs', 'src'],
  },
  {
    name: 'prettier',
    program: 'prettier/bin/prettier.cjs',
    args: ['.', '--log-level', 'warn', fix ? '--write' : '--check'],
  },
  { name: 'knip', program: 'knip/bin/knip.js', args: ['--no-progress', '--treat-config-hints-as-errors'] },
];

await runMain(async () => {
  await prepareOrFail({ build: false });
  const failed = [];
  for (const { name, program, args } of steps) {
    const { code, stopped } = await runChild(process.execPath, [join(nodeModules, program), ...args], { cwd: root });
    if (stopped) return code;
    console.log(`${name}: ${code === 0 ? 'ok' : 'problems'}`);
    if (code !== 0) failed.push(name);
  }
  return failed.length === 0 ? 0 : 1;
});
