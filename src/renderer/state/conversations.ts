import { createStore, type StoreApi } from 'zustand/vanilla';
import type {
  AppError,
  Bridge,
  Conversation,
  ConversationOptions,
  ConversationSummary,
  Message,
  RequestOutput,
} from '../../main/contract/index.ts';
import { emptyTree, withConversation, withMessage, type MessageTree } from './message-tree.ts';

/** Key of draft, options and errors of the chat that has no conversation yet. */
export const newChat = 'new';

/** A deleted conversation that can still be brought back from this page. */
export interface DeletedConversation {
  readonly conversation: ConversationSummary;
  /** It was on screen, and is wanted there again when it comes back. */
  readonly wasOpen: boolean;
}

export interface ConversationsState {
  /** Newest first; null until fetched. */
  readonly list: readonly ConversationSummary[] | null;
  /** Null: a new chat. */
  readonly currentId: string | null;
  readonly trees: Readonly<Record<string, MessageTree>>;
  /** System prompt and model, by conversation; known for those that are in `trees`, and for {@link newChat}. */
  readonly options: Readonly<Record<string, ConversationOptions>>;
  readonly drafts: Readonly<Record<string, string>>;
  /** Changed texts of messages that are being edited, by message. */
  readonly edits: Readonly<Record<string, string>>;
  /** By conversation, or by message for an edit. */
  readonly sending: Readonly<Record<string, boolean>>;
  /** Why sending, regenerating, stopping or opening failed, by conversation, or by message for an edit. */
  readonly errors: Readonly<Record<string, AppError>>;
  /** Thinking time of answers that were watched from the start, by message. */
  readonly thoughtMs: Readonly<Record<string, number>>;
  readonly deleted: readonly DeletedConversation[];
}

export interface ConversationsOptions {
  readonly bridge: Bridge;
  /** A running answer that must be attached to. */
  readonly attach: (streamId: string) => void;
  /** An answer is over. */
  readonly ended: (streamId: string) => void;
  /** Unix time in ms. */
  readonly now: () => number;
  /** Which chat was open, across reloads of the page. */
  readonly remembered: RememberedChat;
}

export interface RememberedChat {
  readonly read: () => string | null;
  readonly write: (conversationId: string | null) => void;
}

export const noOptions: ConversationOptions = { systemPrompt: null, model: null };

/** Conversations that stay in memory so that going back to them is instant; older ones are fetched again. */
const keptTrees = 4;

type Started = RequestOutput<'chat.regenerate'>;

/** Conversations as main last described them, and what this page adds to them: drafts, edits, errors. */
export class Conversations {
  readonly store: StoreApi<ConversationsState> = createStore(() => ({
    list: null,
    currentId: null,
    trees: {},
    options: {},
    drafts: {},
    edits: {},
    sending: {},
    errors: {},
    thoughtMs: {},
    deleted: [],
  }));
  readonly #options: ConversationsOptions;
  readonly #leafChanges = new Map<string, number>();
  /** Opened conversations, the latest last. */
  #recent: readonly string[] = [];
  #listEvents = 0;

  constructor(options: ConversationsOptions) {
    this.#options = options;
    this.store.setState({ currentId: options.remembered.read() });
    this.store.subscribe(({ currentId }, before) => {
      if (currentId !== before.currentId) this.#left(currentId);
    });
  }

  // -- what main tells ---------------------------------------------------

  upsertSummary(summary: ConversationSummary): void {
    this.#listEvents += 1;
    this.store.setState(({ list, deleted }) => ({
      list: withSummary(list ?? [], summary),
      deleted: deleted.filter(({ conversation }) => conversation.id !== summary.id),
    }));
  }

  remove(conversationId: string): void {
    this.#listEvents += 1;
    this.store.setState(({ list, currentId }) => ({
      list: (list ?? []).filter(({ id }) => id !== conversationId),
      currentId: currentId === conversationId ? null : currentId,
    }));
    this.#forget((id) => id === conversationId);
  }

