import type { PageSettings, ViewState } from './state/index.ts';

const key = 'dormouse-settings';
const viewKey = 'dormouse-view';

/** What this tab last knew of the settings, so that a reload does not flash in the other theme. */
export function readSettings(): Partial<PageSettings> {
  try {
    const value = JSON.parse(sessionStorage.getItem(key) ?? '{}') as Partial<PageSettings>;
    return {
      ...(value.theme === 'light' || value.theme === 'dark' ? { theme: value.theme } : {}),
      ...(value.sidebarOpen === false ? { sidebarOpen: false } : {}),
    };
  } catch {
    return {};
  }
}

export function writeSettings({ theme, sidebarOpen }: PageSettings): void {
  sessionStorage.setItem(key, JSON.stringify({ theme, sidebarOpen }));
}

/** What this tab last showed: a reload must not lead elsewhere. */
export function readView(): Partial<ViewState> {
  try {
    const value = JSON.parse(sessionStorage.getItem(viewKey) ?? '{}') as Partial<ViewState>;
    return {
      ...(value.page === 'monitor' || value.page === 'server' ? { page: value.page } : {}),
      ...(typeof value.panelOpen === 'boolean' ? { panelOpen: value.panelOpen } : {}),
    };
  } catch {
    return {};
  }
}

export function writeView(view: ViewState): void {
  sessionStorage.setItem(viewKey, JSON.stringify(view));
}

/** The tokens follow `data-theme`; without it they follow the system. */
export function showTheme(theme: PageSettings['theme']): void {
  const root = document.documentElement;
  // All colours at once: parts that fade at their own pace would be unreadable on the way.
  root.toggleAttribute('data-theme-changes', true);
  if (theme === 'system') delete root.dataset['theme'];
  else root.dataset['theme'] = theme;
  requestAnimationFrame(() => requestAnimationFrame(() => root.toggleAttribute('data-theme-changes', false)));
}
