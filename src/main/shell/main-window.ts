import type { Settings, WindowState } from '../contract/index.ts';
import { appUrl, brokenPath } from './app-url.ts';
import type { CloseChoice } from './close-choice.ts';
import { contextMenu } from './context-menu.ts';
import type { ElectronModules, Preventable, WindowFace } from './electron-faces.ts';
import { webPreferences } from './security.ts';
import { smallestWindow, windowPlace } from './window-place.ts';

/** A page that broke again within this time, in ms, would go on breaking. */
const breaksAgainWithin = 60_000;

export type MainWindowDependencies = {
  readonly electron: Pick<ElectronModules, 'BrowserWindow' | 'Menu' | 'screen'>;
  readonly settings: { readonly value: Settings; set(changes: Partial<Settings>): Promise<unknown> };
  readonly preload: string;
  readonly platform: NodeJS.Platform;
  readonly startHidden: boolean;
  /** What the close button does now. */
  readonly closeChoice: () => CloseChoice;
  /** Whether this desktop shows tray icons. */
  readonly trayHost: boolean;
  readonly quit: () => void;
  readonly onVisibility: () => void;
  readonly onKept: (how: 'hide' | 'minimise') => void;
  readonly onBroken: (reason: string) => void;
  /** Unix time in ms. */
  readonly now: () => number;
};

/** The one window: where it was, hidden instead of closed, and brought back when its page breaks. */
export class MainWindow {
  readonly #deps: MainWindowDependencies;
  readonly #window: WindowFace;
  #brokenAt = Number.NEGATIVE_INFINITY;

  constructor(deps: MainWindowDependencies) {
    this.#deps = deps;
    const { electron, settings, preload, platform } = deps;
    const last = settings.value.window;
    const place = windowPlace(
      last,
      electron.screen.getAllDisplays().map(({ workArea }) => workArea),
    );
    this.#window = new electron.BrowserWindow({
      ...place,
      minWidth: smallestWindow.width,
      minHeight: smallestWindow.height,
      show: false,
      webPreferences: webPreferences(preload, platform),
    });
    if (last?.maximized === true && !deps.startHidden) this.#window.maximize();
    this.#listen(last?.zoomLevel ?? 0);
    // Shown when there is something to see, without a white flash before.
    if (!deps.startHidden) this.#window.once('ready-to-show', () => this.show());
    else if (!deps.trayHost) this.#window.minimize();
    this.#load(appUrl);
  }

  get contents() {
    return this.#window.webContents;
  }

  /** Whether a person can see it: neither hidden nor minimised. */
  get isSeen(): boolean {
    return !this.#window.isDestroyed() && this.#window.isVisible() && !this.#window.isMinimized();
  }

  show(): void {
    if (this.#window.isDestroyed()) return;
    if (this.#window.isMinimized()) this.#window.restore();
    this.#window.show();
    this.#window.focus();
  }

  hide(): void {
    this.#keep(this.#deps.trayHost ? 'hide' : 'minimise');
  }

  #listen(zoomLevel: number): void {
    const { onVisibility, electron } = this.#deps;
    const { webContents: contents } = this.#window;
    this.#window.on('close', (event) => this.#close(event));
    this.#window.on('show', onVisibility);
    this.#window.on('hide', onVisibility);
    this.#window.on('minimize', onVisibility);
    this.#window.on('restore', onVisibility);
    contents.on('did-finish-load', () => {
      contents.zoomLevel = zoomLevel;
    });
    contents.on('render-process-gone', (_event, { reason }) => this.#broken(reason));
    contents.on('context-menu', (_event, params) => {
      const template = contextMenu(params, (text) => contents.replaceMisspelling(text));
      if (template.length > 0) electron.Menu.buildFromTemplate(template).popup();
    });
  }

  #close(event: Preventable): void {
    this.#remember();
    const choice = this.#deps.closeChoice();
    if (choice === 'close') return;
    event.preventDefault();
    if (choice === 'quit') return this.#deps.quit();
    this.#keep(choice);
    this.#deps.onKept(choice);
  }

  #keep(how: 'hide' | 'minimise'): void {
    if (how === 'hide') this.#window.hide();
    else this.#window.minimize();
  }

  /** Once is an accident; twice in a short time would go on for ever. */
  #broken(reason: string): void {
    if (reason === 'clean-exit' || this.#window.isDestroyed()) return;
    const again = this.#deps.now() - this.#brokenAt < breaksAgainWithin;
    this.#brokenAt = this.#deps.now();
    this.#deps.onBroken(reason);
    this.#load(again ? new URL(brokenPath, appUrl).href : appUrl);
  }

  /** A page that cannot be loaded is told by the page itself or by `render-process-gone`. */
  #load(url: string): void {
    void this.#window.loadURL(url).catch(() => undefined);
  }

  #remember(): void {
    const { x, y, width, height } = this.#window.getNormalBounds();
    const { zoomLevel } = this.#window.webContents;
    const window: WindowState = { x, y, width, height, maximized: this.#window.isMaximized(), zoomLevel };
    void this.#deps.settings.set({ window });
  }
}
