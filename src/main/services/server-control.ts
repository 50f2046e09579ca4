import { Emitter, isLoopbackHost, SerialQueue, type Logger } from '../base/index.ts';
import {
  fail,
  ok,
  type AppError,
  type FlagName,
  type FlagValues,
  type Result,
  type ServerStatus,
} from '../contract/index.ts';
import type { SecretsFile } from '../store/index.ts';
import type { ServerControlService, SettingsService } from './interfaces.ts';
import { serverAddresses } from './server-addresses.ts';

/** 256 bits. */
const keyBytes = 32;
const keyName = 'api-key';

/** What is controlled: the HTTP server, whichever builds it. */
export type ControlledServer = {
  open(host: string, port: number): Promise<Result<{ url: string; port: number }>>;
  close(): Promise<void>;
  setAnswering(answering: boolean): void;
  setApiKey(key: string | null): void;
};

export type ServerControlDependencies = {
  readonly server: ControlledServer;
  readonly settings: SettingsService;
  readonly secrets: Pick<SecretsFile, 'get' | 'set' | 'store'>;
  readonly flags: FlagValues;
  /** Flags that the command line or the environment has set: they win at the start. */
  readonly given: ReadonlySet<FlagName>;
  /** `browser`: the page comes through the server, so that switching off must leave it. */
  readonly shell: 'desktop' | 'browser';
  readonly place: ServerStatus['place'];
  readonly ownAddresses: () => readonly string[];
  /** @returns that many random bytes from a cryptographic source. */
  readonly random: (bytes: number) => Uint8Array;
  readonly logger: Logger;
};

/** Starts, stops and moves the server, and keeps its API key. Changes happen one after the other. */
export class ServerControl implements ServerControlService {
  readonly #deps: ServerControlDependencies;
  readonly #events: Emitter<ServerStatus>;
  readonly #changes = new SerialQueue();
  #on: boolean;
  #host: string;
  /** As wished: 0 takes any. */
  #port: number;
  /** null while nothing listens. */
  #listening: { readonly url: string; readonly port: number; readonly host: string } | null = null;
  #error: AppError | null = null;

  constructor(deps: ServerControlDependencies) {
    this.#deps = deps;
    const { flags, given, settings, logger } = deps;
    const { serverOn, serverHost, serverPort } = settings.value;
    this.#on = given.has('serve') || serverOn;
    this.#host = given.has('host') ? flags.host : (serverHost ?? flags.host);
    this.#port = given.has('port') ? flags.port : (serverPort ?? flags.port);
    this.#events = new Emitter((error) => logger.error('server listener failed', { error: String(error) }));
  }

  on(listener: (status: ServerStatus) => void): () => void {
    return this.#events.on(listener);
  }

  /** Address for this computer; null while nothing listens. */
  url(): string | null {
    return this.#listening?.url ?? null;
  }

  status(): ServerStatus {
    const { shell, given, secrets, flags, place, ownAddresses } = this.#deps;
    const listening = this.#listening;
    const host = listening?.host ?? this.#host;
    return {
      on: this.#on && listening !== null,
      pageOverServer: shell === 'browser',
      host,
      port: listening?.port ?? this.#port,
      addresses: listening === null ? [] : [...serverAddresses({ host, port: listening.port }, ownAddresses(), place)],
      commandLine: { host: given.has('host'), port: given.has('port'), on: given.has('serve') },
      apiKey: this.#keyState(),
      keyStore: secrets.store,
      corsOrigins: [...flags['cors-origin']],
      allowedHosts: [...flags['allowed-host']],
      place,
      error: this.#error,
    };
  }

