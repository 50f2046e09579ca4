import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { Logger } from '../base/index.ts';
import { ok, type Result } from '../contract/index.ts';
import type { Exchanges } from './exchanges.ts';
import { listen } from './listen.ts';

/** How long a client may take to send the head of a request, and all of it. */
const headMs = 15_000;
const requestMs = 120_000;

export type Listening = { readonly server: http.Server; readonly host: string; readonly port: number };

type Handle = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

/** The socket that listens: opened, moved to another address while exchanges go on, closed. One at a time. */
export class Listeners {
  readonly #handle: Handle;
  readonly #exchanges: Exchanges;
  readonly #logger: Logger;
  #current: Listening | null = null;

  constructor(handle: Handle, exchanges: Exchanges, logger: Logger) {
    this.#handle = handle;
    this.#exchanges = exchanges;
    this.#logger = logger;
  }

  get current(): Listening | null {
    return this.#current;
  }

  /**
   * Listens there instead of where it did; when it cannot, it goes on where it did. `onMoved` is called before the
   * sockets of the old address are let go.
   */
  async open(host: string, port: number, onMoved: () => void): Promise<Result<Listening>> {
    const old = this.#current;
    if (old !== null && old.host === host && old.port === port) return ok(old);
    const opened = old?.port === port ? await this.#swap(old, host) : await this.#listen(host, port);
    if (!opened.ok) return opened;
    this.#current = opened.data;
    if (old === null) return opened;
    onMoved();
    old.server.close();
    this.#exchanges.retire(old.server);
    return opened;
  }

  /** Takes no more; what runs is up to the caller. @returns when its sockets have all closed. */
  close(): Promise<void> {
    const server = this.#current?.server;
    this.#current = null;
    return server === undefined ? Promise.resolve() : new Promise((resolve) => void server.close(() => resolve()));
  }

  /** To another address with the same port, which both cannot have at once: first sees that the address is one of ours. */
  async #swap(old: Listening, host: string): Promise<Result<Listening>> {
    const probe = await this.#listen(host, 0);
    if (!probe.ok) return probe;
    probe.data.server.close();
    // Releases the port at once; open connections go on.
    old.server.close();
    const opened = await this.#listen(host, old.port);
    if (opened.ok) return opened;
    const back = await this.#listen(old.host, old.port);
    this.#current = back.ok ? back.data : null;
    return opened;
  }

  async #listen(host: string, port: number): Promise<Result<Listening>> {
    const server = http.createServer({ requireHostHeader: false, headersTimeout: headMs, requestTimeout: requestMs });
    server.on('connection', (socket) => this.#exchanges.addSocket(socket, server));
    server.on('request', this.#handle);
    // Without this node would invite the body of a request that is about to be refused.
    server.on('checkContinue', this.#handle);
    const got = await listen(server, host, port);
    if (!got.ok) return got;
    server.on('error', (error: NodeJS.ErrnoException) => this.#logger.error('Server error', { code: error.code }));
    return ok({ server, host, port: got.data });
  }
}
