import { fail, type DesktopChannels, type Dispatcher } from '../contract/index.ts';

/** The part of Electron's `ipcMain` in use. */
type IpcMain = {
  handle(channel: string, listener: (event: SenderEvent, ...values: unknown[]) => Promise<unknown>): void;
  removeHandler(channel: string): void;
};
type SenderEvent = { readonly senderFrame: { readonly url: string; readonly parent: unknown } | null };
type Contents = { send(channel: string, ...values: unknown[]): void; isDestroyed(): boolean };

export type DesktopTransportDependencies = {
  readonly ipcMain: IpcMain;
  readonly dispatcher: Dispatcher;
  /** Whether a frame with this URL is our own page. */
  readonly isOwnPage: (url: string) => boolean;
};

const channels: DesktopChannels = { request: 'dormouse:request', event: 'dormouse:event' };

/**
 * Carries the contract over Electron's IPC. Only the main frame of our own page may ask. A page that was reloaded is the
 * same window: it hears events again and attaches to running streams by their snapshots.
 */
export class DesktopTransport {
  readonly #deps: DesktopTransportDependencies;

  constructor(deps: DesktopTransportDependencies) {
    this.#deps = deps;
    deps.ipcMain.handle(channels.request, async ({ senderFrame }, name, input) => {
      if (!this.#isTrusted(senderFrame)) {
        return fail('forbidden', 'Only the page of Dormouse may ask this.', 'Nothing was done.');
      }
      if (typeof name !== 'string') return fail('unknown_request', 'A request has a name.');
      return deps.dispatcher.dispatch(name, input);
    });
  }

  /** Sends every event to a window. @param isSeen neither hidden nor minimised. @returns a function that ends it. */
  attach(contents: Contents, isSeen: () => boolean): () => void {
    return this.#deps.dispatcher.subscribe((event) => {
      if (!contents.isDestroyed()) contents.send(channels.event, event);
    }, isSeen);
  }

  close(): void {
    this.#deps.ipcMain.removeHandler(channels.request);
  }

  /** A frame that has gone meanwhile (null) asks for nobody. */
  #isTrusted(frame: SenderEvent['senderFrame']): boolean {
    return frame !== null && frame.parent === null && this.#deps.isOwnPage(frame.url);
  }
}
