// `npm start` and `npm run serve`: prepare, then the app in the foreground until it ends or is told to.
import './lib/check-node.mjs';
import { join } from 'node:path';
import process from 'node:process';
import { runMain } from './lib/failure.mjs';
import { engineNodeFlags } from './lib/node-flags.mjs';
import { appFolder } from './lib/paths.mjs';
import { runChild } from './lib/run-child.mjs';
import { prepareOrFail } from './prepare.mjs';

await runMain(async () => {
  const args = process.argv.slice(2);
  await prepareOrFail();
  const quiet = args.some((arg) => ['--serve', '--open', '--help', '-h', '--version'].includes(arg));
  const cli = join(appFolder, 'main', 'cli.js');
  const watch = endWithNpm();
  const { code } = await runChild(process.execPath, [...engineNodeFlags, cli, ...(quiet ? [] : ['--open']), ...args]);
  clearInterval(watch);
  return code;
});

/** A stopped npm ends only the shell between it and this script; that is seen by the parent having changed. */
function endWithNpm() {
  const parent = process.ppid;
  if (process.env.npm_lifecycle_event === undefined) return undefined;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    process.kill(process.pid, 'SIGTERM');
  }, 1_000);
  return watch;
}
