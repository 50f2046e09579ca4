import { z } from 'zod';
import { ok, type Result } from '../contract/index.ts';
import { JsonFile, type JsonFileOptions } from './json-file.ts';

/** The system's own key store, where there is a real one. */
export type SecretCipher = {
  /** @returns text that only this user of this computer can open. */
  readonly seal: (secret: string) => string;
  /** Throws on what it has not sealed. */
  readonly open: (sealed: string) => string;
};

/** `unreadable`: sealed by another program of ours, or the key store has changed. */
export type Secret =
  { readonly kind: 'none' } | { readonly kind: 'value'; readonly value: string } | { readonly kind: 'unreadable' };

const schema = z.record(z.string(), z.union([z.object({ plain: z.string() }), z.object({ sealed: z.string() })]));
type Secrets = z.infer<typeof schema>;

export type SecretsFileOptions = Omit<JsonFileOptions<Secrets>, 'schema' | 'empty' | 'title'> & {
  /** Asked at each use, since Electron's is there only once the app is ready; null: there is none. */
  readonly cipher: () => SecretCipher | null;
};

/** Keys by name, in a file of their own that only this user may read; sealed where the system can. Never in settings or logs. */
export class SecretsFile {
  readonly #file: JsonFile<Secrets>;
  readonly #cipher: () => SecretCipher | null;

  private constructor(file: JsonFile<Secrets>, cipher: () => SecretCipher | null) {
    this.#file = file;
    this.#cipher = cipher;
  }

  static async open({ cipher, ...options }: SecretsFileOptions): Promise<SecretsFile> {
    const file = await JsonFile.open<Secrets>({ ...options, schema, empty: {}, title: 'The file of keys' });
    return new SecretsFile(file, cipher);
  }

  /** Where the next key goes. */
  get store(): 'system' | 'file' {
    return this.#cipher() === null ? 'file' : 'system';
  }

  get(name: string): Secret {
    const kept = Object.hasOwn(this.#file.value, name) ? this.#file.value[name] : undefined;
    if (kept === undefined) return { kind: 'none' };
    if ('plain' in kept) return { kind: 'value', value: kept.plain };
    try {
      const value = this.#cipher()?.open(kept.sealed);
      return value === undefined ? { kind: 'unreadable' } : { kind: 'value', value };
    } catch {
      return { kind: 'unreadable' };
    }
  }

  /** @param secret null takes it away. */
  async set(name: string, secret: string | null): Promise<Result<void>> {
    const saved = await this.#file.update((all) => {
      const others = Object.fromEntries(Object.entries(all).filter(([other]) => other !== name));
      return secret === null ? others : { ...others, [name]: this.#sealed(secret) };
    });
    return saved.ok ? ok() : saved;
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  #sealed(secret: string): Secrets[string] {
    const cipher = this.#cipher();
    return cipher === null ? { plain: secret } : { sealed: cipher.seal(secret) };
  }
}
