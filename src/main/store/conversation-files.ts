import { constants } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { SerialQueue, type Logger } from '../base/index.ts';
import { fail, idSchema, ok, type Conversation, type ConversationSummary, type Result } from '../contract/index.ts';
import { freeName, systemCode, writeAtomically } from './atomic-file.ts';
import { ConversationIndex } from './conversation-index.ts';
import { foldRecords, lineOf, parseLog, recordsOf, type ConversationRecord } from './conversation-records.ts';
import { storageError } from './storage-error.ts';

/** Deleted conversations can be brought back for this long, in ms: 30 days. */
const trashAge = 30 * 24 * 3600 * 1000;
/** A log larger than this, in bytes, whose text could be told in half of it is written anew with the next change. */
const compactFrom = 1024 * 1024;

/** What is known of a log that was read or written. */
type LogState = {
  readonly queue: SerialQueue;
  /** Bytes up to the end of the last good line. */
  goodBytes: number;
  /** That line lacks its line break. */
  endsOpen: boolean;
  /** A write failed half-way or the file is wasteful: the next change writes it whole. */
  rewrite: boolean;
};

export type ConversationFilesOptions = {
  readonly folder: string;
  readonly logger: Logger;
  /** Unix time in ms. */
  readonly now: () => number;
  /** Tells a person what was found or could not be done. */
  readonly onNotice: (text: string) => void;
  /** Asked before each write: whether this process has the right to write in the data folder. */
  readonly ensureOwner: () => Promise<Result<void>>;
};

/**
 * One append-only log per conversation in `folder`, `trash` beside them. A change is a line at the end; a file is
 * rewritten only whole and atomically. Nothing that cannot be read is ever overwritten.
 */
export class ConversationFiles {
  readonly #folder: string;
  readonly #logger: Logger;
  readonly #now: () => number;
  readonly #onNotice: (text: string) => void;
  readonly #ensureOwner: () => Promise<Result<void>>;
  readonly #index: ConversationIndex;
  readonly #logs = new Map<string, LogState>();
  #leftAlone = 0;

  private constructor({ folder, logger, now, onNotice, ensureOwner }: ConversationFilesOptions) {
    this.#folder = folder;
    this.#logger = logger;
    this.#now = now;
    this.#onNotice = onNotice;
    this.#ensureOwner = ensureOwner;
    this.#index = new ConversationIndex(join(folder, 'index.json'), logger);
  }

  /** Reads what is there. A folder that cannot be read or made is a notice; the app then works until something is saved. */
  static async open(options: ConversationFilesOptions): Promise<ConversationFiles> {
    const files = new ConversationFiles(options);
    try {
      await mkdir(join(options.folder, 'trash'), { recursive: true });
      await files.#scan();
      await files.#emptyTrash();
    } catch (error) {
      options.onNotice(storageError(error, options.folder).error.message);
    }
    return files;
  }

  /** In no order. */
  summaries(): readonly ConversationSummary[] {
    return this.#index.summaries();
  }

