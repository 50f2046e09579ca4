import { createStore, type StoreApi } from 'zustand/vanilla';
import type {
  AppError,
  Bridge,
  ConversationSummary,
  Message,
  RequestOutput,
  Result,
} from '../../main/contract/index.ts';
import { emptyTree, withConversation, withMessage, type MessageTree } from './message-tree.ts';

/** Key of drafts and errors of the chat that has no conversation yet. */
export const newChat = 'new';

export interface ConversationsState {
  /** Newest first; null until fetched. */
  readonly list: readonly ConversationSummary[] | null;
  /** Null: a new chat. */
  readonly currentId: string | null;
  readonly trees: Readonly<Record<string, MessageTree>>;
  readonly drafts: Readonly<Record<string, string>>;
  readonly sending: Readonly<Record<string, boolean>>;
  /** Why sending, regenerating, stopping or opening failed, by conversation. */
  readonly errors: Readonly<Record<string, AppError>>;
  /** Thinking time of answers that were watched from the start, by message. */
  readonly thoughtMs: Readonly<Record<string, number>>;
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

type Started = RequestOutput<'chat.regenerate'>;

/** Conversations as main last described them, and what a person does with them. */
export class Conversations {
  readonly store: StoreApi<ConversationsState> = createStore(() => ({
    list: null,
    currentId: null,
    trees: {},
    drafts: {},
    sending: {},
    errors: {},
    thoughtMs: {},
  }));
  readonly #options: ConversationsOptions;
  readonly #leafChanges = new Map<string, number>();
  readonly #stopAtStart = new Set<string>();
  #listEvents = 0;

  constructor(options: ConversationsOptions) {
    this.#options = options;
    this.store.setState({ currentId: options.remembered.read() });
    this.store.subscribe(({ currentId }, before) => {
      if (currentId !== before.currentId) options.remembered.write(currentId);
    });
  }

  // -- what main tells ---------------------------------------------------

  upsertSummary(summary: ConversationSummary): void {
    this.#listEvents += 1;
    const others = (this.store.getState().list ?? []).filter(({ id }) => id !== summary.id);
    this.store.setState({ list: sortedByDate([...others, summary]) });
  }

  remove(conversationId: string): void {
    this.#listEvents += 1;
    this.store.setState((state) => {
      const { [conversationId]: _tree, ...trees } = state.trees;
      return {
        list: (state.list ?? []).filter(({ id }) => id !== conversationId),
        currentId: state.currentId === conversationId ? null : state.currentId,
        trees,
      };
    });
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
    this.store.setState({ list: sortedByDate(result.data.conversations) });
  }

  /** Fetches a conversation and attaches to its running answer. */
  async refresh(conversationId: string): Promise<void> {
    const leafChanges = this.#leafChanges.get(conversationId);
    const result = await this.#options.bridge.request('conversation.get', { conversationId });
    if (!result.ok) {
      if (result.error.code === 'conversation_not_found') this.remove(conversationId);
      else this.#setError(conversationId, result.error);
      return;
    }
    const known = this.store.getState().trees[conversationId];
    const keepLeaf = known !== undefined && leafChanges !== this.#leafChanges.get(conversationId);
    if (this.store.getState().errors[conversationId]?.code === 'disconnected') this.#setError(conversationId, null);
    const tree = withConversation(known ?? emptyTree, result.data, keepLeaf);
    this.#setTree(conversationId, tree);
    for (const message of Object.values(tree.byId)) {
      if (message.status === 'streaming' && message.streamId !== null) this.#options.attach(message.streamId);
    }
    for (const message of Object.values(known?.byId ?? {})) {
      const isOver = tree.byId[message.id]?.status !== 'streaming';
      if (message.streamId !== null && isOver) this.#options.ended(message.streamId);
    }
  }

  /** After a time without events only the open conversation is kept, and fetched anew. */
  async refreshAll(): Promise<void> {
    const { currentId, trees } = this.store.getState();
    const current = currentId === null ? undefined : trees[currentId];
    this.store.setState({ trees: currentId === null || current === undefined ? {} : { [currentId]: current } });
    await Promise.all([this.refreshList(), currentId === null ? undefined : this.refresh(currentId)]);
  }

  conversationOfStream(streamId: string): string | null {
    for (const [conversationId, tree] of Object.entries(this.store.getState().trees)) {
      if (Object.values(tree.byId).some((message) => message.streamId === streamId)) return conversationId;
    }
    return null;
  }

  // -- what a person does ------------------------------------------------

  /** Null: a new chat. */
  open(conversationId: string | null): void {
    this.store.setState({ currentId: conversationId });
    if (conversationId !== null) void this.refresh(conversationId);
  }

