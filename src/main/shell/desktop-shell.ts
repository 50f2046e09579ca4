import type { Logger } from '../base/index.ts';
import type { AppEvent, Dispatcher, EngineStatus, LadderStep, Settings } from '../contract/index.ts';
import { AwakeKeeper } from './awake-keeper.ts';
import { appMenu } from './app-menu.ts';
import { closeChoice } from './close-choice.ts';
import { diagnostics, type DiagnosticsInput } from './diagnostics.ts';
import type { ElectronModules } from './electron-faces.ts';
import { en } from './en.ts';
import { MainWindow } from './main-window.ts';
import { longAnswerNotification } from './notifications.ts';
import { QuitGuard } from './quit-guard.ts';
import { RunningAnswers } from './running-answers.ts';
import { SettingsEffects } from './settings-effects.ts';
import { isAnswering } from './state-line.ts';
import { watchSuspend } from './suspend-watch.ts';
import { TrayIcon } from './tray-icon.ts';
import type { ServerState, TrayAction, TrayState } from './tray-menu.ts';

export type DesktopShellDependencies = {
  readonly electron: ElectronModules;
  readonly dispatcher: Dispatcher;
  readonly settings: {
    readonly value: Settings;
    set(changes: Partial<Settings>): Promise<unknown>;
    on(listener: (settings: Settings) => void): () => void;
  };
  /** Whether programs are answered, and where: null while nothing listens. */
  readonly server: () => ServerState;
  /** Tells the person through the page. */
  readonly notify: (text: string) => void;
  readonly logger: Logger;
  readonly platform: NodeJS.Platform;
  readonly trayHost: boolean;
  readonly startHidden: boolean;
  readonly preload: string;
  readonly iconFolder: string;
  readonly system: Omit<DiagnosticsInput, 'status' | 'trayHost'>;
  readonly setLoginEntry: (on: boolean) => Promise<void>;
  /** Ends every answer, also those that programs asked for. @returns how many there were. */
  readonly stopAnswers: () => number;
  /** Puts everything on disk and ends the services; at most some seconds. */
  readonly close: () => Promise<void>;
  /** Unix time in ms. */
  readonly now: () => number;
};

/** The desktop app: joins window, tray, menus, power and quit with the contract. Built after `ready`. */
export class DesktopShell {
  readonly #deps: DesktopShellDependencies;
  readonly #answers: RunningAnswers;
  readonly #window: MainWindow;
  readonly #tray: TrayIcon | null;
  readonly #quit: QuitGuard;
  readonly #awake: AwakeKeeper;
  readonly #effects: SettingsEffects;
  #status: EngineStatus | null = null;
  #step: LadderStep | null = null;

