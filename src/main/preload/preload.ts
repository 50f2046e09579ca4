import { contextBridge, ipcRenderer, webUtils } from 'electron';
import type { AppEvent, DesktopBridge, DesktopChannels, Result } from '../contract/index.ts';
import { openDroppedModels } from './dropped-models.ts';

// Runs sandboxed before the page, in a world of its own. The page gets these two functions and nothing else of Electron.

const channels: DesktopChannels = { request: 'dormouse:request', event: 'dormouse:event' };

const bridge: DesktopBridge = {
  request: (name, input) => ipcRenderer.invoke(channels.request, name, input) as Promise<Result<unknown>>,
  on: (listener) => {
    const hear = (_event: unknown, event: AppEvent) => listener(event);
    ipcRenderer.on(channels.event, hear);
    return () => void ipcRenderer.removeListener(channels.event, hear);
  },
};

contextBridge.exposeInMainWorld('dormouse', bridge);
openDroppedModels(document, {
  pathOf: (file) => webUtils.getPathForFile(file),
  load: (model) => void bridge.request('engine.load', { model }),
});
