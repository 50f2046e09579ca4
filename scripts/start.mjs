// `npm start` and `npm run serve`: prepare, then the app in the foreground until it ends or is told to.
import './lib/check-node.mjs';
import { join } from 'node:path';
import process from 'node:process';
import { runMain } from './lib/failure.mjs';
import { hideKey } from './lib/hide-key.mjs';
import { engineNodeFlags } from './lib/node-flags.mjs';
import { appFolder, root } from './lib/paths.mjs';
import { runChild } from './lib/run-child.mjs';
import { electronProgram, findShell } from './lib/shell-choice.mjs';
import { prepareOrFail } from './prepare.mjs';

await runMain(async () => {
  const { args, env: hidden } = hideKey(process.argv.slice(2));
  const env = { ...process.env, ...hidden };
  await prepareOrFail();
  const { shell, why } = await findShell(args);
  if (why !== null) console.error(why);
  const watch = endWithNpm();
  const { code } = await (shell === 'electron' ? runWindow(args, env) : runPage(args, env));
  clearInterval(watch);
  return code;
});

/** In Electron. V8 takes its flags only at the start of the process, so they are given here. */
function runWindow(args, env) {
  return runChild(electronProgram(), [root, `--js-flags=${engineNodeFlags.join(' ')}`, ...args], { env });
}

/** In plain Node, with the page in the browser unless something else was asked for. */
function runPage(args, env) {
  const quiet = args.some((arg) => ['--serve', '--open', '--help', '-h', '--version'].includes(arg));
  const cli = join(appFolder, 'main', 'cli.js');
  return runChild(process.execPath, [...engineNodeFlags, cli, ...(quiet ? [] : ['--open']), ...args], { env });
}

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