  constructor(deps: DesktopShellDependencies) {
    this.#deps = deps;
    const { electron, settings, dispatcher } = deps;
    this.#answers = new RunningAnswers(deps.now);
    this.#awake = new AwakeKeeper(electron);
    this.#quit = new QuitGuard({
      electron,
      isAnswering: () => isAnswering(this.#status) || this.#answers.streamIds.length > 0,
      close: () => this.#end(),
    });
    this.#window = new MainWindow({
      ...deps,
      closeChoice: () => this.#closeChoice(),
      quit: () => electron.app.quit(),
      onVisibility: () => {
        dispatcher.seenChanged();
        this.#draw();
      },
      onKept: (how) => this.#tellKept(how),
      onBroken: (reason) => deps.logger.error('window broke', { reason }),
    });
    this.#tray = deps.trayHost ? new TrayIcon({ ...deps, act: (action) => this.act(action) }, this.#trayState()) : null;
    watchSuspend(deps);
    this.#effects = new SettingsEffects({ ...deps, toggle: () => this.act(this.#window.isSeen ? 'hide' : 'show') });
    this.#effects.apply(settings.value);
    settings.on((changed) => {
      this.#effects.apply(changed);
      this.#draw();
    });
    dispatcher.subscribe(
      (event) => this.#hear(event),
      () => false,
    );
    this.#setMenu();
    this.#listenToApp();
    void this.#firstStatus();
  }

  get contents() {
    return this.#window.contents;
  }

  /** Whether a person can see the window. */
  get isSeen(): boolean {
    return this.#window.isSeen;
  }

  show(): void {
    this.#window.show();
  }

  /** A GGUF file from the command line, a double click, a drop or the file dialog. @param path absolute. */
  async openModel(path: string): Promise<void> {
    this.#window.show();
    const loaded = await this.#deps.dispatcher.dispatch('engine.load', { model: path });
    if (!loaded.ok) this.#deps.notify(`${loaded.error.message} ${loaded.error.hint ?? ''}`.trim());
  }

  /** Ends without a question, as the system and a terminal ask it. */
  quitNow(): void {
    this.#quit.quitNow();
  }

  act(action: TrayAction): void {
    const { dispatcher, electron, settings, server } = this.#deps;
    switch (action) {
      case 'show':
        return this.#window.show();
      case 'hide':
        return this.#window.hide();
      case 'new-chat':
      case 'monitor':
      case 'server':
        this.#window.show();
        return this.#send({ type: 'navigate', to: action });
      case 'copy-address':
        return electron.clipboard.writeText(server().url ?? '');
      case 'server-on':
        return void this.#switchServer('server.start');
      case 'server-off':
        return void this.#switchServer('server.stop');
      case 'unload':
        return void dispatcher.dispatch('engine.unload', {});
      case 'wake':
        return void this.#wake(settings.value.lastModel);
      case 'quit':
        return electron.app.quit();
    }
  }

  async #switchServer(request: 'server.start' | 'server.stop'): Promise<void> {
    const switched = await this.#deps.dispatcher.dispatch(request, {});
    if (!switched.ok) this.#deps.notify(`${switched.error.message} ${switched.error.hint ?? ''}`.trim());
  }

  async #wake(model: string | null): Promise<void> {
    if (model === null) return;
    const loaded = await this.#deps.dispatcher.dispatch('engine.load', { model });
    if (!loaded.ok) this.#deps.notify(`${loaded.error.message} ${loaded.error.hint ?? ''}`.trim());
  }

  #hear(event: AppEvent): void {
    const ended = this.#answers.apply(event);
    if (ended !== null && !this.#window.isSeen) {
      longAnswerNotification(this.#deps.electron, ended, () => this.#window.show());
    }
    if (event.type === 'ladder.changed') {
      this.#step = event.ladder.step;
      this.#draw();
    }
    if (event.type === 'server.changed') this.#draw();
    if (event.type !== 'engine.status') return;
    this.#status = event.status;
    this.#awake.update(isAnswering(event.status));
    this.#draw();
  }

  #send(event: AppEvent): void {
    if (!this.contents.isDestroyed()) this.contents.send('dormouse:event', event);
  }

  async #firstStatus(): Promise<void> {
    const reply = await this.#deps.dispatcher.dispatch('engine.status', {});
    if (!reply.ok || this.#status !== null) return;
    this.#status = reply.data as EngineStatus;
    this.#draw();
  }

  #draw(): void {
    this.#tray?.update(this.#trayState());
  }

  #trayState(): TrayState {
    const { settings, server } = this.#deps;
    return {
      status: this.#status,
      step: this.#step,
      windowVisible: this.#window.isSeen,
      server: server(),
      lastModel: settings.value.lastModel,
    };
  }

  #closeChoice() {
    const { platform, trayHost, settings } = this.#deps;
    return closeChoice({
      platform,
      trayHost,
      closeToTray: settings.value.closeToTray,
      quitting: this.#quit.isQuitting,
    });
  }

  /** Once in a lifetime: who closes a window shall not wonder what still runs. */
  #tellKept(how: 'hide' | 'minimise'): void {
    const { electron, settings, platform } = this.#deps;
    if (settings.value.trayNoticeShown || platform === 'darwin' || !electron.Notification.isSupported()) return;
    const { title, text } = how === 'hide' ? en.trayNotice : en.minimisedNotice;
    new electron.Notification({ title, body: text }).show();
    void settings.set({ trayNoticeShown: true });
  }

  #setMenu(): void {
    const { electron, platform } = this.#deps;
    const template = appMenu(platform, {
      newChat: () => this.act('new-chat'),
      monitor: () => this.act('monitor'),
      server: () => this.act('server'),
      openModel: () => void this.#chooseModel(),
      copyDiagnostics: () => electron.clipboard.writeText(this.#diagnostics()),
      about: () => electron.app.showAboutPanel(),
    });
    electron.Menu.setApplicationMenu(electron.Menu.buildFromTemplate(template));
  }

  async #chooseModel(): Promise<void> {
    const filters = [{ name: en.modelFiles, extensions: ['gguf'] }];
    const { canceled, filePaths } = await this.#deps.electron.dialog.showOpenDialog({ filters });
    if (!canceled && filePaths[0] !== undefined) await this.openModel(filePaths[0]);
  }

  #diagnostics(): string {
    const { system, trayHost } = this.#deps;
    return diagnostics({ ...system, trayHost, status: this.#status });
  }

  #listenToApp(): void {
    const { app } = this.#deps.electron;
    app.on('activate', () => this.#window.show());
    app.on('window-all-closed', () => app.quit());
  }

  async #end(): Promise<void> {
    this.#tray?.close();
    this.#awake.update(false);
    this.#effects.close();
    await this.#deps.close();
  }
}
