import { join } from 'node:path';
import { silentLogger } from '../../src/main/base/index.ts';
import {
  defaultFlagValues,
  ok,
  keptRemotesSchema,
  type FlagName,
  type FlagValues,
} from '../../src/main/contract/index.ts';
import { serverServices } from '../../src/main/server-services.ts';
import type { ControlledServer, KeptRemote } from '../../src/main/services/index.ts';
import { JsonFile, SecretsFile, type SecretCipher, type SettingsFile } from '../../src/main/store/index.ts';

export type ServerServicesChanges = {
  readonly flags?: Partial<FlagValues>;
  readonly given?: readonly FlagName[];
  readonly shell?: 'desktop' | 'browser';
  readonly cipher?: () => SecretCipher | null;
};

/** The services around the server as the app joins them, over real files in `folder`. The server comes in by `serve`. */
export async function realServerServices(folder: string, settings: SettingsFile, changes: ServerServicesChanges = {}) {
  const logger = silentLogger;
  const common = { logger, onNotice: () => undefined, ensureOwner: () => Promise.resolve(ok()) };
  const cipher = changes.cipher ?? (() => null);
  const secrets = await SecretsFile.open({ path: join(folder, 'keys.json'), cipher, ...common });
  const remotes = await JsonFile.open<readonly KeptRemote[]>({
    ...{ path: join(folder, 'remotes.json'), title: 'Remotes', empty: [], ...common },
    schema: keptRemotesSchema,
  });
  const flags: FlagValues = { ...defaultFlagValues, ...changes.flags };
  const options = { flags, given: new Set(changes.given ?? []), shell: changes.shell ?? 'browser' };
  return serverServices(options, { settings, secrets, remotes, log: { logger } });
}

/** A server that says yes to everything and keeps what it was told. */
export class FakeServer implements ControlledServer {
  readonly opened: string[] = [];
  answering = true;
  key: string | null = null;
  /** The next address that cannot be had. */
  refuse: string | null = null;

  async open(host: string, port: number): ReturnType<ControlledServer['open']> {
    const at = `${host}:${port}`;
    if (at === this.refuse) return { ok: false, error: { code: 'port_taken', message: 'It is taken.' } };
    this.opened.push(at);
    return ok({ url: `http://127.0.0.1:${port === 0 ? 4242 : port}`, port: port === 0 ? 4242 : port });
  }

  async close(): Promise<void> {
    this.opened.push('closed');
  }

  setAnswering(answering: boolean): void {
    this.answering = answering;
  }

  setApiKey(key: string | null): void {
    this.key = key;
  }
}