  configured(conversationId: string, options: ConversationOptions): void {
    const known = conversationId === newChat || this.store.getState().trees[conversationId] !== undefined;
    if (!known) return;
    this.store.setState((state) => ({ options: { ...state.options, [conversationId]: options } }));
  }

  /** @returns whether the conversation is known here. */
  upsertMessage(message: Message, leafId?: string): boolean {
    const tree = this.store.getState().trees[message.conversationId];
    if (tree === undefined) return false;
    if (leafId !== undefined) this.#noteLeafChange(message.conversationId);
    this.#setTree(message.conversationId, withMessage(tree, message, leafId ?? tree.leafId));
    return true;
  }

  setLeaf(conversationId: string, leafId: string): void {
    const tree = this.store.getState().trees[conversationId];
    if (tree === undefined) return;
    this.#noteLeafChange(conversationId);
    this.#setTree(conversationId, { ...tree, leafId });
  }

  noteThoughtMs(messageId: string, milliseconds: number): void {
    this.store.setState((state) => ({ thoughtMs: { ...state.thoughtMs, [messageId]: milliseconds } }));
  }

  // -- fetching ----------------------------------------------------------

  async refreshList(): Promise<void> {
    const before = this.#listEvents;
    const result = await this.#options.bridge.request('conversation.list', {});
    if (!result.ok) return;
    if (before !== this.#listEvents) return this.refreshList();
    this.store.setState({ list: [...result.data.conversations].sort(newestFirst) });
  }

  /** Fetches a conversation and attaches to its running answer. */
  async refresh(conversationId: string): Promise<void> {
    const leafChanges = this.#leafChanges.get(conversationId);
    const result = await this.#options.bridge.request('conversation.get', { conversationId });
    if (!result.ok) {
      if (result.error.code === 'conversation_not_found') this.remove(conversationId);
      else this.setError(conversationId, result.error);
      return;
    }
    if (this.store.getState().errors[conversationId]?.code === 'disconnected') this.setError(conversationId, null);
    this.#take(result.data, leafChanges);
  }

  /** After a time without events only the open conversation is kept, and fetched anew. */
  async refreshAll(): Promise<void> {
    const { currentId } = this.store.getState();
    this.#forget((id) => id !== currentId);
    await Promise.all([this.refreshList(), currentId === null ? undefined : this.refresh(currentId)]);
  }

  conversationOfStream(streamId: string): string | null {
    for (const [conversationId, tree] of Object.entries(this.store.getState().trees)) {
      if (Object.values(tree.byId).some((message) => message.streamId === streamId)) return conversationId;
    }
    return null;
  }

  // -- what this page adds -----------------------------------------------

  /** Null: a new chat. */
  open(conversationId: string | null): void {
    this.store.setState({ currentId: conversationId });
    if (conversationId !== null) void this.refresh(conversationId);
  }

  setDraft(key: string, text: string): void {
    this.store.setState((state) => ({ drafts: { ...state.drafts, [key]: text } }));
  }

  /** Null: the message is not being edited any more. */
  setEdit(messageId: string, text: string | null): void {
    this.store.setState((state) => ({ edits: withEntry(state.edits, messageId, text) }));
    if (text === null) this.setError(messageId, null);
  }

  setSending(key: string, value: boolean): void {
    this.store.setState((state) => ({ sending: withEntry(state.sending, key, value ? true : null) }));
  }

  setError(key: string, error: AppError | null): void {
    this.store.setState((state) => ({ errors: withEntry(state.errors, key, error) }));
  }

  setDeleted(change: (deleted: readonly DeletedConversation[]) => readonly DeletedConversation[]): void {
    this.store.setState((state) => ({ deleted: change(state.deleted) }));
  }

  /** Shows a started answer at once; its own events may have come before or may come later. */
  begin(started: Started, parent: Message): void {
    const { conversationId, answerId, streamId } = started;
    const tree = withMessage(this.store.getState().trees[conversationId] ?? emptyTree, parent);
    this.#noteLeafChange(conversationId);
    if (tree.byId[answerId] !== undefined) {
      this.#setTree(conversationId, { ...tree, leafId: answerId });
      return;
    }
    const createdAt = this.#options.now();
    const answer: Message = { ...emptyAnswer, id: answerId, conversationId, parentId: parent.id, createdAt, streamId };
    this.#setTree(conversationId, withMessage(tree, answer, answerId));
  }

  // -- parts -------------------------------------------------------------

  #take(conversation: Conversation, leafChanges: number | undefined): void {
    const { id, systemPrompt, model } = conversation;
    const known = this.store.getState().trees[id];
    const keepLeaf = known !== undefined && leafChanges !== this.#leafChanges.get(id);
    const tree = withConversation(known ?? emptyTree, conversation, keepLeaf);
    this.store.setState((state) => ({
      trees: { ...state.trees, [id]: tree },
      options: { ...state.options, [id]: { systemPrompt, model } },
    }));
    for (const message of Object.values(tree.byId)) {
      if (message.status === 'streaming' && message.streamId !== null) this.#options.attach(message.streamId);
    }
    for (const message of Object.values(known?.byId ?? {})) {
      const isOver = tree.byId[message.id]?.status !== 'streaming';
      if (message.streamId !== null && isOver) this.#options.ended(message.streamId);
    }
  }

