import type { ConversationFiles } from '../store/index.ts';
import type { ConversationTree } from './conversation.ts';

/** Time between two tries to save what could not be saved, in ms. */
const retryAfter = 3000;

/** Conversations whose last change is only in memory. They are tried again until they are on disk, at the latest at the end. */
export class UnsavedConversations {
  readonly #files: Pick<ConversationFiles, 'append'>;
  readonly #trees = new Map<string, ConversationTree>();
  readonly #onSaved: (tree: ConversationTree) => void;
  #timer: NodeJS.Timeout | null = null;

  /** @param onSaved called when a conversation is on disk after all. */
  constructor(files: Pick<ConversationFiles, 'append'>, onSaved: (tree: ConversationTree) => void) {
    this.#files = files;
    this.#onSaved = onSaved;
  }

  has(id: string): boolean {
    return this.#trees.has(id);
  }

  add(tree: ConversationTree): void {
    this.#trees.set(tree.id, tree);
    this.#timer ??= setTimeout(() => void this.retry(), retryAfter).unref();
  }

  /** Forgets a conversation: saved by another way, or deleted. */
  delete(id: string): void {
    this.#trees.delete(id);
  }

  /** Tries everything now. A failed write makes the store write the whole conversation, so no records are needed. */
  async retry(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    for (const tree of [...this.#trees.values()]) {
      const saved = await this.#files.append(tree.snapshot, [], { sync: true });
      if (!saved.ok) this.add(tree);
      else if (this.#trees.delete(tree.id)) this.#onSaved(tree);
    }
  }
}
