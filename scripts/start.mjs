// `npm start` and `npm run serve`: prepare, then the app in the foreground until it ends or is told to.
import './lib/check-node.mjs';
import { join } from 'node:path';
import process from 'node:process';
import { runMain } from './lib/failure.mjs';
import { appFolder } from './lib/paths.mjs';
import { runChild } from './lib/run-child.mjs';
import { prepareOrFail } from './prepare.mjs';

await runMain(async () => {
  const args = process.argv.slice(2);
  await prepareOrFail();
  const quiet = args.some((arg) => ['--serve', '--open', '--help', '-h', '--version'].includes(arg));
  const { code } = await runChild(process.execPath, [
    join(appFolder, 'main', 'cli.js'),
    ...(quiet ? [] : ['--open']),
    ...args,
  ]);
  return code;
});
