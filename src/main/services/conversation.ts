import type { Conversation, ConversationOptions, ConversationSummary, Message } from '../contract/index.ts';

/** A conversation as a tree of messages with one branch on screen. Pure state: no clock, no engine, no files, no events. */
export class ConversationTree {
  readonly id: string;
  readonly #messages: Map<string, Message>;
  readonly #createdAt: number;
  #title: string;
  #updatedAt: number;
  #leafId: string | null;
  #options: ConversationOptions;

  constructor(conversation: Conversation) {
    this.id = conversation.id;
    this.#title = conversation.title;
    this.#createdAt = conversation.createdAt;
    this.#updatedAt = conversation.updatedAt;
    this.#leafId = conversation.leafId;
    this.#options = { systemPrompt: conversation.systemPrompt, model: conversation.model };
    this.#messages = new Map(conversation.messages.map((message) => [message.id, message]));
  }

  static empty(id: string, title: string, now: number, options: Partial<ConversationOptions>): ConversationTree {
    const { systemPrompt = null, model = null } = options;
    return new ConversationTree({
      id,
      title,
      createdAt: now,
      updatedAt: now,
      messages: [],
      leafId: null,
      systemPrompt,
      model,
    });
  }

  get summary(): ConversationSummary {
    return { id: this.id, title: this.#title, createdAt: this.#createdAt, updatedAt: this.#updatedAt };
  }

  get leafId(): string | null {
    return this.#leafId;
  }

  get options(): ConversationOptions {
    return this.#options;
  }

  get snapshot(): Conversation {
    return { ...this.summary, ...this.#options, messages: [...this.#messages.values()], leafId: this.#leafId };
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

  /** Puts a later state of a message in the place of the earlier one. */
  replace(message: Message): void {
    if (this.#messages.has(message.id)) this.#messages.set(message.id, message);
  }

  /** Takes back messages that could not be saved. */
  takeBack(ids: readonly string[], leafId: string | null): void {
    for (const id of ids) this.#messages.delete(id);
    this.#leafId = leafId;
  }

  rename(title: string): void {
    this.#title = title;
  }

  configure(changes: Partial<ConversationOptions>): void {
    this.#options = { ...this.#options, ...changes };
  }

  /** Messages from the first to `id`, in order. A file made by hand may hold a circle: each message comes once. */
  pathTo(id: string | null): Message[] {
    const path = new Set<Message>();
    for (let at = id; at !== null;) {
      const message = this.#messages.get(at);
      if (message === undefined || path.has(message)) break;
      path.add(message);
      at = message.parentId;
    }
    return [...path].reverse();
  }

  /** Goes to the newest message below `id`, so that a branch is shown to its end. @returns the new leaf. */
  select(id: string): string {
    const seen = new Set<string>([id]);
    let leaf = id;
    for (
      let child = this.#newestChild(leaf);
      child !== undefined && !seen.has(child.id);
      child = this.#newestChild(leaf)
    ) {
      leaf = child.id;
      seen.add(leaf);
    }
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

/** Text for one line: no line breaks or control characters, nothing that turns the direction of what follows. */
export function oneLine(text: string): string {
  return text
    .replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu, ' ')
    .replace(/ +/g, ' ')
    .trim();
}

/** First line of the first message, cut at a word. */
export function titleOf(text: string): string {
  const line = oneLine(text.trim().split(/\r?\n/, 1)[0]?.replace(/\s+/g, ' ') ?? '');
  const characters = [...line.slice(0, longestTitle * 4)];
  if (characters.length <= longestTitle) return characters.join('');
  const cut = characters.slice(0, longestTitle - 1).join('');
  const space = cut.lastIndexOf(' ');
  return `${space > longestTitle / 2 ? cut.slice(0, space) : cut}…`;
}
