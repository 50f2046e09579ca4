import { join } from 'node:path';
import type { ElectronModules, TrayFace } from './electron-faces.ts';
import { trayLook, type TrayAction, type TrayState } from './tray-menu.ts';

/** The tray is drawn at most this often, in ms: the speed of an answer changes with every token. */
const drawEvery = 1000;

export type TrayIconDependencies = {
  readonly electron: Pick<ElectronModules, 'Tray' | 'Menu'>;
  readonly iconFolder: string;
  readonly platform: NodeJS.Platform;
  readonly act: (action: TrayAction) => void;
  /** Unix time in ms. */
  readonly now: () => number;
};

/** Draws {@link trayLook}, and only what has changed. No timer runs while nothing changes. */
export class TrayIcon {
  readonly #deps: TrayIconDependencies;
  readonly #tray: TrayFace;
  #drawn = '';
  #drawnAt = Number.NEGATIVE_INFINITY;
  #state: TrayState;
  #timer: NodeJS.Timeout | null = null;

  constructor(deps: TrayIconDependencies, state: TrayState) {
    this.#deps = deps;
    this.#state = state;
    this.#tray = new deps.electron.Tray(this.#iconPath('asleep'));
    this.#tray.on('click', () => {
      // macOS opens the menu by itself.
      if (deps.platform !== 'darwin') deps.act(this.#state.windowVisible ? 'hide' : 'show');
    });
    this.#draw();
  }

  update(state: TrayState): void {
    const wasVisible = this.#state.windowVisible;
    const wasState = this.#state.status?.state;
    this.#state = state;
    const wait = this.#drawnAt + drawEvery - this.#deps.now();
    if (wait <= 0 || wasVisible !== state.windowVisible || wasState !== state.status?.state) return this.#draw();
    this.#timer ??= setTimeout(() => this.#draw(), wait);
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#tray.destroy();
  }

  #draw(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#drawnAt = this.#deps.now();
    const look = trayLook(this.#state);
    const drawing = JSON.stringify(look);
    if (drawing === this.#drawn) return;
    this.#drawn = drawing;
    this.#tray.setImage(this.#iconPath(look.icon));
    this.#tray.setToolTip(look.toolTip);
    this.#tray.setContextMenu(
      this.#deps.electron.Menu.buildFromTemplate(
        look.entries.map((each) => {
          if (each.kind === 'separator') return { type: 'separator' as const };
          const { label, action } = each;
          return action === null ? { label, enabled: false } : { label, click: () => this.#deps.act(action) };
        }),
      ),
    );
  }

  /** macOS tints template images by itself. */
  #iconPath(icon: 'asleep' | 'awake'): string {
    const template = this.#deps.platform === 'darwin' ? '-template' : '';
    return join(this.#deps.iconFolder, `tray-${icon}${template}.png`);
  }
}
