import {
  app,
  BrowserWindow,
  clipboard,
  dialog,
  globalShortcut,
  ipcMain,
  Menu,
  Notification,
  powerMonitor,
  powerSaveBlocker,
  protocol,
  safeStorage,
  screen,
  shell,
  Tray,
} from 'electron';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createApp } from './app.ts';
import { prepareDesktop, runDesktop } from './desktop.ts';

// The desktop entry: hands the real Electron to `desktop.ts`. Built to build/app/main/main.js.
const electron = {
  ...{ app, BrowserWindow, clipboard, dialog, globalShortcut, ipcMain, Menu, Notification },
  ...{ powerMonitor, powerSaveBlocker, protocol, safeStorage, screen, shell, Tray },
};
const appFolder = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');

// Electron says `ready` only after this module has run: what must come before is awaited, what comes after must not be.
const prepared = await prepareDesktop({ electron, appFolder, version: __DORMOUSE_VERSION__, createApp });
if (prepared !== null) void runDesktop(prepared);
