import type { Settings } from '../contract/index.ts';
import type { ElectronModules } from './electron-faces.ts';
import { en } from './en.ts';

export type SettingsEffectsDependencies = {
  readonly electron: Pick<ElectronModules, 'globalShortcut'>;
  readonly setLoginEntry: (on: boolean) => Promise<void>;
  readonly toggle: () => void;
  readonly notify: (text: string) => void;
};

/** Makes the system do what the settings say: the shortcut from anywhere, the start at login. */
export class SettingsEffects {
  readonly #deps: SettingsEffectsDependencies;
  #shortcut: string | null = null;
  #startAtLogin: boolean | null = null;

  constructor(deps: SettingsEffectsDependencies) {
    this.#deps = deps;
  }

  apply({ globalShortcut, startAtLogin }: Settings): void {
    if (globalShortcut !== this.#shortcut) this.#setShortcut(globalShortcut);
    if (startAtLogin !== null && startAtLogin !== this.#startAtLogin) void this.#setLogin(startAtLogin);
  }

  close(): void {
    this.#release();
  }

  #setShortcut(keys: string | null): void {
    this.#release();
    this.#shortcut = keys;
    if (keys === null) return;
    const { electron, toggle, notify } = this.#deps;
    try {
      if (electron.globalShortcut.register(keys, toggle)) return;
    } catch {
      // Electron throws on keys that it cannot read.
    }
    notify(en.shortcutTaken(keys));
  }

  #release(): void {
    if (this.#shortcut === null) return;
    try {
      this.#deps.electron.globalShortcut.unregister(this.#shortcut);
    } catch {
      // Keys that could not be read were never registered.
    }
  }

  async #setLogin(on: boolean): Promise<void> {
    this.#startAtLogin = on;
    try {
      await this.#deps.setLoginEntry(on);
    } catch (error) {
      this.#deps.notify(en.loginItemFailed(error instanceof Error ? error.message : String(error)));
    }
  }
}
