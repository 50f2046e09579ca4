import { mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { App, AppOptions } from './app.ts';
import { readArguments } from './arguments.ts';
import { defaultDataFolder } from './base/index.ts';
import type { FlagValues } from './contract/index.ts';
import { systemFacts } from './desktop-facts.ts';
import { DesktopTransport } from './ipc/index.ts';
import { openBrowser } from './open-browser.ts';
import { askedModel, askRunning, listeningOwner } from './running-instance.ts';
import {
  DesktopShell,
  handleAppProtocol,
  hasTrayHost,
  isAppUrl,
  registerAppScheme,
  secretCipher,
  secureAllContents,
  setLoginEntry,
  shellWords,
  type ElectronModules,
} from './shell/index.ts';
import { DataFolder, type DataFolderOwner } from './store/index.ts';

/** What the process is made of; tests give their own. */
export type DesktopOptions = {
  readonly electron: ElectronModules;
  /** Folder that holds `assets` and `build`; inside the archive when packaged. */
  readonly appFolder: string;
  readonly version: string;
  readonly createApp: (options: AppOptions) => Promise<App>;
  readonly process?: Pick<NodeJS.Process, 'argv' | 'env' | 'platform' | 'cwd' | 'on' | 'versions' | 'execPath'>;
  readonly trayHost?: (platform: NodeJS.Platform) => Promise<boolean>;
  readonly home?: string;
  /** Unix time in ms. */
  readonly now?: () => number;
};

type Process = NonNullable<DesktopOptions['process']>;

export type PreparedDesktop = DesktopOptions & {
  readonly app: App;
  readonly flags: FlagValues;
  readonly proc: Process;
  /** GGUF files that the system asked to open before there was a window; later ones go to `open`. */
  readonly inbox: Inbox;
};

/**
 * All that must happen before Electron is ready, in this order.
 * @returns null when this process has nothing more to do: wrong arguments, or another Dormouse runs and was shown.
 */
export async function prepareDesktop(options: DesktopOptions): Promise<PreparedDesktop | null> {
  const { electron, version, createApp } = options;
  const proc = options.process ?? process;
  reportErrors(electron, proc);
  const parsed = readArguments(ownArguments(proc), proc.env);
  if (parsed.kind !== 'run') return refuse(electron, parsed.kind === 'error' ? parsed.messages : []);
  const { flags, given } = parsed;
  const path = flags['data-dir'] ?? defaultDataFolder(proc.platform, proc.env);
  const model = flags.model === null ? null : askedModel(flags.model, proc.cwd());
  if (!(await isFirst(electron, path, { model, show: !flags.serve && !flags.hidden }))) return leave(electron);
  const notices: string[] = [];
  const opened = await DataFolder.open(path, (notice) => notices.push(notice));
  if (!opened.ok) return goToHeadless(electron, path, opened.owner, model);
  const inbox = new Inbox(electron.app);
  // Told here to the pages' processes; `npm start` and the packaged start tell it to this one.
  electron.app.commandLine.appendSwitch('js-flags', '--no-memory-reducer');
  electron.app.enableSandbox();
  if (flags['software-rendering']) electron.app.disableHardwareAcceleration();
  registerAppScheme(electron);
  secureAllContents(electron);
  const app = await createApp({
    flags: { ...flags, model },
    given,
    cipher: () => secretCipher(electron, proc.platform),
    shell: 'desktop',
    version,
    // Native code cannot open what lies inside the archive.
    appFolder: unpacked(options.appFolder),
    rendererFolder: join(options.appFolder, 'build', 'app', 'renderer'),
    dataFolder: opened.folder,
    notices,
  });
  return { ...options, app, flags, proc, inbox };
}

/** All that happens once Electron is ready. */
export async function runDesktop({ electron, appFolder, version, app, flags, proc, inbox, ...rest }: PreparedDesktop) {
  const { platform, env } = proc;
  await electron.app.whenReady();
  electron.app.setAppUserModelId('app.dormouse.desktop');
  handleAppProtocol(electron, join(appFolder, 'build', 'app', 'renderer'));
  const transport = new DesktopTransport({
    ipcMain: electron.ipcMain,
    dispatcher: app.dispatcher,
    isOwnPage: isAppUrl,
  });
  const facts = systemFacts(version, proc);
  electron.app.setAboutPanelOptions(facts.about);
  const trayHost = await (rest.trayHost ?? hasTrayHost)(platform);
  const login = { electron, platform, environment: env, home: rest.home ?? homedir(), command: startCommand(proc) };
  const shell = new DesktopShell({
    electron,
    dispatcher: app.dispatcher,
    settings: app.settings,
    server: () => app.server(),
    notify: (text) => app.notify(text),
    logger: app.logger,
    platform,
    trayHost,
    startHidden: flags.hidden || flags.serve,
    // Read from the archive by Electron itself.
    preload: join(appFolder, 'build', 'app', 'preload', 'preload.cjs'),
    iconFolder: join(appFolder, 'assets', 'icons'),
    system: facts.diagnostics,
    setLoginEntry: (on) => setLoginEntry(on, login),
    stopAnswers: () => app.stopAnswers(),
    close: () => app.close(),
    now: rest.now ?? Date.now,
  });
  transport.attach(shell.contents, () => shell.isSeen);
  app.onShow(() => shell.show());
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) proc.on(signal, () => shell.quitNow());
  inbox.deliver((path) => void shell.openModel(path));
  electron.app.on('second-instance', (_event, _argv, _folder, data) => {
    app.secondStart(readWish(data));
  });
  await app.start();
}

