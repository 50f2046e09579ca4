import { mkdir, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { Emitter, SerialQueue, type Logger } from '../base/index.ts';
import { defaultSettings, ok, settingsSchema, type Result, type Settings } from '../contract/index.ts';
import { freeName, systemCode, writeAtomically } from './atomic-file.ts';
import { storageError } from './storage-error.ts';

const fileSchema = z.looseObject({ version: z.number().int().min(1) });

/** Turns a file of version N into one of version N + 1; the entry at index 0 is for version 1. */
export type Migrations = readonly ((file: Readonly<Record<string, unknown>>) => Record<string, unknown>)[];

export type SettingsFileOptions = {
  readonly path: string;
  readonly logger: Logger;
  readonly onNotice: (text: string) => void;
  /** Asked before each write: whether this process has the right to write in the data folder. */
  readonly ensureOwner: () => Promise<Result<void>>;
  /** Injected by tests; the product's own list is empty so far. */
  readonly migrations?: Migrations;
};

/** Settings in one small file. Nothing about it ever stops the start: a broken file is kept aside and defaults are used. */
export class SettingsFile {
  readonly #path: string;
  readonly #logger: Logger;
  readonly #ensureOwner: () => Promise<Result<void>>;
  readonly #version: number;
  readonly #queue = new SerialQueue();
  readonly #changes = new Emitter<Settings>();
  #settings: Settings = defaultSettings;
  /** A file of a newer version is read as far as it is understood and never overwritten. */
  #readOnly = false;

  private constructor({ path, logger, ensureOwner, migrations = [] }: SettingsFileOptions) {
    this.#path = path;
    this.#logger = logger;
    this.#ensureOwner = ensureOwner;
    this.#version = migrations.length + 1;
  }

  static async open(options: SettingsFileOptions): Promise<SettingsFile> {
    const file = new SettingsFile(options);
    try {
      await file.#read(options);
    } catch (error) {
      if (systemCode(error) !== 'ENOENT') {
        options.onNotice(`Settings could not be read, so defaults are used: ${String(error)}`);
      }
    }
    return file;
  }

  get value(): Settings {
    return this.#settings;
  }

  on(listener: (settings: Settings) => void): () => void {
    return this.#changes.on(listener);
  }

  /** The change counts at once; the result tells whether it is also saved. */
  async set(changes: Partial<Settings>): Promise<Result<Settings>> {
    const settings = { ...this.#settings, ...changes };
    this.#settings = settings;
    this.#changes.emit(settings);
    if (this.#readOnly) return ok(settings);
    return this.#queue.run(async () => {
      try {
        const owned = await this.#ensureOwner();
        if (!owned.ok) return owned;
        await mkdir(dirname(this.#path), { recursive: true });
        await writeAtomically(
          this.#path,
          `${JSON.stringify({ version: this.#version, ...this.#settings }, null, 2)}\n`,
        );
        return ok(this.#settings);
      } catch (error) {
        this.#logger.error('settings not saved', { code: systemCode(error) ?? String(error) });
        return storageError(error, this.#path);
      }
    });
  }

  /** Waits for what is being written. */
  close(): Promise<void> {
    return this.#queue.run(() => Promise.resolve());
  }

  async #read({ path, migrations = [], onNotice }: SettingsFileOptions): Promise<void> {
    const text = await readFile(path, 'utf8');
    const file = fileSchema.safeParse(parseJson(text));
    if (!file.success) return this.#keepAside(onNotice);
    if (file.data.version > this.#version) {
      this.#readOnly = true;
      onNotice('The settings were written by a newer Dormouse. They are used as far as possible and not changed.');
    }
    let migrated: Record<string, unknown> = file.data;
    for (const migrate of migrations.slice(file.data.version - 1)) migrated = migrate(migrated);
    // One bad value loses itself, not its neighbours.
    const values = Object.entries(settingsSchema.shape).map(
      ([name, schema]) => [name, schema.safeParse(migrated[name])] as const,
    );
    const good = values.filter(([, parsed]) => parsed.success).map(([name, parsed]) => [name, parsed.data]);
    const lost = values.filter(([name, parsed]) => !parsed.success && name in migrated).map(([name]) => name);
    this.#settings = { ...defaultSettings, ...(Object.fromEntries(good) as Partial<Settings>) };
    if (lost.length > 0) onNotice(`Settings with a value that is not allowed were reset: ${lost.join(', ')}.`);
  }

  async #keepAside(onNotice: (text: string) => void): Promise<void> {
    const aside = await freeName(`${this.#path}.broken`);
    await rename(this.#path, aside);
    onNotice(`The settings file was broken, so defaults are used. It was kept as ${aside}.`);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
