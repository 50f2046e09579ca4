import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Emitter, systemClock, type Logger } from './base/index.ts';
import type { AppError, AppInfo, Dispatcher, FlagName, FlagValues, Result, SecondStart } from './contract/index.ts';
import { addonPath, LlamaEngine, loadExpertPoolAddon } from './engine/index.ts';
import { Router } from './ipc/index.ts';
import { SecondStarts } from './second-starts.ts';
import { createServer } from './server/index.ts';
import { serverServices } from './server-services.ts';
import {
  Conversations,
  EngineCompletions,
  EngineModels,
  EngineTelemetry,
  RequestGate,
  RoutedCompletions,
  RoutedEngine,
  SleepLadder,
  type Remotes,
  type ServerControl,
  type SettingsService,
} from './services/index.ts';
import { loadFirstModel } from './first-model.ts';
import { openStore, type Store } from './open-store.ts';
import type { DataFolder, SecretCipher } from './store/index.ts';
import { coreReader, Gpus, gpuSources, memoryReader, processCpuTime, RequestMarks } from './telemetry/index.ts';

export type AppOptions = {
  readonly flags: FlagValues;
  /** Flags that were given, as opposed to defaults. */
  readonly given: ReadonlySet<FlagName>;
  /** The system's key store; absent, or null when asked: keys are kept in a file. */
  readonly cipher?: () => SecretCipher | null;
  readonly shell: AppInfo['shell'];
  readonly version: string;
  /** Folder that holds `assets`. */
  readonly appFolder: string;
  /** Folder of the built page. */
  readonly rendererFolder: string;
  readonly dataFolder: DataFolder;
  /** What was found before this. */
  readonly notices: readonly string[];
};

/** The running app, whichever entry built it. */
export type App = {
  readonly logger: Logger;
  readonly logFile: string;
  /** What a page of any transport asks. */
  readonly dispatcher: Dispatcher;
  readonly settings: SettingsService;
  /** Whether programs are answered, and the address for this computer: null while nothing listens. */
  server(): { readonly on: boolean; readonly url: string | null };
  /** Calls when the server listens elsewhere than before. */
  onMoved(listener: () => void): void;
  /** Tells every page what a person should know. */
  notify(text: string): void;
  /** Calls when another process of the same user wants this one to be seen. Only a shell with a window can. */
  onShow(listener: () => void): void;
  /** What a second start wants of this one. @returns whether a window was shown. */
  secondStart(wish: SecondStart): boolean;
  /** Calls with what a person should know, so far and from now on. */
  onNotice(listener: (text: string) => void): void;
  /**
   * Listens, then loads the model in the background: the page shows the progress. A window works without the server,
   * so that there a port that is taken is only told.
   */
  start(): Promise<Result<unknown>>;
  /** A fresh one-time link for a page. */
  createLink(): string;
  /** Ends every answer, of chats and of the API, and keeps what there is. @returns how many there were. */
  stopAnswers(): number;
  /** Stops answers, puts everything on disk, ends connections, frees the model, gives the data folder back. */
  close(): Promise<void>;
};

/** Builds all services once and joins them. */
export async function createApp(options: AppOptions): Promise<App> {
  const { shell, version, dataFolder } = options;
  const notices = new Notices(options.notices);
  const store = await openStore(options, notices.add);
  const { logger, path: logFile } = store.log;
  const { remotes, control, exchanges, serve } = serverServices(options, store);
  const services = createServices(options, store, remotes, notices.add);
  const { engine, models, completions, chat, ladder, telemetry } = services;
  const second = new SecondStarts(models, notices.add);
  const facts = { version, shell, logFile, dataFolder: dataFolder.path };
  const appInfo = () => ({ ...facts, serverUrl: control.url() ?? '', notices: [...notices.all] });
  const { settings, files } = store;
  const forPages = { chat, models, settings, telemetry, ladder, control, exchanges, remotes };
  const router = new Router({ ...forPages, appInfo, onNotice: (hear) => notices.on(hear), logger });
  const common = { models, completions, ladder, logger, onExchange: exchanges.add };
  const server = createServer({ dispatcher: router, ...common, options: serverOptions(options, second.hear) });
  serve(server);
  const moved = new Emitter<void>();
  let published = Promise.resolve();
  followAddress(control, (url) => {
    published = publish(dataFolder, url, logger);
    if (url !== null) moved.emit();
  });

  return {
    logger,
    logFile,
    onNotice(listener) {
      for (const notice of notices.all) listener(notice);
      notices.on(listener);
    },
    dispatcher: router,
    settings,
    server: () => ({ on: control.status().on, url: control.url() }),
    onMoved: (listener) => void moved.on(listener),
    notify: notices.add,
    onShow: (listener) => void second.shown.on(listener),
    secondStart: second.hear,
    createLink: () => server.createLink(),
    stopAnswers: () => services.gate.stopAll() + remotes.stopAll(),
    async start() {
      const started = await control.begin();
      if (!started.ok && shell === 'browser') return started;
      if (!started.ok) notices.add(withoutServer(started.error));
      await published;
      logger.info('started', { version, shell, url: control.url() });
      void loadFirstModel({ models, settings, left: store.marker.left, onNotice: notices.add });
      return started;
    },
    async close() {
      for (const part of [telemetry, ladder]) part.close();
      // In this order: what is asked, what answers, what keeps the answers.
      for (const part of [server, engine, chat]) await part.close();
      await Promise.all([files, settings, store.secrets, store.remotes].map((part) => part.close()));
      router.close();
      await dataFolder.release();
      logger.info('closed');
    },
  };
}

