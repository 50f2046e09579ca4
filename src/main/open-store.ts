import { join } from 'node:path';
import { keptRemotesSchema, type FlagValues } from './contract/index.ts';
import type { KeptRemote } from './services/index.ts';
import {
  ConversationFiles,
  JsonFile,
  LoadMarker,
  openLogFile,
  SecretsFile,
  SettingsFile,
  type DataFolder,
  type SecretCipher,
} from './store/index.ts';

export type StoreOptions = {
  readonly flags: FlagValues;
  readonly dataFolder: DataFolder;
  readonly cipher?: () => SecretCipher | null;
};

export type Store = Awaited<ReturnType<typeof openStore>>;

/** Opens everything that lies in the data folder. */
export async function openStore({ flags, dataFolder, cipher }: StoreOptions, onNotice: (text: string) => void) {
  const { path, ensureOwner } = dataFolder;
  const log = openLogFile(path, flags['log-level'], onNotice);
  const common = { logger: log.logger, onNotice, ensureOwner };
  const settings = await SettingsFile.open({ path: join(path, 'settings.json'), ...common });
  const files = await ConversationFiles.open({ folder: join(path, 'conversations'), now: Date.now, ...common });
  const marker = await LoadMarker.open({ path: join(path, 'loading.json'), ...common });
  const secrets = await SecretsFile.open({ path: join(path, 'keys.json'), cipher: cipher ?? (() => null), ...common });
  const remotes = await JsonFile.open<readonly KeptRemote[]>({
    ...{ path: join(path, 'remotes.json'), title: 'The list of remote engines', empty: [], ...common },
    schema: keptRemotesSchema,
  });
  return { log, settings, files, marker, secrets, remotes };
}
