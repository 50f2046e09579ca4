import type {
  Bridge,
  DesktopBridge,
  RequestInput,
  RequestName,
  RequestOutput,
  Result,
} from '../../main/contract/index.ts';
import { HttpBridge } from './http-bridge.ts';
import { failed } from './http-result.ts';

declare global {
  interface Window {
    readonly dormouse?: DesktopBridge;
  }
}

/** The way to main: through the preload script where there is one, else over HTTP. */
export function createBridge(): Bridge {
  return window.dormouse === undefined ? httpBridge() : desktopBridge(window.dormouse);
}

/** Over the preload script. */
export function desktopBridge(desktop: DesktopBridge): Bridge {
  return {
    request: async <N extends RequestName>(name: N, input: RequestInput<N>): Promise<Result<RequestOutput<N>>> => {
      try {
        return (await desktop.request(name, input)) as Result<RequestOutput<N>>;
      } catch {
        return failed('disconnected', 'Dormouse does not answer.', 'Your chats are saved. Close and start it again.');
      }
    },
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