/** @param moved hears the address for this computer whenever it has changed; null: nothing listens. */
function followAddress(control: ServerControl, moved: (url: string | null) => void): void {
  let known: string | null = null;
  control.on(() => {
    const url = control.url();
    if (url !== known) moved(url);
    known = url;
  });
}

async function publish(dataFolder: DataFolder, url: string | null, logger: Logger): Promise<void> {
  try {
    await dataFolder.publish(url);
  } catch (error) {
    logger.warn('lock not published', { error: String(error) });
  }
}

/** What a person should know although nobody asked: kept for pages that come later, told to those that are there. */
class Notices {
  readonly all: string[];
  readonly #listeners = new Emitter<string>();

  constructor(before: readonly string[]) {
    this.all = [...before];
  }

  readonly add = (text: string): void => {
    this.all.push(text);
    this.#listeners.emit(text);
  };

  on(listener: (text: string) => void): () => void {
    return this.#listeners.on(listener);
  }
}

function createServices(
  { flags, appFolder }: AppOptions,
  store: Store,
  remotes: Remotes,
  onNotice: (text: string) => void,
) {
  const { settings, files, marker } = store;
  const { logger } = store.log;
  const addon = loadExpertPoolAddon(addonPath(appFolder));
  if (!addon.ok) onNotice(`${addon.error.message} ${addon.error.hint} Until then llama.cpp computes by itself.`);
  const middleware = addon.ok ? addon.middleware : { missing: `${addon.error.message} ${addon.error.hint}` };
  const promptCache = flags['prompt-cache'] === 'off' ? null : flags['prompt-cache'];
  const engine = new LlamaEngine({ logger, middleware, promptCache });
  const builtinPath = join(appFolder, 'assets', 'models', 'dormouse-mini.gguf');
  const remoteModels = () => remotes.knownModels();
  const models = new EngineModels({ engine, flags, builtinPath, settings, remoteModels, marker });
  const clock = systemClock;
  const idleUnloadMinutes = flags['idle-unload'] === 'off' ? null : flags['idle-unload'];
  const ladder = new SleepLadder({ models, idleUnloadMinutes, clock, logger });
  const marks = new RequestMarks(clock);
  const gate = new RequestGate({ engine, ladder, marks, clock });
  const common = { flags, createId: randomUUID };
  const local = new EngineCompletions({ ...common, models, engine: gate.engineFor('api') });
  const completions = new RoutedCompletions(local, remotes);
  const routed = new RoutedEngine(gate.engineFor('chat'), remotes);
  const chat = new Conversations({ ...common, engine: routed, models, files, logger, now: Date.now });
  const telemetry = new EngineTelemetry({
    ...{ engine, ladder, marks, clock, logger, mapped: flags.mmap === 'on' },
    machine: {
      cores: coreReader(),
      cpuTime: processCpuTime,
      memory: memoryReader(),
      gpus: new Gpus(gpuSources(clock)),
    },
  });
  return { engine, gate, models, completions, chat, ladder, telemetry };
}

function withoutServer({ message, hint }: AppError): string {
  return `Programs cannot reach Dormouse now; the window works all the same. ${message} ${hint ?? ''}`.trim();
}

function serverOptions(
  { flags, rendererFolder, version, dataFolder }: AppOptions,
  secondStart: (wish: SecondStart) => boolean,
) {
  return {
    host: flags.host,
    port: flags.port,
    apiKey: flags['api-key'],
    corsOrigins: flags['cors-origin'],
    allowedHosts: flags['allowed-host'],
    rendererFolder,
    version,
    ownerToken: () => dataFolder.token,
    secondStart,
  };
}
