import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Emitter, type Logger } from './base/index.ts';
import type { AppInfo, FlagValues, Result } from './contract/index.ts';
import { LlamaEngine } from './engine/index.ts';
import { Router } from './ipc/index.ts';
import { createServer } from './server/index.ts';
import { Conversations, EngineCompletions, EngineModels } from './services/index.ts';
import { ConversationFiles, openLogFile, SettingsFile, type DataFolderLock } from './store/index.ts';

export type AppOptions = {
  readonly flags: FlagValues;
  readonly shell: AppInfo['shell'];
  readonly version: string;
  /** Folder that holds `assets`. */
  readonly appFolder: string;
  /** Folder of the built page. */
  readonly rendererFolder: string;
  readonly dataFolder: string;
  /** The right to write in `dataFolder`; null where it could not be locked because it cannot be written. */
  readonly lock: DataFolderLock | null;
  /** What was found before this. */
  readonly notices: readonly string[];
};

/** The running app, whichever entry built it. */
export type App = {
  readonly logger: Logger;
  readonly logFile: string;
  readonly notices: readonly string[];
  /** Listens, then loads the model in the background: the page shows the progress. */
  start(): Promise<Result<{ url: string; port: number }>>;
  /** A fresh one-time link for a page. */
  createLink(): string;
  /** Stops answers, puts everything on disk, ends connections, frees the model, gives the data folder back. */
  close(): Promise<void>;
};

/** Builds all services once and joins them. */
export async function createApp(options: AppOptions): Promise<App> {
  const { flags, shell, version, dataFolder, lock } = options;
  const notices = [...options.notices];
  const noticed = new Emitter<string>();
  const onNotice = (text: string) => {
    notices.push(text);
    noticed.emit(text);
  };
  const log = openLogFile(dataFolder, flags['log-level'], onNotice);
  const { logger } = log;
  const settings = await SettingsFile.open({ path: join(dataFolder, 'settings.json'), logger, onNotice });
  const folder = join(dataFolder, 'conversations');
  const files = await ConversationFiles.open({ folder, logger, now: Date.now, onNotice });
  const engine = new LlamaEngine({ logger });
  const common = { engine, flags, createId: randomUUID };
  const builtinPath = join(options.appFolder, 'assets', 'models', 'dormouse-mini.gguf');
  const models = new EngineModels({ engine, flags, builtinPath, settings });
  const completions = new EngineCompletions(common);
  const chat = new Conversations({ ...common, models, files, logger, now: Date.now });
  let serverUrl = '';
  const appInfo = () => ({ version, shell, logFile: log.path, dataFolder, serverUrl, notices: [...notices] });
  const router = new Router({ chat, models, settings, appInfo, onNotice: (hear) => noticed.on(hear), logger });
  const ownerToken = lock?.token ?? null;
  const server = createServer({
    dispatcher: router,
    models,
    completions,
    logger,
    options: serverOptions(options, ownerToken),
  });

  return {
    logger,
    logFile: log.path,
    notices,
    createLink: () => server.createLink(),
    async start() {
      const started = await server.start();
      if (!started.ok) return started;
      serverUrl = started.data.url;
      await lock
        ?.publish(serverUrl)
        .catch((error: unknown) => logger.warn('lock not published', { error: String(error) }));
      logger.info('started', { version, shell, url: serverUrl });
      void models.load(models.startModel()).then((loaded) => {
        if (!loaded.ok && loaded.error.code !== 'engine_closed')
          logger.warn('start without a model', { code: loaded.error.code });
      });
      return started;
    },
    async close() {
      await server.close();
      await engine.close();
      await chat.close();
      await Promise.all([files.close(), settings.close()]);
      router.close();
      await lock?.release();
      logger.info('closed');
    },
  };
}

function serverOptions({ flags, rendererFolder, version }: AppOptions, ownerToken: string | null) {
  return {
    host: flags.host,
    port: flags.port,
    apiKey: flags['api-key'],
    corsOrigins: flags['cors-origin'],
    allowedHosts: flags['allowed-host'],
    rendererFolder,
    version,
    ownerToken,
  };
}
