import { ok, type Conversation, type Result } from '../contract/index.ts';
import { ConversationTree } from './conversation.ts';

/** Trees kept in memory besides those with a running answer. */
const kept = 32;

/** Conversations in memory: read when first needed, the least used forgotten. */
export class OpenConversations {
  readonly #trees = new Map<string, ConversationTree>();
  readonly #loading = new Map<string, Promise<Result<ConversationTree>>>();
  readonly #read: (id: string) => Promise<Result<Conversation>>;
  readonly #mustStay: (tree: ConversationTree) => boolean;

  /**
   * @param read gets a conversation from its log.
   * @param mustStay whether memory holds more of a conversation than its log.
   */
  constructor(read: (id: string) => Promise<Result<Conversation>>, mustStay: (tree: ConversationTree) => boolean) {
    this.#read = read;
    this.#mustStay = mustStay;
  }

  async get(id: string): Promise<Result<ConversationTree>> {
    const tree = this.#trees.get(id);
    if (tree !== undefined) return ok(this.put(tree));
    const loading = this.#loading.get(id) ?? this.#load(id);
    this.#loading.set(id, loading);
    return loading.finally(() => this.#loading.delete(id));
  }

  /** Makes a tree the most recently used one. */
  put(tree: ConversationTree): ConversationTree {
    this.#trees.delete(tree.id);
    this.#trees.set(tree.id, tree);
    for (const [id, each] of this.#trees) {
      if (this.#trees.size <= kept) break;
      if (!this.#mustStay(each)) this.#trees.delete(id);
    }
    return tree;
  }

  drop(id: string): void {
    this.#trees.delete(id);
  }

  async #load(id: string): Promise<Result<ConversationTree>> {
    const read = await this.#read(id);
    return read.ok ? ok(this.put(new ConversationTree(read.data))) : read;
  }
}