  async read(id: string): Promise<Result<Conversation>> {
    if (!this.#index.has(id)) return notThere();
    return this.#log(id).queue.run(() => this.#readResult(id));
  }

  /**
   * Adds records to a log. They are on disk when the promise settles, if `sync`.
   * @param whole the conversation right after the change, neither before nor later: written in full where the log is
   * gone, damaged or new.
   */
  append(
    whole: Conversation,
    records: readonly ConversationRecord[],
    { sync }: { readonly sync: boolean },
  ): Promise<Result<void>> {
    const { id } = whole;
    const log = this.#log(id);
    return log.queue.run(async () => {
      const path = this.#pathOf(id);
      try {
        const owned = await this.#ensureOwner();
        if (!owned.ok) {
          log.rewrite = true;
          return owned;
        }
        const appended = !log.rewrite && (await this.#appendLines(path, log, records.map(lineOf).join(''), sync));
        if (!appended) await this.#writeWhole(path, log, whole);
        this.#index.set(summaryOf(whole), { size: log.goodBytes, mtimeMs: (await stat(path)).mtimeMs });
        return ok();
      } catch (error) {
        log.rewrite = true;
        this.#logger.error('conversation not saved', { code: systemCode(error) ?? String(error) });
        return storageError(error, this.#folder);
      }
    });
  }

  /** Moves a conversation to the trash. */
  async remove(id: string): Promise<Result<void>> {
    if (!this.#index.has(id)) return notThere();
    return this.#log(id).queue.run(async () => {
      try {
        await rename(this.#pathOf(id), this.#trashOf(id));
      } catch (error) {
        if (systemCode(error) !== 'ENOENT') return storageError(error, this.#folder);
      }
      this.#index.delete(id);
      return ok();
    });
  }

  /** Brings a conversation back from the trash. */
  async restore(id: string): Promise<Result<Conversation>> {
    if (this.#index.has(id)) return this.read(id);
    return this.#log(id).queue.run(async () => {
      try {
        await rename(this.#trashOf(id), this.#pathOf(id));
      } catch (error) {
        return systemCode(error) === 'ENOENT' ? notThere() : storageError(error, this.#folder);
      }
      return this.#readResult(id);
    });
  }

  /** Waits for everything that is being written. */
  async close(): Promise<void> {
    await Promise.all([...this.#logs.values()].map((log) => log.queue.run(() => Promise.resolve())));
    await this.#index.close();
  }

  async #readResult(id: string): Promise<Result<Conversation>> {
    try {
      const conversation = await this.#readLog(id);
      return conversation === null ? notThere() : ok(conversation);
    } catch (error) {
      return systemCode(error) === 'ENOENT' ? notThere() : storageError(error, this.#folder);
    }
  }

  #pathOf(id: string): string {
    return join(this.#folder, `${id}.jsonl`);
  }

  #trashOf(id: string): string {
    return join(this.#folder, 'trash', `${id}.jsonl`);
  }

  #log(id: string): LogState {
    const known = this.#logs.get(id);
    if (known !== undefined) return known;
    const log = { queue: new SerialQueue(), goodBytes: -1, endsOpen: false, rewrite: false };
    this.#logs.set(id, log);
    return log;
  }

  /** @returns false when the log is not there as it was left: gone, replaced or shorter. */
  async #appendLines(path: string, log: LogState, lines: string, sync: boolean): Promise<boolean> {
    if (log.goodBytes < 0) return false;
    let file: FileHandle;
    try {
      file = await open(path, constants.O_RDWR);
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return false;
      throw error;
    }
    try {
      const { size } = await file.stat();
      if (size < log.goodBytes) return false;
      const start = size === log.goodBytes ? size : await cutTornTail(file, log.goodBytes, size);
      const bytes = Buffer.from(log.endsOpen ? `\n${lines}` : lines, 'utf8');
      await writeFully(file, bytes, start);
      if (sync) await file.datasync();
      log.goodBytes = start + bytes.length;
      log.endsOpen = false;
      return true;
    } finally {
      await file.close();
    }
  }

  async #writeWhole(path: string, log: LogState, conversation: Conversation): Promise<void> {
    const content = recordsOf(conversation).map(lineOf).join('');
    await mkdir(join(this.#folder, 'trash'), { recursive: true });
    await writeAtomically(path, content);
    log.goodBytes = Buffer.byteLength(content);
    log.endsOpen = false;
    log.rewrite = false;
  }

  /** Reads one log and notes what it says. Damage in the middle sets the file aside and saves what can be read. */
  async #readLog(id: string): Promise<Conversation | null> {
    const path = this.#pathOf(id);
    const log = this.#log(id);
    const bytes = await readFile(path);
    const parsed = parseLog(bytes);
    if (parsed.newer !== null) {
      this.#leftAlone++;
      return null;
    }
    const conversation = foldRecords(id, parsed.records);
    if (conversation === null || parsed.badLines > 0) {
      await this.#setAside(id, conversation);
      if (conversation === null) return null;
    } else {
      log.goodBytes = parsed.goodBytes;
      log.endsOpen = parsed.endsOpen;
      log.rewrite = bytes.length > compactFrom && Buffer.byteLength(JSON.stringify(conversation)) * 2 < bytes.length;
    }
    const { size, mtimeMs } = await stat(path);
    this.#index.set(summaryOf(conversation), { size, mtimeMs });
    return conversation;
  }

  async #setAside(id: string, readable: Conversation | null): Promise<void> {
    const path = this.#pathOf(id);
    const aside = await freeName(`${path}.broken`);
    await rename(path, aside);
    this.#logger.warn('conversation set aside', { file: aside });
    if (readable !== null) await this.#writeWhole(path, this.#log(id), readable);
    this.#onNotice(
      readable === null
        ? `A chat file could not be read and was set aside as ${aside}.`
        : `The file of the chat "${readable.title}" was damaged. What could be read is here; the file was kept as ${aside}.`,
    );
  }

  async #scan(): Promise<void> {
    const names = (await readdir(this.#folder)).filter((name) => name.endsWith('.jsonl'));
    const known = await this.#index.load();
    const ids = names.map((name) => name.slice(0, -'.jsonl'.length));
    const pending = ids.filter((id) => idSchema.safeParse(id).success);
    if (pending.length < ids.length) this.#onNotice('Chat files with names of more than 64 characters are left alone.');
    const work = async () => {
      for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
        const facts = await stat(this.#pathOf(id)).catch(() => null);
        if (facts === null) continue;
        const entry = known.get(id);
        if (entry?.size === facts.size && entry.mtimeMs === facts.mtimeMs) this.#index.set(entry.summary, entry);
        else await this.#readLog(id).catch((error: unknown) => this.#noteUnreadable(`${id}.jsonl`, error));
      }
    };
    await Promise.all(Array.from({ length: 16 }, work));
    if (this.#leftAlone > 0) {
      const count = this.#leftAlone === 1 ? '1 chat was' : `${this.#leftAlone} chats were`;
      this.#onNotice(`${count} written by a newer Dormouse and left alone.`);
    }
  }

  #noteUnreadable(name: string, error: unknown): void {
    this.#logger.warn('conversation not readable', { code: systemCode(error) ?? String(error) });
    this.#onNotice(
      `The chat file ${name} could not be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  }

  async #emptyTrash(): Promise<void> {
    const trash = join(this.#folder, 'trash');
    for (const name of await readdir(trash)) {
      const path = join(trash, name);
      if (this.#now() - (await stat(path)).ctimeMs > trashAge) await rm(path, { force: true });
    }
  }
}

/**
 * What stands behind the last good line is either our own write that failed half-way, cut off here, or something
 * complete that another program added, kept. @returns where to go on.
 */
async function cutTornTail(file: FileHandle, goodBytes: number, size: number): Promise<number> {
  const tail = Buffer.alloc(size - goodBytes);
  await file.read(tail, 0, tail.length, goodBytes);
  const { goodBytes: complete } = parseLog(tail);
  await file.truncate(goodBytes + complete);
  return goodBytes + complete;
}

async function writeFully(file: FileHandle, bytes: Buffer, start: number): Promise<void> {
  for (let written = 0; written < bytes.length;) {
    written += (await file.write(bytes, written, bytes.length - written, start + written)).bytesWritten;
  }
}

function summaryOf({ id, title, createdAt, updatedAt }: Conversation): ConversationSummary {
  return { id, title, createdAt, updatedAt };
}

function notThere() {
  return fail(
    'conversation_not_found',
    'This conversation is not there (any more).',
    'Choose another one on the left.',
  );
}
