import type { Settings } from '../main/contract/index.ts';
import type { PageName } from './state/index.ts';

const key = 'dormouse-settings';
const viewKey = 'dormouse-view';

/** What this tab last knew of the settings, so that a reload does not flash in the other theme. */
export function readSettings(): Partial<Settings> {
  try {
    const value = JSON.parse(sessionStorage.getItem(key) ?? '{}') as Partial<Settings>;
    return {
      ...(value.theme === 'light' || value.theme === 'dark' ? { theme: value.theme } : {}),
      ...(value.sidebarOpen === false ? { sidebarOpen: false } : {}),
    };
  } catch {
    return {};
  }
}

export function writeSettings({ theme, sidebarOpen }: Settings): void {
  sessionStorage.setItem(key, JSON.stringify({ theme, sidebarOpen }));
}

interface RememberedView {
  readonly page: PageName;
  readonly panelOpen: boolean | null;
}

/** What this tab last showed: a reload must not lead elsewhere. */
export function readView(): Partial<RememberedView> {
  try {
    const value = JSON.parse(sessionStorage.getItem(viewKey) ?? '{}') as Partial<RememberedView>;
    return {
      ...(value.page === 'monitor' ? { page: value.page } : {}),
      ...(typeof value.panelOpen === 'boolean' ? { panelOpen: value.panelOpen } : {}),
    };
  } catch {
    return {};
  }
}

export function writeView(view: RememberedView): void {
  sessionStorage.setItem(viewKey, JSON.stringify(view));
}

/** The tokens follow `data-theme`; without it they follow the system. */
export function showTheme(theme: Settings['theme']): void {
  const root = document.documentElement;
  if (theme === 'system') delete root.dataset['theme'];
  else root.dataset['theme'] = theme;
}
