import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import type { Logger } from '../base/index.ts';
import type { Result } from '../contract/index.ts';
import { systemCode } from './atomic-file.ts';

const entrySchema = z.object({
  /** `builtin` or an absolute path. */
  model: z.string().min(1),
  stage: z.enum(['load', 'first_token']),
});
const fileSchema = z.object({ entries: z.array(entrySchema).max(100) });

/** What a process was doing with a model when it ended without a word. */
export type UnfinishedLoad = z.infer<typeof entrySchema>;

export type LoadMarkerOptions = {
  readonly path: string;
  readonly logger: Logger;
  /** Asked before each write: whether this process has the right to write in the data folder. */
  readonly ensureOwner: () => Promise<Result<void>>;
};

/**
 * A small file that stands while a model is being loaded or computes its first token: the two moments at which native
 * code most likely kills the process. Whoever starts next reads from it which model that was.
 */
export class LoadMarker {
  /** What the last process left, most recent last. Its file is gone by now. */
  readonly left: readonly UnfinishedLoad[];
  readonly #options: LoadMarkerOptions;
  readonly #entries: UnfinishedLoad[] = [];

  private constructor(options: LoadMarkerOptions, left: readonly UnfinishedLoad[]) {
    this.#options = options;
    this.left = left;
  }

  static async open(options: LoadMarkerOptions): Promise<LoadMarker> {
    const left = read(options.path);
    const marker = new LoadMarker(options, left);
    if (left.length > 0 && (await options.ensureOwner()).ok) marker.#write();
    return marker;
  }

  /** On disk when this settles. A marker that cannot be written is no reason not to load. */
  async beginLoad(model: string): Promise<void> {
    const owned = await this.#options.ensureOwner();
    this.#entries.push({ model, stage: 'load' });
    if (owned.ok) this.#write();
  }

  /** On disk when this returns: the work that may kill the process begins right after. */
  beginFirstToken(model: string): void {
    this.#entries.push({ model, stage: 'first_token' });
    this.#write();
  }

  /** The process has survived it, whether it worked or not. */
  end(model: string, stage: UnfinishedLoad['stage']): void {
    const at = this.#entries.findIndex((entry) => entry.model === model && entry.stage === stage);
    if (at < 0) return;
    this.#entries.splice(at, 1);
    this.#write();
  }

  #write(): void {
    const { path, logger } = this.#options;
    try {
      if (this.#entries.length === 0) return rmSync(path, { force: true });
      mkdirSync(dirname(path), { recursive: true });
      const draft = `${path}.${process.pid}`;
      const file = openSync(draft, 'w', 0o600);
      try {
        writeSync(file, JSON.stringify({ entries: this.#entries }));
        // A graphics driver may take the whole system down with it.
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
      renameSync(draft, path);
    } catch (error) {
      logger.warn('load marker not written', { code: systemCode(error) ?? String(error) });
    }
  }
}

/** @returns nothing for a file that is not there or makes no sense: a wrong suspicion is worse than none. */
function read(path: string): readonly UnfinishedLoad[] {
  try {
    const parsed = fileSchema.safeParse(JSON.parse(readFileSync(path, 'utf8')));
    return parsed.success ? parsed.data.entries : [];
  } catch {
    return [];
  }
}
