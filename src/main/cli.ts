import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createApp, type App } from './app.ts';
import { readArguments } from './arguments.ts';
import { defaultDataFolder } from './base/index.ts';
import type { FlagValues } from './contract/index.ts';
import { openBrowser } from './open-browser.ts';
import { askedModel, askRunning, listeningOwner, unusedFlags } from './running-instance.ts';
import { DataFolder, type DataFolderOwner } from './store/index.ts';

// The headless entry: the services without Electron. Built to build/app/main/cli.js.
const appFolder = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
const version = __DORMOUSE_VERSION__;

/** Longest time a clean end may take before the process ends anyway, in ms. */
const closeLimit = 10_000;

async function main(): Promise<void> {
  const parsed = readArguments(process.argv.slice(2), process.env);
  switch (parsed.kind) {
    case 'help':
      return print(parsed.text);
    case 'version':
      return print(version);
    case 'error':
      for (const message of parsed.messages) process.stderr.write(`dormouse: ${message}\n`);
      process.exitCode = 2;
      return;
    case 'run':
      break;
  }
  const { flags, given } = parsed;
  const path = flags['data-dir'] ?? defaultDataFolder();
  const notices: string[] = [];
  const opened = await DataFolder.open(path, (notice) => notices.push(notice));
  if (!opened.ok) return goToRunning(opened.owner, flags, path);
  const rendererFolder = join(appFolder, 'build', 'app', 'renderer');
  const dataFolder = opened.folder;
  const paths = { appFolder, rendererFolder, dataFolder };
  const app = await createApp({ flags, given, shell: 'browser', version, ...paths, notices });
  endWithSignals(app);
  const started = await app.start();
  if (!started.ok) {
    process.stderr.write(`dormouse: ${started.error.message} ${started.error.hint ?? ''}\n`);
    await app.close();
    process.exitCode = 1;
    return;
  }
  app.onNotice((notice) => process.stderr.write(`dormouse: ${notice}\n`));
  const link = app.createLink();
  const shown = flags.open && (await openBrowser(link));
  print(
    `Dormouse ${version} runs ${shown ? 'in your browser' : 'here; open this link in a browser within a minute'}: ${shown ? app.createLink() : link}`,
  );
  const { on, url } = app.server();
  print(
    `${on ? `API for your tools: ${url ?? ''}/v1` : 'API for your tools: off (Server page)'}   Log: ${app.logFile}`,
  );
  app.onMoved(() => print(`Dormouse listens elsewhere now; its page, within a minute: ${app.createLink()}`));
  offerLinks(app);
}

/**
 * Another Dormouse has the data folder: it shows its window or page and loads the model that was asked for, or says where
 * it is when a server of one's own was wanted.
 */
async function goToRunning(holder: DataFolderOwner, flags: FlagValues, dataFolder: string): Promise<void> {
  const owner = await listeningOwner(dataFolder, holder);
  const where = `Dormouse (process ${owner.pid}) already runs with the data folder ${dataFolder}`;
  const model = flags.model === null ? null : askedModel(flags.model, process.cwd());
  const answer = await askRunning(owner, { model, show: !flags.serve });
  const unused = unusedFlags(flags);
  if (unused.length > 0) {
    process.stderr.write(
      `dormouse: ${unused.map((name) => `--${name}`).join(', ')} not used: the running one keeps its flags.\n`,
    );
  }
  const loads = answer !== null && model !== null ? ' It loads the model that you asked for.' : '';
  if (answer !== null && !flags.serve) {
    if (answer.shown) return print(`${where}; its window is in front now.${loads}`);
    const opened = flags.open && (await openBrowser(answer.link));
    return print(
      opened
        ? `${where}; its page is open in your browser: ${owner.url ?? ''}${loads}`
        : `${where}. Open this link within a minute: ${answer.link}${loads}`,
    );
  }
  const address =
    owner.url === null ? 'It is still starting, or its server is switched off.' : `It answers at ${owner.url}.`;
  if (loads !== '') return print(`${where}. ${address}${loads}`);
  process.stderr.write(
    `dormouse: ${where}. ${address} Use that one, end it first, or choose another folder with --data-dir.\n`,
  );
  process.exitCode = 1;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** At a terminal, Enter prints another link: the first one works once and not for long. */
function offerLinks(app: App): void {
  if (!process.stdin.isTTY) return;
  print('Press Enter for another link, Ctrl-C to end.');
  createInterface({ input: process.stdin }).on('line', () => print(app.createLink()));
}

/** Ctrl-C, a closed terminal and `kill` end everything cleanly; a second Ctrl-C ends it at once. */
function endWithSignals(app: App): void {
  let closing = false;
  const end = (code: number) => {
    if (closing) process.exit(code === 0 ? 130 : code);
    closing = true;
    setTimeout(() => process.exit(code || 1), closeLimit).unref();
    void app.close().then(
      () => process.exit(code),
      () => process.exit(1),
    );
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => end(0));
  const broken = (error: unknown) => {
    app.logger.error('unexpected error', {
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
    process.stderr.write(`dormouse: something broke inside Dormouse; the log has the details: ${app.logFile}\n`);
    end(1);
  };
  process.on('uncaughtException', broken);
  process.on('unhandledRejection', broken);
}

await main();
