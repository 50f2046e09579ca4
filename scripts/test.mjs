// `npm test`: all vitest projects; arguments after `--` go to vitest (a file name, -t NAME, --project unit).
import './lib/check-node.mjs';
import { join } from 'node:path';
import process from 'node:process';
import { runMain } from './lib/failure.mjs';
import { nodeModules, root } from './lib/paths.mjs';
import { runChild } from './lib/run-child.mjs';
import { prepareOrFail } from './prepare.mjs';

await runMain(async () => {
  await prepareOrFail({ build: false });
  const vitest = join(nodeModules, 'vitest', 'vitest.mjs');
  const { code } = await runChild(process.execPath, [vitest, 'run', ...process.argv.slice(2)], { cwd: root });
  return code;
});