/** Files that macOS asks to open, perhaps before there is anything that could. */
class Inbox {
  readonly #waiting: string[] = [];
  #open: ((path: string) => void) | null = null;

  constructor(app: ElectronModules['app']) {
    app.on('open-file', (event, path) => {
      event.preventDefault();
      if (this.#open === null) this.#waiting.push(path);
      else this.#open(path);
    });
  }

  deliver(open: (path: string) => void): void {
    this.#open = open;
    for (const path of this.#waiting.splice(0)) open(path);
  }
}

/** A bug is told in a box, since there is no terminal that somebody reads, and ends the app. */
function reportErrors({ app, dialog }: ElectronModules, proc: Process): void {
  const broken = (error: unknown) => {
    dialog.showErrorBox(
      shellWords.startFailed,
      error instanceof Error ? (error.stack ?? error.message) : String(error),
    );
    app.exit(1);
  };
  proc.on('uncaughtException', broken);
  proc.on('unhandledRejection', broken);
}

/** The arguments that are for Dormouse: without program, app folder, and what is for Electron itself. */
export function ownArguments(
  { argv }: Pick<Process, 'argv'>,
  packaged = !('defaultApp' in process),
): readonly string[] {
  return argv.slice(packaged ? 1 : 2).filter((argument) => !argument.startsWith('--js-flags='));
}

/** What starts this app again: the program alone when packaged, else Electron with its folder. */
function startCommand({ execPath, env, argv }: Process): readonly string[] {
  const program = env['APPIMAGE'] ?? execPath;
  return 'defaultApp' in process && argv[1] !== undefined ? [program, argv[1]] : [program];
}

/** Electron's own lock is per profile, and the profile lies in the data folder: so both locks guard the same thing. */
async function isFirst({ app }: ElectronModules, dataFolder: string, wish: Record<string, unknown>): Promise<boolean> {
  const profile = join(dataFolder, 'window');
  // A folder that cannot be made is told later, with the data folder's own notice.
  const made = await mkdir(profile, { recursive: true }).then(
    () => true,
    () => false,
  );
  if (made) app.setPath('userData', profile);
  return app.requestSingleInstanceLock(wish);
}

function readWish(data: unknown): { readonly model: string | null; readonly show: boolean } {
  if (typeof data !== 'object' || data === null) return { model: null, show: true };
  const model = 'model' in data && typeof data.model === 'string' ? data.model : null;
  return { model, show: !('show' in data) || data.show !== false };
}

/** The data folder belongs to a Dormouse without a window: its page is shown in the browser. */
async function goToHeadless(
  electron: ElectronModules,
  dataFolder: string,
  holder: DataFolderOwner,
  model: string | null,
): Promise<null> {
  const owner = await listeningOwner(dataFolder, holder);
  const answer = await askRunning(owner, { model, show: true });
  if (answer === null || (!answer.shown && !(await openBrowser(answer.link)))) {
    const address = owner.url === null ? 'It does not answer.' : `It answers at ${owner.url}.`;
    electron.dialog.showErrorBox(
      shellWords.startFailed,
      `Another Dormouse (process ${owner.pid}) has the data folder ${dataFolder}. ${address} Use that one, end it first, or choose another folder with --data-dir.`,
    );
  }
  return leave(electron);
}

function refuse(electron: ElectronModules, messages: readonly string[]): null {
  if (messages.length > 0) electron.dialog.showErrorBox(shellWords.startFailed, messages.join('\n'));
  electron.app.exit(messages.length > 0 ? 2 : 0);
  return null;
}

function leave({ app }: ElectronModules): null {
  app.exit(0);
  return null;
}

function unpacked(folder: string): string {
  return folder.replace(/app\.asar(?=$|[\\/])/, 'app.asar.unpacked');
}