  #left(currentId: string | null): void {
    this.#options.remembered.write(currentId);
    if (currentId !== null) this.#recent = [...this.#recent.filter((id) => id !== currentId), currentId];
    this.#recent = this.#recent.slice(-keptTrees);
    this.#forget((id) => !this.#recent.includes(id));
  }

  /** Frees what main can tell again. */
  #forget(which: (conversationId: string) => boolean): void {
    const { trees, options, thoughtMs } = this.store.getState();
    const gone = Object.keys(trees).filter(which);
    if (gone.length === 0) return;
    const messages = new Set(gone.flatMap((id) => Object.keys(trees[id]?.byId ?? {})));
    for (const id of gone) this.#leafChanges.delete(id);
    this.store.setState({
      trees: without(trees, (id) => gone.includes(id)),
      options: without(options, (id) => gone.includes(id)),
      thoughtMs: without(thoughtMs, (id) => messages.has(id)),
    });
  }

  #noteLeafChange(conversationId: string): void {
    this.#leafChanges.set(conversationId, (this.#leafChanges.get(conversationId) ?? 0) + 1);
  }

  #setTree(conversationId: string, tree: MessageTree): void {
    this.store.setState((state) => ({ trees: { ...state.trees, [conversationId]: tree } }));
  }
}

const emptyAnswer = {
  role: 'assistant',
  text: '',
  thought: '',
  status: 'streaming',
  error: null,
  stopReason: null,
  timings: null,
  modelName: null,
} as const;

function newestFirst(a: ConversationSummary, b: ConversationSummary): number {
  return b.updatedAt - a.updatedAt || (a.id < b.id ? 1 : -1);
}

// Thousands of conversations and an event per message: put in its place instead of sorting anew.
function withSummary(
  list: readonly ConversationSummary[],
  summary: ConversationSummary,
): readonly ConversationSummary[] {
  const others = list.filter(({ id }) => id !== summary.id);
  const at = others.findIndex((other) => newestFirst(other, summary) > 0);
  return at === -1 ? [...others, summary] : [...others.slice(0, at), summary, ...others.slice(at)];
}

function withEntry<T>(record: Readonly<Record<string, T>>, key: string, value: T | null): Readonly<Record<string, T>> {
  if (value === null) return Object.hasOwn(record, key) ? without(record, (other) => other === key) : record;
  return { ...record, [key]: value };
}

function without<T>(record: Readonly<Record<string, T>>, which: (key: string) => boolean): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(record).filter(([key]) => !which(key)));
}
