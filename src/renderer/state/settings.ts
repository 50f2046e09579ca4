import { createStore, type StoreApi } from 'zustand/vanilla';
import type { Bridge, Settings } from '../../main/contract/index.ts';

export interface SettingsState {
  /** What this page remembers of its last visit, until main has answered. */
  readonly settings: Settings;
}

/** Over reloads, so that the page does not flash in the other theme. */
export interface RememberedSettings {
  readonly read: () => Partial<Settings>;
  readonly write: (settings: Settings) => void;
}

const firstSettings: Settings = {
  theme: 'system',
  sidebarOpen: true,
  lastModel: null,
  closeToTray: true,
  trayNoticeShown: false,
  globalShortcut: null,
  startAtLogin: null,
  window: null,
};

/** Settings as main keeps them; a change here shows at once and goes back when it cannot be saved. */
export class SettingsStore {
  readonly store: StoreApi<SettingsState>;
  readonly #bridge: Bridge;
  readonly #tell: (text: string) => void;
  #changes = 0;

  constructor(bridge: Bridge, remembered: RememberedSettings, tell: (text: string) => void) {
    this.#bridge = bridge;
    this.#tell = tell;
    this.store = createStore(() => ({ settings: { ...firstSettings, ...remembered.read() } }));
    this.store.subscribe(({ settings }) => remembered.write(settings));
  }

  apply(settings: Settings): void {
    this.#changes += 1;
    this.store.setState({ settings });
  }

  async refresh(): Promise<void> {
    const changes = this.#changes;
    const result = await this.#bridge.request('settings.get', {});
    // What was changed meanwhile is newer than this reply.
    if (result.ok && changes === this.#changes) this.store.setState({ settings: result.data });
  }

  async set(change: Partial<Pick<Settings, 'theme' | 'sidebarOpen'>>): Promise<void> {
    const before = this.store.getState().settings;
    this.apply({ ...before, ...change });
    const changes = this.#changes;
    const result = await this.#bridge.request('settings.set', change);
    if (result.ok) return;
    if (changes === this.#changes) this.apply(before);
    this.#tell([result.error.message, result.error.hint].filter(Boolean).join(' '));
  }
}
