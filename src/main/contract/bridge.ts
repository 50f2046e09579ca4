import type { Result } from './errors.ts';
import type { AppEvent } from './events.ts';
import type { RequestInput, RequestName, RequestOutput } from './requests.ts';

/** `lost`: trying again by itself. `refused`: the page has no right (any more) and needs a new link. */
export type ConnectionState = 'connecting' | 'open' | 'lost' | 'refused';

/** The one way from a page to main. Electron's preload and the HTTP transport both give this and nothing else. */
export interface Bridge {
  /** Never rejects: a transport that fails answers with `disconnected` or `session_required`. */
  request<N extends RequestName>(name: N, input: RequestInput<N>): Promise<Result<RequestOutput<N>>>;
  /** @returns a function that ends the subscription. */
  on(listener: (event: AppEvent) => void): () => void;
  /** Calls at once with the current state. After `open` follows a time without events, state must be fetched anew. */
  onConnection(listener: (state: ConnectionState) => void): () => void;
}

/** What Electron's preload script gives the page as `window.dormouse`, and nothing else. */
export interface DesktopBridge {
  readonly request: (name: string, input: unknown) => Promise<Result<unknown>>;
  /** @returns a function that ends the subscription. */
  readonly on: (listener: (event: AppEvent) => void) => () => void;
}

/** The channels of Electron's IPC between preload and main: requests by `invoke`, events by `send`. */
export type DesktopChannels = { readonly request: 'dormouse:request'; readonly event: 'dormouse:event' };

/** Main's side of the bridge: what a transport (HTTP, Electron's ipcMain) carries to and fro. */
export interface Dispatcher {
  /**
   * Parses `input`, runs the handler, checks nothing else: the transport has already checked who asks.
   * Never rejects: unknown names, bad input and bugs are error values.
   */
  dispatch(name: string, input: unknown): Promise<Result<unknown>>;
  /**
   * Events from now on, in order. @returns a function that ends the subscription.
   * @param isSeen whether a person sees what is made of them: a page by default; a hidden window and what is no page are not.
   */
  subscribe(listener: (event: AppEvent) => void, isSeen?: () => boolean): () => void;
  /** What some `isSeen` answers has changed. */
  seenChanged(): void;
}
