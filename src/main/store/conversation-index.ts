import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { Logger } from '../base/index.ts';
import { conversationSummarySchema, type ConversationSummary } from '../contract/index.ts';
import { writeAtomically } from './atomic-file.ts';

/** Changes are written at most this often, in ms. */
const writeDelay = 2000;

const indexSchema = z.object({
  v: z.literal(1),
  entries: z.array(z.object({ summary: conversationSummarySchema, size: z.number(), mtimeMs: z.number() })),
});

type Entry = z.infer<typeof indexSchema>['entries'][number];

/**
 * Titles and times of all conversations. The file spares reading every log at the start; the logs are the truth:
 * an entry counts only while size and time of its log are the same, and a missing or broken file costs only time.
 */
export class ConversationIndex {
  readonly #path: string;
  readonly #logger: Logger;
  readonly #entries = new Map<string, Entry>();
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> = Promise.resolve();

  constructor(path: string, logger: Logger) {
    this.#path = path;
    this.#logger = logger;
  }

  /** What the file says, to be compared with the logs. */
  async load(): Promise<ReadonlyMap<string, Entry>> {
    try {
      const parsed = indexSchema.safeParse(JSON.parse(await readFile(this.#path, 'utf8')));
      return new Map(parsed.success ? parsed.data.entries.map((entry) => [entry.summary.id, entry]) : []);
    } catch {
      return new Map();
    }
  }

  summaries(): readonly ConversationSummary[] {
    return [...this.#entries.values()].map((entry) => entry.summary);
  }

  has(id: string): boolean {
    return this.#entries.has(id);
  }

  set(summary: ConversationSummary, { size, mtimeMs }: { readonly size: number; readonly mtimeMs: number }): void {
    this.#entries.set(summary.id, { summary, size, mtimeMs });
    this.#changed();
  }

  delete(id: string): void {
    if (this.#entries.delete(id)) this.#changed();
  }

  async close(): Promise<void> {
    if (this.#timer === null) return this.#writing;
    this.#write();
    await this.#writing;
  }

  #changed(): void {
    this.#timer ??= setTimeout(() => this.#write(), writeDelay).unref();
  }

  #write(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const content = JSON.stringify({ v: 1, entries: [...this.#entries.values()] });
    this.#writing = this.#writing
      .then(() => writeAtomically(this.#path, content))
      .catch((error: unknown) => this.#logger.warn('index not saved', { error: String(error) }));
  }
}
