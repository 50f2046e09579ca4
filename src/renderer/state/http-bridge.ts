import type {
  AppEvent,
  Bridge,
  ConnectionState,
  RequestInput,
  RequestName,
  RequestOutput,
  Result,
} from '../../main/contract/index.ts';
import {
  eventHeartbeatMs,
  eventsPath,
  requestPath,
  sessionHeader,
  sessionPath,
  ticketPattern,
} from '../../main/contract/http.ts';
import { SseParser } from '../lib/sse.ts';
import { failed, readResult } from './http-result.ts';

/** What the transport needs of a browser; tests give their own. */
export interface HttpEnvironment {
  readonly fetch: (path: string, init: RequestInit) => Promise<Response>;
  readonly storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;
  readonly readHash: () => string;
  readonly clearHash: () => void;
  readonly isVisible: () => boolean;
  /** Calls `done` once after a time in ms. @returns a function that cancels. */
  readonly wait: (milliseconds: number, done: () => void) => () => void;
  /** Unix time in ms. */
  readonly now: () => number;
}

const storageKey = 'dormouse-session';
const firstRetryMs = 250;
const lastRetryMs = 5000;
/** A stream that lived this long counts as a success: the next retry is quick again. */
const stableMs = 5000;
/** After so many missing heartbeats the other end is gone without a word (sleep, a dead tunnel). */
const silenceMs = 4 * eventHeartbeatMs;

const disconnected = (): Result<never> =>
  failed(
    'disconnected',
    'Dormouse does not answer.',
    'Check that Dormouse is still running. This page connects again by itself.',
  );
const sessionRequired = (): Result<never> =>
  failed('session_required', 'This page has no right to use Dormouse.', 'Open it through a fresh link.');

/** The bridge over HTTP: requests by POST, events from one streamed body per tab, closed while the tab is hidden. */
export class HttpBridge implements Bridge {
  readonly #environment: HttpEnvironment;
  readonly #listeners = new Set<(event: AppEvent) => void>();
  readonly #connectionListeners = new Set<(state: ConnectionState) => void>();
  #state: ConnectionState = 'connecting';
  #secret: string | null = null;
  #ticket: string | null = null;
  #retries = 0;
  #lastByteAt = 0;
  #abort: AbortController | null = null;
  #cancelWait: (() => void) | null = null;
  #waitingForSecret: (() => void)[] = [];

  constructor(environment: HttpEnvironment) {
    this.#environment = environment;
  }

  start(): void {
    this.#secret = this.#environment.storage.getItem(storageKey);
    this.#takeTicket();
    void this.#connect();
  }

  async request<N extends RequestName>(name: N, input: RequestInput<N>): Promise<Result<RequestOutput<N>>> {
    const secret = await this.#whenAllowed();
    if (secret === null) return sessionRequired();
    try {
      const response = await this.#post(`${requestPath}/${name}`, input, secret);
      if (response.status === 401) this.#refuse(secret);
      return await readResult<RequestOutput<N>>(response);
    } catch {
      return disconnected();
    }
  }

