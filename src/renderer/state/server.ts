import { createStore, type StoreApi } from 'zustand/vanilla';
import type {
  AppError,
  Bridge,
  ConnectionState,
  ExchangeEntry,
  Remote,
  RemoteInput,
  RequestInput,
  Result,
  ServerStatus,
} from '../../main/contract/index.ts';
import type { TabEnvironment } from './telemetry.ts';

export interface ServerState {
  /** null until main has told. */
  readonly status: ServerStatus | null;
  /** Why the last change asked for on this page could not be made. */
  readonly error: AppError | null;
  readonly busy: boolean;
  /** The API key while a person looks at it; else null. */
  readonly key: string | null;
  /** Newest first. */
  readonly entries: readonly ExchangeEntry[];
  /** null until main has told. */
  readonly remotes: readonly Remote[] | null;
}

interface ServerOptions {
  readonly bridge: Bridge;
  readonly tab: TabEnvironment;
  /** Calls back before the next paint. */
  readonly schedule: (paint: () => void) => void;
}

/** As many as main keeps. */
const mostEntries = 500;
const renewAfter = 0.6;
const retryMs = 5000;

/** The server as main tells of it, its last exchanges while somebody looks at them, and remote engines. */
export class Server {
  readonly store: StoreApi<ServerState> = createStore(() => ({
    status: null,
    error: null,
    busy: false,
    key: null,
    entries: [],
    remotes: null,
  }));
  readonly #options: ServerOptions;
  #entries = new Map<number, ExchangeEntry>();
  #painting = false;
  #views = 0;
  #connected = false;
  #watching = false;
  /** Counts the times watching began or ended: an answer from before that is stale. */
  #turn = 0;
  #cancelWait: () => void = () => undefined;

  constructor(options: ServerOptions) {
    this.#options = options;
  }

  /** Follows the tab. @returns a function that ends it. */
  start(): () => void {
    return this.#options.tab.onVisibility(() => this.#update());
  }

  connectionChanged(connection: ConnectionState): void {
    // A new connection may be a new main, which knows of no lease.
    if (connection !== 'open') this.#watching = false;
    this.#connected = connection === 'open';
    this.#update();
  }

  async refresh(): Promise<void> {
    const { bridge } = this.#options;
    const [status, remotes] = await Promise.all([
      bridge.request('server.status', {}),
      bridge.request('remotes.list', {}),
    ]);
    if (status.ok) this.apply(status.data);
    if (remotes.ok) this.applyRemotes(remotes.data.remotes);
  }

  apply(status: ServerStatus): void {
    this.store.setState({ status });
  }

  applyRemotes(remotes: readonly Remote[]): void {
    this.store.setState({ remotes });
  }

  addEntry(entry: ExchangeEntry): void {
    if (!this.#watching) return;
    this.#entries.set(entry.id, entry);
    this.#paint();
  }

  logCleared(): void {
    for (const [id, { running }] of this.#entries) if (!running) this.#entries.delete(id);
    this.#paint();
  }

  /** A view that shows exchanges is there. @returns a function for when it is gone. */
  attach(): () => void {
    this.#views += 1;
    queueMicrotask(() => this.#update());
    return () => {
      this.#views -= 1;
      this.hideKey();
      this.store.setState({ error: null });
      queueMicrotask(() => this.#update());
    };
  }

  async setOn(on: boolean): Promise<void> {
    await this.#change(this.#options.bridge.request(on ? 'server.start' : 'server.stop', {}));
  }

  /** @returns whether it could be had. */
  configure(changes: RequestInput<'server.configure'>): Promise<boolean> {
    return this.#change(this.#options.bridge.request('server.configure', changes));
  }

  async setKey(key: string | null): Promise<boolean> {
    const done = await this.#change(this.#options.bridge.request('server.setKey', { key }));
    if (done) this.store.setState({ key: null });
    return done;
  }

  /** The new key is shown at once: it must be copied somewhere. */
  async generateKey(): Promise<void> {
    const result = await this.#options.bridge.request('server.generateKey', {});
    if (result.ok) this.store.setState({ key: result.data.key, error: null });
    else this.store.setState({ error: result.error });
  }

  async showKey(): Promise<void> {
    this.store.setState({ key: await this.readKey() });
  }

  /** For the clipboard, without showing it. */
  async readKey(): Promise<string | null> {
    const result = await this.#options.bridge.request('server.key', {});
    if (result.ok) return result.data.key;
    this.store.setState({ error: result.error });
    return null;
  }

  hideKey(): void {
    this.store.setState({ key: null });
  }

  dismissError(): void {
    this.store.setState({ error: null });
  }

  async clearLog(): Promise<void> {
    await this.#options.bridge.request('server.clearLog', {});
  }

  addRemote(remote: RemoteInput): Promise<Result<Remote>> {
    return this.#options.bridge.request('remotes.add', remote);
  }

  changeRemote(change: RequestInput<'remotes.change'>): Promise<Result<Remote>> {
    return this.#options.bridge.request('remotes.change', change);
  }

  testRemote(id: string): Promise<Result<Remote>> {
    return this.#options.bridge.request('remotes.test', { id });
  }

  removeRemote(id: string): Promise<Result<object>> {
    return this.#options.bridge.request('remotes.remove', { id });
  }

  async #change(reply: Promise<Result<ServerStatus>>): Promise<boolean> {
    this.store.setState({ busy: true, error: null });
    const result = await reply;
    this.store.setState({ busy: false, ...(result.ok ? { status: result.data } : { error: result.error }) });
    return result.ok;
  }

  #paint(): void {
    if (this.#painting) return;
    this.#painting = true;
    this.#options.schedule(() => {
      this.#painting = false;
      const surplus = [...this.#entries.keys()].slice(0, Math.max(0, this.#entries.size - mostEntries));
      for (const id of surplus) this.#entries.delete(id);
      this.store.setState({ entries: [...this.#entries.values()].reverse() });
    });
  }

  #update(): void {
    const wanted = this.#views > 0 && this.#connected && this.#options.tab.isVisible();
    if (wanted === this.#watching) return;
    this.#watching = wanted;
    this.#turn += 1;
    this.#cancelWait();
    if (wanted) void this.#ask(this.#turn);
    else if (this.#connected) void this.#options.bridge.request('server.unwatchLog', {});
  }

  async #ask(turn: number): Promise<void> {
    const result = await this.#options.bridge.request('server.watchLog', {});
    if (turn !== this.#turn) return;
    if (result.ok) {
      // What ended as an event meanwhile is newer than this reply; what is not in it has been cleared.
      const ended = (entry: ExchangeEntry) => (entry.running ? (this.#entries.get(entry.id) ?? entry) : entry);
      this.#entries = new Map(result.data.entries.map((entry) => [entry.id, ended(entry)]));
      this.#paint();
    }
    const pause = result.ok ? result.data.leaseMs * renewAfter : retryMs;
    this.#cancelWait = this.#options.tab.wait(pause, () => void this.#ask(turn));
  }
}

/** `NAME/MODEL` of a conversation's model where it is a remote engine's; null for others and for removed ones. */
export function remoteLabel(model: string | null, remotes: readonly Remote[] | null): string | null {
  const match = /^remote:([^/]+)\/(.+)$/s.exec(model ?? '');
  const remote = remotes?.find(({ id }) => id === match?.[1]);
  return match === null || remote === undefined ? null : `${remote.name}/${match[2] ?? ''}`;
}

/** Whether a conversation is answered elsewhere: then it does not matter what the local engine does. */
export function isRemoteModel(model: string | null): boolean {
  return model?.startsWith('remote:') === true;
}
