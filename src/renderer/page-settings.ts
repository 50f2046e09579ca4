import type { Settings } from '../main/contract/index.ts';

const key = 'dormouse-settings';

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

/** The tokens follow `data-theme`; without it they follow the system. */
export function showTheme(theme: Settings['theme']): void {
  const root = document.documentElement;
  if (theme === 'system') delete root.dataset['theme'];
  else root.dataset['theme'] = theme;
}
