import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from '../base/index.ts';
import type { Exchange, OriginKind } from './exchange.ts';
import { RequestCounters } from './request-counters.ts';

/** Follows every open socket and every request on it, so that a client that goes away is noticed at once. */
export class Exchanges {
  readonly #sockets = new Map<Socket, Set<() => void>>();
  readonly #logger: Logger;
  /** Of all requests that have ended. */
  readonly counters = new RequestCounters();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  addSocket(socket: Socket): void {
    const finishes = new Set<() => void>();
    this.#sockets.set(socket, finishes);
    socket.once('close', () => {
      this.#sockets.delete(socket);
      for (const finish of [...finishes]) finish();
    });
  }

  /** Begins an exchange, which ends with its reply or with its socket, whichever comes first. */
  begin(incoming: IncomingMessage, outgoing: ServerResponse, origin: OriginKind): Exchange {
    const controller = new AbortController();
    const exchange: Exchange = { origin, gone: controller.signal, route: '', fields: {} };
    const began = performance.now();
    // The socket's list, since a reply that still waits behind another one (pipelining) never emits `close`.
    const finishes = this.#sockets.get(incoming.socket);
    const finish = () => {
      if (!finishes?.delete(finish)) return;
      if (!outgoing.writableFinished) controller.abort();
      this.#log(incoming, outgoing, exchange, performance.now() - began);
    };
    if (finishes === undefined) controller.abort();
    finishes?.add(finish);
    outgoing.once('close', finish);
    return exchange;
  }

  /** Ends everything: what is written goes out if the reader takes it within `graceMs`. */
  async closeAll(graceMs: number): Promise<void> {
    for (const finishes of this.#sockets.values()) for (const finish of [...finishes]) finish();
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
    else if (exchange.route.startsWith('/v1')) this.#logger.info('http', fields);
    else this.#logger.debug('http', fields);
  }
}