  /** As the command line and the settings say. In the desktop app a server that is switched off does not listen. */
  begin(): Promise<Result<ServerStatus>> {
    return this.#change(async () => {
      this.#applyKey();
      if (!this.#on && this.#deps.shell === 'desktop') return ok();
      this.#deps.server.setAnswering(this.#on);
      return this.#open(this.#host, this.#port);
    });
  }

  start(): Promise<Result<ServerStatus>> {
    return this.#change(async () => {
      if (this.#listening === null) {
        const opened = await this.#open(this.#host, this.#port);
        if (!opened.ok) return opened;
      }
      this.#on = true;
      this.#deps.server.setAnswering(true);
      return this.#remember({ serverOn: true });
    });
  }

  stop(): Promise<Result<ServerStatus>> {
    return this.#change(async () => {
      this.#on = false;
      this.#deps.server.setAnswering(false);
      if (this.#deps.shell === 'desktop') {
        this.#listening = null;
        await this.#deps.server.close();
      }
      return this.#remember({ serverOn: false });
    });
  }

  configure({ host, port }: { readonly host?: string; readonly port?: number }): Promise<Result<ServerStatus>> {
    return this.#change(async () => {
      const wishedHost = host ?? this.#host;
      const wishedPort = port ?? this.#listening?.port ?? this.#port;
      const refusal = this.#needsKey(wishedHost);
      if (refusal !== null) return refusal;
      if (this.#listening !== null) {
        const opened = await this.#open(wishedHost, wishedPort);
        if (!opened.ok) return opened;
      }
      this.#host = wishedHost;
      this.#port = wishedPort;
      return this.#remember({
        ...(host === undefined ? {} : { serverHost: host }),
        ...(port === undefined ? {} : { serverPort: port }),
      });
    });
  }

  apiKey(): string | null {
    const { flags, secrets } = this.#deps;
    if (flags['api-key'] !== null) return flags['api-key'];
    const kept = secrets.get(keyName);
    return kept.kind === 'value' ? kept.value : null;
  }

  setApiKey(key: string | null): Promise<Result<ServerStatus>> {
    return this.#change(async () => {
      if (this.#deps.flags['api-key'] !== null) {
        const message = 'The API key was given at the start (--api-key or DORMOUSE_API_KEY) and stays for this run.';
        return fail('invalid_input', message, 'Start Dormouse without it to manage the key here.');
      }
      const host = this.#listening?.host ?? this.#host;
      if (key === null && !isLoopbackHost(host)) {
        const message = `The key stays, since other computers can reach the server at ${JSON.stringify(host)}.`;
        return fail('api_key_required', message, 'Let it listen on 127.0.0.1 first.');
      }
      const saved = await this.#deps.secrets.set(keyName, key);
      if (saved.ok) this.#applyKey();
      return saved;
    });
  }

  async generateApiKey(): Promise<Result<string>> {
    const key = `dm-${Buffer.from(this.#deps.random(keyBytes)).toString('base64url')}`;
    const set = await this.setApiKey(key);
    return set.ok ? ok(key) : set;
  }

  async #open(host: string, port: number): Promise<Result<void>> {
    const opened = await this.#deps.server.open(host, port);
    if (!opened.ok) return opened;
    this.#listening = { ...opened.data, host };
    return ok();
  }

  /** One change at its turn; whatever came of it, the pages hear the state after it. */
  #change(change: () => Promise<Result<void>>): Promise<Result<ServerStatus>> {
    return this.#changes.run(async () => {
      const result = await change();
      this.#error = result.ok ? null : result.error;
      const status = this.status();
      this.#events.emit(status);
      return result.ok ? ok(status) : result;
    });
  }

  /** A change counts for this run also where it cannot be kept. */
  async #remember(changes: Parameters<SettingsService['set']>[0]): Promise<Result<void>> {
    if (Object.keys(changes).length === 0) return ok();
    const saved = await this.#deps.settings.set(changes);
    return saved.ok ? ok() : saved;
  }

  #needsKey(host: string): Result<never> | null {
    if (isLoopbackHost(host) || this.#keyState() !== 'none') return null;
    const message = `Listening on ${JSON.stringify(host)} lets other computers in, so an API key is required.`;
    return fail('api_key_required', message, 'Set one first.');
  }

  #keyState(): ServerStatus['apiKey'] {
    const { flags, secrets } = this.#deps;
    if (flags['api-key'] !== null) return 'command_line';
    const { kind } = secrets.get(keyName);
    return kind === 'value' ? 'kept' : kind;
  }

  /** A key that cannot be read must not open the door: then none fits. */
  #applyKey(): void {
    const { server, random } = this.#deps;
    const unreadable = this.#keyState() === 'unreadable';
    server.setApiKey(unreadable ? Buffer.from(random(keyBytes)).toString('base64url') : this.apiKey());
  }
}
