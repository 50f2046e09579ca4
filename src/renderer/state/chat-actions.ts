import type { Bridge, ConversationOptions, Message, RequestInput, Result } from '../../main/contract/index.ts';
import { newChat, noOptions, type Conversations } from './conversations.ts';

/** What a person does inside a conversation. Texts stay where they were written until main has taken them. */
export class ChatActions {
  readonly #bridge: Bridge;
  readonly #conversations: Conversations;
  readonly #stopAtStart = new Set<string>();

  constructor(bridge: Bridge, conversations: Conversations) {
    this.#bridge = bridge;
    this.#conversations = conversations;
  }

  /** Sends to the open conversation or a new one. */
  async send(text: string): Promise<void> {
    const { currentId, trees, options } = this.#state();
    const leafId = currentId === null ? null : (trees[currentId]?.leafId ?? null);
    const sent = await this.#send(currentId ?? newChat, {
      text,
      ...(currentId === null ? withOptions(options[newChat] ?? noOptions) : { conversationId: currentId }),
      ...(leafId === null ? {} : { parentId: leafId }),
    });
    if (sent === null) return;
    const key = currentId ?? newChat;
    if (this.#state().drafts[key] === text) this.#conversations.setDraft(key, '');
    if (currentId !== null) return;
    this.#conversations.configured(newChat, noOptions);
    if (this.#state().currentId === null) this.#conversations.store.setState({ currentId: sent });
    // Events of a conversation that was not known here yet went by unseen.
    await this.#conversations.refresh(sent);
  }

  /** Sends a changed text in place of `message`, as a branch beside it. @returns whether main has taken it. */
  async resend(message: Message, text: string): Promise<boolean> {
    const { id, conversationId, parentId } = message;
    const sent = await this.#send(id, { text, conversationId, parentId });
    if (sent !== null) this.#conversations.setEdit(id, null);
    return sent !== null;
  }

  /** Stop pressed before main has named the stream: takes effect as soon as it has. */
  stopWhenSent(key: string): void {
    if (this.#state().sending[key] === true) this.#stopAtStart.add(key);
  }

  async regenerate(message: Message): Promise<void> {
    const { conversationId, id: messageId } = message;
    this.#conversations.setError(conversationId, null);
    const result = await this.#bridge.request('chat.regenerate', { conversationId, messageId });
    if (!this.#took(conversationId, result)) return;
    const parent =
      message.role === 'user' ? message : this.#state().trees[conversationId]?.byId[message.parentId ?? ''];
    if (parent !== undefined) this.#conversations.begin(result.data, parent);
  }

  async stop(conversationId: string, streamId: string): Promise<void> {
    const result = await this.#bridge.request('chat.stop', { streamId });
    // `stopped: false` means that it had ended, which this page then has not heard of yet.
    if (this.#took(conversationId, result) && !result.data.stopped) await this.#conversations.refresh(conversationId);
  }

  async selectBranch(message: Message): Promise<void> {
    const { conversationId, id: messageId } = message;
    const result = await this.#bridge.request('conversation.select', { conversationId, messageId });
    if (this.#took(conversationId, result)) this.#conversations.setLeaf(conversationId, result.data.leafId);
  }

  /** @returns the conversation's id, or null with the reason under `key`. */
  async #send(key: string, input: RequestInput<'chat.send'>): Promise<string | null> {
    if (input.text.trim() === '' || this.#state().sending[key] === true) return null;
    this.#conversations.setSending(key, true);
    this.#conversations.setError(key, null);
    const result = await this.#bridge.request('chat.send', input);
    this.#conversations.setSending(key, false);
    const stop = this.#stopAtStart.delete(key);
    if (!this.#took(key, result)) return null;
    const { conversationId, streamId, userMessage } = result.data;
    this.#conversations.begin(result.data, userMessage);
    if (stop) void this.stop(conversationId, streamId);
    return conversationId;
  }

  #took<T>(key: string, result: Result<T>): result is { readonly ok: true; readonly data: T } {
    if (!result.ok) this.#conversations.setError(key, result.error);
    return result.ok;
  }

  #state() {
    return this.#conversations.store.getState();
  }
}

function withOptions({ systemPrompt, model }: ConversationOptions): Pick<RequestInput<'chat.send'>, 'options'> {
  if (systemPrompt === null && model === null) return {};
  return {
    options: { ...(systemPrompt === null ? {} : { systemPrompt }), ...(model === null ? {} : { model }) },
  };
}
