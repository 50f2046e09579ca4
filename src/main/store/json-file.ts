import { mkdir, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { z } from 'zod';
import { SerialQueue, type Logger } from '../base/index.ts';
import { ok, type Result } from '../contract/index.ts';
import { freeName, systemCode, writeAtomically } from './atomic-file.ts';
import { storageError } from './storage-error.ts';

export type JsonFileOptions<T> = {
  readonly path: string;
  readonly schema: z.ZodType<T>;
  /** While there is no file, and after a broken one was kept aside. */
  readonly empty: T;
  /** What it is called in notices: `The list of remote engines`. */
  readonly title: string;
  readonly logger: Logger;
  readonly onNotice: (text: string) => void;
  readonly ensureOwner: () => Promise<Result<void>>;
};

/** One small value in a file that only this user may read. A change counts once it is on disk. */
export class JsonFile<T> {
  readonly #options: JsonFileOptions<T>;
  readonly #queue = new SerialQueue();
  #value: T;

  private constructor(options: JsonFileOptions<T>) {
    this.#options = options;
    this.#value = options.empty;
  }

  static async open<T>(options: JsonFileOptions<T>): Promise<JsonFile<T>> {
    const file = new JsonFile(options);
    try {
      await file.#read();
    } catch (error) {
      if (systemCode(error) !== 'ENOENT') options.onNotice(`${options.title} could not be read: ${String(error)}`);
    }
    return file;
  }

  get value(): T {
    return this.#value;
  }

  /** @param change gives the new value from the one there is at its turn. */
  update(change: (value: T) => T): Promise<Result<T>> {
    const { path, logger, ensureOwner, title } = this.#options;
    return this.#queue.run(async () => {
      const next = change(this.#value);
      try {
        const owned = await ensureOwner();
        if (!owned.ok) return owned;
        await mkdir(dirname(path), { recursive: true });
        await writeAtomically(path, `${JSON.stringify(next, null, 2)}\n`);
        this.#value = next;
        return ok(next);
      } catch (error) {
        logger.error('not saved', { what: title, code: systemCode(error) ?? 'unknown' });
        return storageError(error, path);
      }
    });
  }

  /** Waits for what is being written. */
  close(): Promise<void> {
    return this.#queue.run(() => Promise.resolve());
  }

  async #read(): Promise<void> {
    const { path, schema, title, onNotice } = this.#options;
    const text = await readFile(path, 'utf8');
    const parsed = schema.safeParse(parseJson(text));
    if (parsed.success) {
      this.#value = parsed.data;
      return;
    }
    const aside = await freeName(`${path}.broken`);
    await rename(path, aside);
    onNotice(`${title} was broken and is empty now. It was kept as ${aside}.`);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
