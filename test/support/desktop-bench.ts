import { EventEmitter } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { App, AppOptions } from '../../src/main/app.ts';
import { Emitter, silentLogger, systemClock } from '../../src/main/base/index.ts';
import { defaultSettings, type Settings } from '../../src/main/contract/index.ts';
import { prepareDesktop, runDesktop, type DesktopOptions } from '../../src/main/desktop.ts';
import { Router } from '../../src/main/ipc/index.ts';
import { ChatBench } from './chat-service.ts';
import { unwrap } from './engine.ts';
import { FakeElectron } from './fake-electron.ts';
import { FakeLadder, FakeTelemetry } from './services.ts';
import { FakeServer, realServerServices } from './server-services.ts';
import { temporaryFolder } from './temp-folder.ts';

export type DesktopBenchOptions = {
  readonly args?: readonly string[];
  readonly settings?: Partial<Settings>;
  readonly platform?: NodeJS.Platform;
  readonly trayHost?: boolean;
  readonly appFolder?: string;
  readonly folder?: string;
  /** Changes the fake before anything runs. */
  readonly before?: (electron: FakeElectron) => void;
};

/** The desktop app without Electron: its boot, shell, IPC and router are the real ones; engine and Electron are fakes. */
export class DesktopBench {
  readonly electron = new FakeElectron();
  readonly proc = new EventEmitter();
  readonly folder: string;
  readonly notices: string[] = [];
  /** Models that other processes asked for. */
  readonly wishes: unknown[] = [];
  readonly server = new FakeServer();
  now = 1_000_000;
  closed = 0;
  readonly ladder = new FakeLadder();
  chat!: ChatBench;
  app!: App;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async open(options: DesktopBenchOptions = {}): Promise<DesktopBench> {
    const bench = new DesktopBench(options.folder ?? temporaryFolder());
    const { electron, folder } = bench;
    options.before?.(electron);
    mkdirSync(folder, { recursive: true });
    const settings = { version: 1, ...defaultSettings, ...options.settings };
    writeFileSync(join(folder, 'settings.json'), JSON.stringify(settings));
    const platform = options.platform ?? 'linux';
    const facts = {
      argv: ['dormouse', '--data-dir', folder, ...(options.args ?? [])],
      env: { XDG_CONFIG_HOME: join(folder, 'xdg') },
      platform,
      cwd: () => folder,
      versions: process.versions,
      execPath: '/opt/dormouse/dormouse',
    };
    const prepared = await prepareDesktop({
      electron: electron.modules,
      appFolder: options.appFolder ?? '/app',
      version: '1.2.3',
      createApp: (appOptions) => bench.#createApp(appOptions),
      process: Object.assign(bench.proc, facts) as unknown as NonNullable<DesktopOptions['process']>,
      trayHost: () => Promise.resolve(options.trayHost ?? true),
      home: folder,
      now: () => bench.now,
    });
    if (prepared !== null) await runDesktop(prepared);
    return bench;
  }

  async #createApp({ dataFolder, notices, version, flags, given, cipher }: AppOptions): Promise<App> {
    this.chat = await ChatBench.open(this.folder);
    const { chat, models, settings, engine } = this.chat;
    const told = new Emitter<string>();
    const shown = new Emitter<void>();
    this.notices.push(...notices);
    told.on((text) => this.notices.push(text));
    const facts = { version, shell: 'desktop', logFile: '', dataFolder: this.folder, serverUrl: '' } as const;
    const appInfo = () => ({ ...facts, notices: this.notices });
    const onNotice = (listener: (text: string) => void) => told.on(listener);
    const telemetry = new FakeTelemetry();
    const { ladder } = this;
    let passed = 0;
    // So much time between any two events that none is held back.
    const clock = { ...systemClock, elapsed: () => (passed += 1000) };
    const { control, exchanges, remotes, serve } = await realServerServices(this.folder, settings, {
      ...{ shell: 'desktop', flags, given: [...given] },
      ...(cipher === undefined ? {} : { cipher }),
    });
    serve(this.server);
    this.chat.remoteModels = () => remotes.knownModels();
    const forPages = { chat, models, settings, telemetry, ladder, control, exchanges, remotes, clock };
    const router = new Router({ ...forPages, appInfo, onNotice, logger: silentLogger });
    onTestFinished(() => dataFolder.release());
    this.app = {
      logger: silentLogger,
      logFile: '',
      dispatcher: router,
      settings,
      server: () => ({ on: control.status().on, url: control.url() }),
      onMoved: () => undefined,
      notify: (text) => told.emit(text),
      onShow: (listener) => void shown.on(listener),
      secondStart: (wish) => {
        this.wishes.push(wish);
        if (wish.show) shown.emit();
        return wish.show && shown.size > 0;
      },
      onNotice: (listener) => void told.on(listener),
      start: async () => {
        if (flags.model !== null) await models.load(flags.model);
        return control.begin();
      },
      createLink: () => '',
      stopAnswers: () => engine.requests.filter(({ id }) => engine.stop(id)).length,
      close: async () => {
        this.closed += 1;
        router.close();
        await this.chat.close();
        await settings.close();
        await dataFolder.release();
      },
    };
    return this.app;
  }

  /** What the page's bridge does, straight at IPC. */
  async ask(name: string, input: unknown = {}): Promise<{ ok: boolean; data: Record<string, string> }> {
    return (await this.electron.invoke('dormouse:request', [name, input])) as {
      ok: boolean;
      data: Record<string, string>;
    };
  }

  /** Starts an answer and gives its first word. */
  async startAnswer(text = 'Hello'): Promise<{ streamId: string; conversationId: string }> {
    const started = unwrap(await this.chat.chat.send({ text }));
    await this.chat.engine.asked(1);
    this.chat.engine.become({ state: 'generating', tokensPerSecond: 41.2 });
    this.chat.engine.part(started.streamId, { kind: 'text', text: 'Once' });
    return started;
  }

  async endAnswer(streamId: string): Promise<void> {
    await this.chat.engine.end(streamId);
    await this.chat.ended(streamId);
    this.chat.engine.become({ state: 'ready', tokensPerSecond: null });
  }

  /** Types of the events that the window got. */
  get sentTypes(): readonly string[] {
    return this.electron.window.webContents.sent.map(({ values }) => (values[0] as { type: string }).type);
  }
}
