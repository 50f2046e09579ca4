import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Logger } from '../base/index.ts';
import type { LlamaRuntime } from './llama-runtime.ts';

/** A shorter cache is read again sooner than it is loaded. */
const fewestTokens = 16;
/** Files kept over all models; the oldest go first. */
const mostFiles = 32;

type Label = { readonly key: string; readonly sha256: string };

/**
 * KV caches as files, so that prompts need not be read again after a restart or a long sleep. llama.cpp trusts such a file
 * blindly: only files whose label fits the model and whose checksum fits the label are loaded, all others are left alone.
 * They hold what people wrote; nobody else may read them.
 */
export class PromptCacheFiles {
  readonly #folder: string;
  readonly #logger: Logger;
  /** @param folder is made where it is missing. */
  constructor(folder: string, logger: Logger) {
    this.#folder = folder;
    this.#logger = logger;
  }

  /** Before the model leaves memory. Never fails: a cache that cannot be saved is lost. */
  async save(runtime: LlamaRuntime): Promise<void> {
    try {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      const key = await keyOf(runtime);
      let saved = 0;
      for (const [index, sequence] of runtime.sequences.all.entries()) {
        const path = this.#path(key, index);
        if (sequence.disposed || sequence.nextTokenIndex < fewestTokens) continue;
        // Made first, so that llama.cpp writes into a file that is private from the beginning.
        await (await open(`${path}.new`, 'w', 0o600)).close();
        await sequence.saveStateToFile(`${path}.new`);
        const label: Label = { key, sha256: await checksum(`${path}.new`) };
        await rm(`${path}.json`, { force: true });
        await rename(`${path}.new`, path);
        await writeFile(`${path}.json`, JSON.stringify(label), { mode: 0o600 });
        saved += 1;
      }
      await this.#removeOldest();
      this.#logger.info('prompt cache saved', { sequences: saved });
    } catch (error) {
      this.#logger.warn('prompt cache not saved', { error: String(error) });
    }
  }

  /** Into a model that was just loaded. What does not fit it, or was changed, is left out with a line in the log. */
  async restore(runtime: LlamaRuntime): Promise<void> {
    const key = await keyOf(runtime).catch(() => null);
    if (key === null) return;
    for (const [index, sequence] of runtime.sequences.all.entries()) {
      const path = this.#path(key, index);
      const problem = await problemOf(path, key);
      if (problem === 'missing') continue;
      if (problem !== null) {
        this.#logger.warn('prompt cache left out', { reason: problem });
        continue;
      }
      try {
        await sequence.loadStateFromFile(path, { acceptRisk: true });
        this.#logger.info('prompt cache restored', { tokens: sequence.nextTokenIndex });
      } catch (error) {
        this.#logger.warn('prompt cache left out', { reason: String(error) });
        await runtime.sequences.giveBack(sequence, true);
      }
    }
  }

  #path(key: string, index: number): string {
    return join(this.#folder, `${key.slice(0, 32)}-${index}.kv`);
  }

  async #removeOldest(): Promise<void> {
    const names = (await readdir(this.#folder)).filter((name) => /^[0-9a-f]{32}-\d+\.kv$/.test(name));
    const files = await Promise.all(
      names.map(async (name) => {
        const path = join(this.#folder, name);
        return { path, time: (await stat(path)).mtimeMs };
      }),
    );
    for (const { path } of files.toSorted((a, b) => b.time - a.time).slice(mostFiles)) {
      await rm(`${path}.json`, { force: true });
      await rm(path, { force: true });
    }
  }
}

/** Names the very model file and everything that decides how its cache lies in memory. */
async function keyOf({ request, info, release }: LlamaRuntime): Promise<string> {
  const { size, mtimeMs } = await stat(request.path);
  const parts = [request.path, size, mtimeMs, info.contextSize, request.kvType, request.flashAttention, release];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

async function problemOf(path: string, key: string): Promise<string | null> {
  try {
    const label = JSON.parse(await readFile(`${path}.json`, 'utf8')) as Partial<Label> | null;
    if (label?.key !== key) return 'it belongs to another model';
    return label.sha256 === (await checksum(path)) ? null : 'it was changed';
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    return code === 'ENOENT' ? 'missing' : String(error);
  }
}

async function checksum(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
