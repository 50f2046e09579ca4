import type { AppEvent, Bridge, RequestInput, RequestName, RequestOutput, Result } from '../../main/contract/index.ts';
import { HttpBridge } from './http-bridge.ts';

/** What Electron's preload script gives the page. */
export interface DesktopBridge {
  readonly request: (name: string, input: unknown) => Promise<Result<unknown>>;
  readonly on: (listener: (event: AppEvent) => void) => () => void;
}

declare global {
  interface Window {
    readonly dormouse?: DesktopBridge;
  }
}

/** The way to main: through the preload script where there is one, else over HTTP. */
export function createBridge(): Bridge {
  return window.dormouse === undefined ? httpBridge() : desktopBridge(window.dormouse);
}

function desktopBridge(desktop: DesktopBridge): Bridge {
  return {
    request: async <N extends RequestName>(name: N, input: RequestInput<N>) =>
      (await desktop.request(name, input)) as Result<RequestOutput<N>>,
    on: (listener) => desktop.on(listener),
    onConnection: (listener) => {
      listener('open');
      return () => undefined;
    },
  };
}

function httpBridge(): Bridge {
  const bridge = new HttpBridge({
    fetch: (path, init) => fetch(path, init),
    storage: sessionStorage,
    readHash: () => location.hash,
    clearHash: () => history.replaceState(history.state, '', location.pathname + location.search),
    isVisible: () => document.visibilityState === 'visible',
    wait: (milliseconds, done) => {
      const timer = setTimeout(done, milliseconds);
      return () => clearTimeout(timer);
    },
    now: () => Date.now(),
  });
  document.addEventListener('visibilitychange', () => bridge.visibilityChanged());
  window.addEventListener('hashchange', () => bridge.hashChanged());
  window.addEventListener('online', () => bridge.retryNow());
  bridge.start();
  return bridge;
}
