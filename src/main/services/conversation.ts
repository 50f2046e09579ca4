import type { Conversation, ConversationSummary, Message } from '../contract/index.ts';

/** A conversation as a tree of messages with one branch on screen. Pure state: no clock, no engine, no events. */
export class ConversationTree {
  readonly id: string;
  readonly #messages = new Map<string, Message>();
  readonly #createdAt: number;
  #title: string;
  #updatedAt: number;
  #leafId: string | null = null;

  constructor(id: string, title: string, createdAt: number) {
    this.id = id;
    this.#title = title;
    this.#createdAt = createdAt;
    this.#updatedAt = createdAt;
  }

  get summary(): ConversationSummary {
    return { id: this.id, title: this.#title, createdAt: this.#createdAt, updatedAt: this.#updatedAt };
  }

  get leafId(): string | null {
    return this.#leafId;
  }

  get snapshot(): Conversation {
    return { ...this.summary, messages: [...this.#messages.values()], leafId: this.#leafId };
  }

  message(id: string): Message | undefined {
    return this.#messages.get(id);
  }

  /** Adds a message and makes its branch the one on screen. */
  add(message: Message): void {
    this.#messages.set(message.id, message);
    this.#leafId = message.id;
    this.#updatedAt = Math.max(this.#updatedAt, message.createdAt);
  }

  /** Puts a finished message in the place of its unfinished self. */
  replace(message: Message): void {
    this.#messages.set(message.id, message);
  }

  /** Messages from the first to `id`, in order. */
  pathTo(id: string | null): Message[] {
    const path: Message[] = [];
    for (let at = id; at !== null;) {
      const message = this.#messages.get(at);
      if (message === undefined) break;
      path.push(message);
      at = message.parentId;
    }
    return path.reverse();
  }

  /** Goes to the newest message below `id`, so that a branch is shown to its end. @returns the new leaf. */
  select(id: string): string {
    let leaf = id;
    for (let child = this.#newestChild(leaf); child !== undefined; child = this.#newestChild(leaf)) leaf = child.id;
    this.#leafId = leaf;
    return leaf;
  }

  /** An answer that is being written anywhere in the tree. */
  streaming(): Message | undefined {
    return [...this.#messages.values()].find((message) => message.status === 'streaming');
  }

  #newestChild(id: string): Message | undefined {
    return [...this.#messages.values()].findLast((message) => message.parentId === id);
  }
}

/** Longest automatic title, in characters. */
const longestTitle = 60;

/** First line of the first message, cut at a word. */
export function titleOf(text: string): string {
  const line = text.trim().split(/\r?\n/, 1)[0]?.replace(/\s+/g, ' ').trim() ?? '';
  const characters = [...line];
  if (characters.length <= longestTitle) return line;
  const cut = characters.slice(0, longestTitle - 1).join('');
  const space = cut.lastIndexOf(' ');
  return `${space > longestTitle / 2 ? cut.slice(0, space) : cut}…`;
}
