import type { MenuItemConstructorOptions } from 'electron';
import { en } from './en.ts';

export type AppMenuActions = {
  readonly newChat: () => void;
  readonly monitor: () => void;
  readonly server: () => void;
  readonly openModel: () => void;
  readonly copyDiagnostics: () => void;
  readonly about: () => void;
};

const separator: MenuItemConstructorOptions = { type: 'separator' };

/** The menu bar with the entries and keys that people of each system expect. Electron translates and binds the roles. */
export function appMenu(platform: NodeJS.Platform, actions: AppMenuActions): MenuItemConstructorOptions[] {
  const mac = platform === 'darwin';
  const macApp: MenuItemConstructorOptions = {
    label: en.appName,
    submenu: [
      { role: 'about' },
      separator,
      { role: 'services' },
      separator,
      { role: 'hide' },
      { role: 'hideOthers' },
      { role: 'unhide' },
      separator,
      { role: 'quit' },
    ],
  };
  const file: MenuItemConstructorOptions = {
    label: en.menu.file,
    submenu: [
      { label: en.menu.newChat, accelerator: 'CommandOrControl+N', click: () => actions.newChat() },
      { label: en.menu.openModel, accelerator: 'CommandOrControl+O', click: () => actions.openModel() },
      separator,
      { label: en.menu.closeWindow, role: 'close' },
      ...(mac ? [] : [{ label: en.menu.quit, accelerator: 'Control+Q', role: 'quit' } as const]),
    ],
  };
  const help: MenuItemConstructorOptions = {
    label: en.menu.help,
    role: 'help',
    submenu: [
      { label: en.menu.copyDiagnostics, click: () => actions.copyDiagnostics() },
      ...(mac ? [] : [{ label: en.menu.about, click: () => actions.about() }]),
    ],
  };
  return [...(mac ? [macApp] : []), file, editMenu(mac), viewMenu(actions), windowMenu(mac), help];
}

function editMenu(mac: boolean): MenuItemConstructorOptions {
  const more: MenuItemConstructorOptions[] = mac ? [{ role: 'pasteAndMatchStyle' }] : [];
  return {
    label: en.menu.edit,
    submenu: [
      { role: 'undo' },
      { role: 'redo' },
      separator,
      { role: 'cut' },
      { role: 'copy' },
      { role: 'paste' },
      ...more,
      { role: 'delete' },
      separator,
      { role: 'selectAll' },
    ],
  };
}

const viewMenu = (actions: AppMenuActions): MenuItemConstructorOptions => ({
  label: en.menu.view,
  submenu: [
    { label: en.menu.monitor, click: () => actions.monitor() },
    { label: en.menu.server, click: () => actions.server() },
    separator,
    { role: 'reload' },
    separator,
    { role: 'resetZoom' },
    { role: 'zoomIn' },
    // The key as it is printed, without Shift.
    { role: 'zoomIn', accelerator: 'CommandOrControl+=', visible: false, acceleratorWorksWhenHidden: true },
    { role: 'zoomOut' },
    separator,
    { role: 'togglefullscreen' },
    { role: 'toggleDevTools' },
  ],
});

function windowMenu(mac: boolean): MenuItemConstructorOptions {
  return {
    label: en.menu.window,
    role: 'window',
    submenu: mac ? [{ role: 'minimize' }, { role: 'zoom' }, separator, { role: 'front' }] : [{ role: 'minimize' }],
  };
}
