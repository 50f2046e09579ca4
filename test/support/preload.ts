import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import type { DesktopBridge } from '../../src/main/contract/index.ts';
import { ownFrame, type FakeElectron } from './fake-electron.ts';

const path = join(resolve(import.meta.dirname, '../..'), 'build/app/preload/preload.cjs');

type DropListener = (event: unknown) => void;
type Call = (...values: unknown[]) => unknown;

export type LoadedPreload = {
  /** What the page's world got, by name. */
  readonly exposed: Readonly<Record<string, unknown>>;
  readonly dormouse: DesktopBridge;
  /** Modules that the script asked for. */
  readonly required: readonly string[];
  /** What the script listens to in the page. */
  readonly pageListeners: ReadonlyMap<string, DropListener>;
};

/**
 * Runs the built preload script as a sandboxed window would: alone, with `electron` as its only module, and with every
 * value structured-cloned on its way to main and to the page.
 */
export function loadPreload(electron: FakeElectron): LoadedPreload {
  const exposed: Record<string, unknown> = {};
  const required: string[] = [];
  const pageListeners = new Map<string, DropListener>();
  const ipcListeners = new Map<string, Set<Call>>();
  electron.window.webContents.onSend = (channel, values) => {
    for (const listener of ipcListeners.get(channel) ?? []) listener({}, ...values);
  };
  const modules: Readonly<Record<string, unknown>> = {
    electron: {
      contextBridge: {
        exposeInMainWorld: (name: string, api: Record<string, Call>) => {
          exposed[name] = Object.fromEntries(Object.entries(api).map(([key, value]) => [key, acrossWorlds(value)]));
        },
      },
      ipcRenderer: {
        invoke: (channel: string, ...values: unknown[]) => electron.invoke(channel, values, ownFrame),
        on: (channel: string, listener: Call) =>
          ipcListeners.set(channel, (ipcListeners.get(channel) ?? new Set()).add(listener)),
        removeListener: (channel: string, listener: Call) => ipcListeners.get(channel)?.delete(listener),
      },
      webUtils: { getPathForFile: ({ name }: { name: string }) => `/dropped/${name}` },
    },
  };
  const require = (name: string): unknown => {
    required.push(name);
    if (!(name in modules)) throw new Error(`module not found: ${name}`);
    return modules[name];
  };
  const module = { exports: {} };
  const document = { addEventListener: (name: string, listener: DropListener) => pageListeners.set(name, listener) };
  const world = createContext({ require, module, exports: module.exports, document });
  runInContext(readFileSync(path, 'utf8'), world, { filename: path });
  return { exposed, dormouse: exposed['dormouse'] as DesktopBridge, required, pageListeners };
}

/** As Electron's context bridge: values are cloned, functions become functions of the other world. */
function acrossWorlds(value: unknown): unknown {
  if (typeof value === 'function') {
    return (...values: unknown[]) => acrossWorlds((value as Call)(...values.map(acrossWorlds)));
  }
  if (typeof value === 'object' && value !== null && 'then' in value) {
    return Promise.resolve(value as PromiseLike<unknown>).then(acrossWorlds);
  }
  return structuredClone(value);
}
