import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { defaultDataFolder, type Logger } from './base/index.ts';
import type { AppInfo, FlagValues, Result } from './contract/index.ts';
import { LlamaEngine } from './engine/index.ts';
import { Router } from './ipc/index.ts';
import { createServer } from './server/index.ts';
import { Conversations, EngineCompletions, EngineModels } from './services/index.ts';
import { openLogFile } from './store/index.ts';

export type AppOptions = {
  readonly flags: FlagValues;
  readonly shell: AppInfo['shell'];
  readonly version: string;
  /** Folder that holds `assets`. */
  readonly appFolder: string;
  /** Folder of the built page. */
  readonly rendererFolder: string;
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
  /** Stops answers, ends connections, frees the model. */
  close(): Promise<void>;
};

/** Builds all services once and joins them. */
export function createApp({ flags, shell, version, appFolder, rendererFolder }: AppOptions): App {
  const dataFolder = flags['data-dir'] ?? defaultDataFolder();
  const notices: string[] = [];
  const log = openLogFile(dataFolder, flags['log-level'], (problem) => notices.push(problem));
  const { logger } = log;
  const engine = new LlamaEngine({ logger });
  const common = { engine, flags, createId: randomUUID };
  const models = new EngineModels({
    engine,
    flags,
    builtinPath: join(appFolder, 'assets', 'models', 'dormouse-mini.gguf'),
  });
  const completions = new EngineCompletions(common);
  const chat = new Conversations({ ...common, logger, now: Date.now });
  let serverUrl = '';
  const appInfo = () => ({ version, shell, logFile: log.path, dataFolder, serverUrl, notices: [...notices] });
  const router = new Router({ chat, models, appInfo, logger });
  const server = createServer({
    dispatcher: router,
    models,
    completions,
    logger,
    options: serverOptions(flags, rendererFolder, version),
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
      logger.info('started', { version, shell, url: serverUrl });
      void models.load(flags.model).then((loaded) => {
        if (!loaded.ok && loaded.error.code !== 'engine_closed')
          logger.warn('start without a model', { code: loaded.error.code });
      });
      return started;
    },
    async close() {
      await server.close();
      await engine.close();
      router.close();
      logger.info('closed');
    },
  };
}

function serverOptions(flags: FlagValues, rendererFolder: string, version: string) {
  return {
    host: flags.host,
    port: flags.port,
    apiKey: flags['api-key'],
    corsOrigins: flags['cors-origin'],
    allowedHosts: flags['allowed-host'],
    rendererFolder,
    version,
  };
}