  setDraft(key: string, text: string): void {
    this.store.setState((state) => ({ drafts: { ...state.drafts, [key]: text } }));
  }

  dismissError(key: string): void {
    this.#setError(key, null);
  }

  /** Sends to the open conversation or a new one. The draft goes only when main has taken the message. */
  async send(text: string): Promise<void> {
    const { currentId, trees, sending } = this.store.getState();
    const key = currentId ?? newChat;
    if (text.trim() === '' || sending[key] === true) return;
    this.#setSending(key, true);
    this.#setError(key, null);
    const leafId = currentId === null ? null : (trees[currentId]?.leafId ?? null);
    const result = await this.#options.bridge.request('chat.send', {
      text,
      ...(currentId === null ? {} : { conversationId: currentId }),
      ...(leafId === null ? {} : { parentId: leafId }),
    });
    this.#setSending(key, false);
    if (!result.ok) {
      this.#stopAtStart.delete(key);
      this.#setError(key, result.error);
      return;
    }
    if (this.store.getState().drafts[key] === text) this.setDraft(key, '');
    this.#begin(result.data, result.data.userMessage);
    if (this.#stopAtStart.delete(key)) void this.stop(result.data.conversationId, result.data.streamId);
    const stayed = this.store.getState().currentId === currentId;
    if (currentId === null && stayed) this.store.setState({ currentId: result.data.conversationId });
    // Events of a conversation that was not known here yet went by unseen.
    if (currentId === null) await this.refresh(result.data.conversationId);
  }

  /** Stop pressed before main has named the stream: takes effect as soon as it has. */
  stopWhenSent(key: string): void {
    if (this.store.getState().sending[key] === true) this.#stopAtStart.add(key);
  }

  async regenerate(message: Message): Promise<void> {
    this.#setError(message.conversationId, null);
    const { conversationId, id: messageId } = message;
    const result = await this.#options.bridge.request('chat.regenerate', { conversationId, messageId });
    if (!this.#took(conversationId, result)) return;
    const parent =
      message.role === 'user' ? message : this.store.getState().trees[conversationId]?.byId[message.parentId ?? ''];
    if (parent !== undefined) this.#begin(result.data, parent);
  }

  async stop(conversationId: string, streamId: string): Promise<void> {
    const result = await this.#options.bridge.request('chat.stop', { streamId });
    // `stopped: false` means that it had ended, which this page then has not heard of yet.
    if (this.#took(conversationId, result) && !result.data.stopped) await this.refresh(conversationId);
  }

  async selectBranch(message: Message): Promise<void> {
    const { conversationId, id: messageId } = message;
    const result = await this.#options.bridge.request('conversation.select', { conversationId, messageId });
    if (this.#took(conversationId, result)) this.setLeaf(conversationId, result.data.leafId);
  }

  // -- parts -------------------------------------------------------------

  /** Shows a started answer at once; its own events may have come before or may come later. */
  #begin(started: Started, parent: Message): void {
    const { conversationId, answerId, streamId } = started;
    const tree = withMessage(this.store.getState().trees[conversationId] ?? emptyTree, parent);
    this.#noteLeafChange(conversationId);
    if (tree.byId[answerId] !== undefined) {
      this.#setTree(conversationId, { ...tree, leafId: answerId });
      return;
    }
    const answer: Message = {
      id: answerId,
      conversationId,
      parentId: parent.id,
      role: 'assistant',
      text: '',
      thought: '',
      createdAt: this.#options.now(),
      status: 'streaming',
      streamId,
      error: null,
      stopReason: null,
      timings: null,
      modelName: null,
    };
    this.#setTree(conversationId, withMessage(tree, answer, answerId));
  }

  #took<T>(key: string, result: Result<T>): result is { readonly ok: true; readonly data: T } {
    if (!result.ok) this.#setError(key, result.error);
    return result.ok;
  }

  #noteLeafChange(conversationId: string): void {
    this.#leafChanges.set(conversationId, (this.#leafChanges.get(conversationId) ?? 0) + 1);
  }

  #setTree(conversationId: string, tree: MessageTree): void {
    this.store.setState((state) => ({ trees: { ...state.trees, [conversationId]: tree } }));
  }

  #setSending(key: string, value: boolean): void {
    this.store.setState((state) => ({ sending: { ...state.sending, [key]: value } }));
  }

  #setError(key: string, error: AppError | null): void {
    this.store.setState((state) => {
      const { [key]: _old, ...errors } = state.errors;
      return { errors: error === null ? errors : { ...errors, [key]: error } };
    });
  }
}

function sortedByDate(list: readonly ConversationSummary[]): readonly ConversationSummary[] {
  return [...list].sort((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? 1 : -1));
}
