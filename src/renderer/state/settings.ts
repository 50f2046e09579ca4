import { createStore, type StoreApi } from 'zustand/vanilla';
import type { Bridge, Settings } from '../../main/contract/index.ts';

/** What a page shows of the settings. */
export type PageSettings = Pick<Settings, 'theme' | 'sidebarOpen'>;

export interface SettingsState {
  /** What this page remembers of its last visit, until main has answered. */
  readonly settings: PageSettings;
}

/** Over reloads, so that the page does not flash in the other theme. */
export interface RememberedSettings {
  readonly read: () => Partial<PageSettings>;
  readonly write: (settings: PageSettings) => void;
}

const firstSettings: PageSettings = { theme: 'system', sidebarOpen: true };

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

  apply({ theme, sidebarOpen }: PageSettings): void {
    this.#changes += 1;
    this.store.setState({ settings: { theme, sidebarOpen } });
  }

  async refresh(): Promise<void> {
    const changes = this.#changes;
    const result = await this.#bridge.request('settings.get', {});
    // What was changed meanwhile is newer than this reply.
    if (result.ok && changes === this.#changes) this.apply(result.data);
  }

  async set(change: Partial<PageSettings>): Promise<void> {
    const before = this.store.getState().settings;
    this.apply({ ...before, ...change });
    const changes = this.#changes;
    const result = await this.#bridge.request('settings.set', change);
    if (result.ok) return;
    if (changes === this.#changes) this.apply(before);
    this.#tell([result.error.message, result.error.hint].filter(Boolean).join(' '));
  }
}