  on(listener: (event: AppEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  onConnection(listener: (state: ConnectionState) => void): () => void {
    this.#connectionListeners.add(listener);
    listener(this.#state);
    return () => this.#connectionListeners.delete(listener);
  }

  /** A hidden tab gives its connection back (browsers allow six) and asks for everything anew when it is seen again. */
  visibilityChanged(): void {
    if (this.#state === 'refused') return;
    if (this.#environment.isVisible()) {
      if (this.#abort === null) this.retryNow();
      return;
    }
    this.#closeStream();
    this.#setState('connecting');
  }

  /** A fresh link was opened in this very tab. */
  hashChanged(): void {
    if (this.#takeTicket()) this.retryNow();
  }

  retryNow(): void {
    if (this.#state === 'open' && this.#abort !== null && this.#ticket === null) return;
    this.#closeStream();
    this.#retries = 0;
    if (this.#state === 'refused') this.#setState('connecting');
    void this.#connect();
  }

  #takeTicket(): boolean {
    const ticket = ticketPattern.exec(this.#environment.readHash())?.[1];
    if (ticket === undefined) return false;
    this.#environment.clearHash();
    this.#ticket = ticket;
    return true;
  }

  async #connect(): Promise<void> {
    const abort = new AbortController();
    const stopped = (): boolean => abort.signal.aborted;
    this.#abort = abort;
    try {
      if (this.#ticket !== null) await this.#tradeTicket(this.#ticket);
      if (stopped()) return;
      if (this.#secret === null) {
        this.#refuse(null);
        return;
      }
      this.#releaseWaiting();
      if (!this.#environment.isVisible()) {
        this.#abort = null;
        return;
      }
      await this.#readEvents(this.#secret, abort.signal, stopped);
      if (!stopped()) this.#lost();
    } catch {
      if (!stopped()) this.#lost();
    }
  }

  async #tradeTicket(ticket: string): Promise<void> {
    const response = await this.#post(sessionPath, { ticket }, null);
    const result = await readResult<{ readonly secret: string }>(response);
    if (!result.ok && response.status >= 500) throw new Error(result.error.message);
    this.#ticket = null;
    // A used-up link leaves the old secret in place: reloading a page that is already allowed must not lock it out.
    if (!result.ok) return;
    this.#secret = result.data.secret;
    this.#environment.storage.setItem(storageKey, this.#secret);
  }

  async #readEvents(secret: string, signal: AbortSignal, stopped: () => boolean): Promise<void> {
    const response = await this.#environment.fetch(eventsPath, {
      headers: { [sessionHeader]: secret, accept: 'text/event-stream' },
      cache: 'no-store',
      signal,
    });
    if (stopped()) return;
    if (response.status === 401) {
      this.#refuse(secret);
      return;
    }
    if (!response.ok || response.body === null) throw new Error(`HTTP ${response.status}`);
    this.#setState('open');
    const openedAt = this.#environment.now();
    const parser = new SseParser();
    const reader = response.body.getReader();
    const endWatch = this.#watchSilence(() => void reader.cancel().catch(() => undefined));
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (stopped()) return;
        this.#lastByteAt = this.#environment.now();
        if (this.#lastByteAt - openedAt >= stableMs) this.#retries = 0;
        if (done) return;
        for (const data of parser.push(value)) this.#emit(data);
      }
    } finally {
      endWatch();
      void reader.cancel().catch(() => undefined);
    }
  }

  /** One timer per silence, not one per piece. @returns a function that ends the watch. */
  #watchSilence(silent: () => void): () => void {
    this.#lastByteAt = this.#environment.now();
    let cancel: () => void = () => undefined;
    const look = (milliseconds: number) => {
      cancel = this.#environment.wait(milliseconds, () => {
        const left = this.#lastByteAt + silenceMs - this.#environment.now();
        if (left <= 0) silent();
        else look(left);
      });
    };
    look(silenceMs);
    return () => cancel();
  }

  #emit(data: string): void {
    let event: AppEvent;
    try {
      event = JSON.parse(data) as AppEvent;
    } catch {
      // Not an event; a chunk lost this way shows as a gap and is fetched again.
      return;
    }
    for (const listener of this.#listeners) listener(event);
  }

  #lost(): void {
    this.#abort = null;
    if (!this.#environment.isVisible()) return;
    this.#setState('lost');
    const delay = Math.min(firstRetryMs * 2 ** this.#retries, lastRetryMs);
    this.#retries += 1;
    this.#cancelWait = this.#environment.wait(delay, () => {
      this.#cancelWait = null;
      void this.#connect();
    });
  }

  /** `secret`: the one that was refused; a newer one, traded meanwhile, stays. */
  #refuse(secret: string | null): void {
    if (secret !== this.#secret) return;
    this.#closeStream();
    this.#secret = null;
    this.#environment.storage.removeItem(storageKey);
    this.#setState('refused');
    this.#releaseWaiting();
  }

  #closeStream(): void {
    this.#abort?.abort();
    this.#abort = null;
    this.#cancelWait?.();
    this.#cancelWait = null;
  }

  #whenAllowed(): Promise<string | null> {
    if (this.#secret !== null || this.#state === 'refused') return Promise.resolve(this.#secret);
    return new Promise((resolve) => this.#waitingForSecret.push(() => resolve(this.#secret)));
  }

  #releaseWaiting(): void {
    const waiting = this.#waitingForSecret;
    this.#waitingForSecret = [];
    for (const release of waiting) release();
  }

  #post(path: string, body: unknown, secret: string | null): Promise<Response> {
    const headers: Record<string, string> = { 'content-type': 'application/json' };
    if (secret !== null) headers[sessionHeader] = secret;
    return this.#environment.fetch(path, { method: 'POST', headers, body: JSON.stringify(body), cache: 'no-store' });
  }

  #setState(state: ConnectionState): void {
    if (state === this.#state) return;
    this.#state = state;
    for (const listener of this.#connectionListeners) listener(state);
  }
}
