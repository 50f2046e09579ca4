import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from '../base/index.ts';
import type { ExchangeEntry } from '../contract/index.ts';
import { exchangeEntry } from './exchange-entry.ts';
import type { Exchange, OriginKind } from './exchange.ts';
import { RequestCounters } from './request-counters.ts';

type OpenSocket = {
  readonly owner: Server;
  /** Ends the exchanges on this socket. */
  readonly finishes: Set<() => void>;
  /** Its listener takes no more: it goes when its exchanges have ended. */
  retiring: boolean;
};

/** Hears of exchanges with programs: when they begin, and when they end. */
export type ExchangeListener = (entry: ExchangeEntry) => void;

/** Follows every open socket and every request on it, so that a client that goes away is noticed at once. */
export class Exchanges {
  readonly #sockets = new Map<Socket, OpenSocket>();
  readonly #running = new Map<Exchange, { readonly incoming: IncomingMessage; readonly outgoing: ServerResponse }>();
  readonly #logger: Logger;
  readonly #listener: ExchangeListener;
  /** Of all requests that have ended. */
  readonly counters = new RequestCounters();
  #lastId = 0;

  constructor(logger: Logger, listener: ExchangeListener) {
    this.#logger = logger;
    this.#listener = listener;
  }

  addSocket(socket: Socket, owner: Server): void {
    const open: OpenSocket = { owner, finishes: new Set(), retiring: false };
    this.#sockets.set(socket, open);
    socket.once('close', () => {
      this.#sockets.delete(socket);
      for (const finish of [...open.finishes]) finish();
    });
  }

  /** Begins an exchange, which ends with its reply or with its socket, whichever comes first. */
  begin(incoming: IncomingMessage, outgoing: ServerResponse, origin: OriginKind): Exchange {
    const controller = new AbortController();
    const exchange: Exchange = {
      id: ++this.#lastId,
      startedAt: Date.now(),
      origin,
      gone: controller.signal,
      route: '',
      timings: null,
      fields: {},
    };
    const began = performance.now();
    // The socket's list, since a reply that still waits behind another one (pipelining) never emits `close`.
    const open = this.#sockets.get(incoming.socket);
    const finish = () => {
      if (open?.finishes.delete(finish) !== true) return;
      this.#running.delete(exchange);
      if (!outgoing.writableFinished) controller.abort();
      const ms = performance.now() - began;
      this.#log(incoming, outgoing, exchange, ms);
      if (isApi(exchange)) this.#listener(exchangeEntry(exchange, incoming, outgoing, ms));
      if (open.retiring && open.finishes.size === 0) incoming.socket.destroySoon();
    };
    if (open === undefined) controller.abort();
    else this.#running.set(exchange, { incoming, outgoing });
    open?.finishes.add(finish);
    outgoing.once('close', finish);
    return exchange;
  }

  /** Tells of an exchange whose route is known by now. */
  announce(exchange: Exchange): void {
    const running = this.#running.get(exchange);
    if (running === undefined || !isApi(exchange)) return;
    this.#listener(exchangeEntry(exchange, running.incoming, running.outgoing, null));
  }

  /** Ends what runs for programs; the page goes on. */
  endApi(): void {
    for (const [exchange, { incoming }] of [...this.#running]) if (isApi(exchange)) incoming.socket.destroy();
  }

  /** Lets the sockets of a listener that takes no more go: idle ones now, others with the end of their exchanges. */
  retire(owner: Server): void {
    for (const [socket, open] of this.#sockets) {
      if (open.owner !== owner) continue;
      open.retiring = true;
      if (open.finishes.size === 0) socket.destroySoon();
    }
  }

  /** Ends everything: what is written goes out if the reader takes it within `graceMs`. */
  async closeAll(graceMs: number): Promise<void> {
    for (const { finishes } of this.#sockets.values()) for (const finish of [...finishes]) finish();
    // The handlers that just heard of it write their last words first.
    await new Promise((resolve) => setImmediate(resolve));
    for (const socket of this.#sockets.keys()) socket.destroySoon();
    await this.#emptied(graceMs);
    for (const socket of this.#sockets.keys()) socket.destroy();
  }

  #emptied(graceMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, graceMs);
      const check = () => {
        if (this.#sockets.size > 0) return;
        clearTimeout(timer);
        resolve();
      };
      for (const socket of this.#sockets.keys()) socket.once('close', check);
      check();
    });
  }

  #log(incoming: IncomingMessage, outgoing: ServerResponse, exchange: Exchange, ms: number): void {
    const aborted = exchange.gone.aborted;
    this.counters.add(exchange, aborted || !outgoing.headersSent ? 'aborted' : String(outgoing.statusCode), ms);
    const fields = {
      method: incoming.method,
      route: exchange.route,
      // Nobody saw a status before the head was sent.
      status: outgoing.headersSent ? outgoing.statusCode : null,
      ms: Math.round(ms),
      ...(aborted ? { aborted } : {}),
      ...exchange.fields,
    };
    if (outgoing.headersSent && outgoing.statusCode >= 500) this.#logger.warn('http', fields);
    else if (isApi(exchange)) this.#logger.info('http', fields);
    else this.#logger.debug('http', fields);
  }
}

function isApi({ route }: Exchange): boolean {
  return route.startsWith('/v1');
}
