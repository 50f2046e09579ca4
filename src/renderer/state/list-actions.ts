import type { AppError, Bridge, ConversationOptions, Result } from '../../main/contract/index.ts';
import { newChat, noOptions, type Conversations } from './conversations.ts';

/** What a person does with whole conversations. */
export class ListActions {
  readonly #bridge: Bridge;
  readonly #conversations: Conversations;
  readonly #tell: (text: string) => void;

  /** `tell`: shows a failure that has no place of its own. */
  constructor(bridge: Bridge, conversations: Conversations, tell: (text: string) => void) {
    this.#bridge = bridge;
    this.#conversations = conversations;
    this.#tell = tell;
  }

  /** @returns whether the conversation has its new title. */
  async rename(conversationId: string, title: string): Promise<boolean> {
    const result = await this.#bridge.request('conversation.rename', { conversationId, title });
    if (this.#took(result)) this.#conversations.upsertSummary(result.data);
    return result.ok;
  }

  /** Can be taken back with {@link restore} until {@link letGo}. */
  async delete(conversationId: string): Promise<void> {
    const { list, currentId } = this.#conversations.store.getState();
    const conversation = list?.find(({ id }) => id === conversationId);
    if (conversation === undefined) return;
    const result = await this.#bridge.request('conversation.delete', { conversationId });
    if (!this.#took(result)) return;
    this.#conversations.remove(conversationId);
    const entry = { conversation, wasOpen: currentId === conversationId };
    this.#conversations.setDeleted((deleted) => [...deleted.filter((other) => !isOf(conversationId, other)), entry]);
  }

  async restore(conversationId: string): Promise<void> {
    const entry = this.#conversations.store.getState().deleted.find((other) => isOf(conversationId, other));
    const result = await this.#bridge.request('conversation.restore', { conversationId });
    if (!this.#took(result)) return;
    this.#conversations.upsertSummary(result.data);
    if (entry?.wasOpen === true && this.#conversations.store.getState().currentId === null) {
      this.#conversations.open(conversationId);
    }
  }

  /** The offer to bring it back is over on this page; main keeps it in its trash. */
  letGo(conversationId: string): void {
    this.#conversations.setDeleted((deleted) => deleted.filter((entry) => !isOf(conversationId, entry)));
  }

  /** Changes what is given; of a new chat it is kept here and sent with its first message. @returns why it failed. */
  async configure(key: string, change: Partial<ConversationOptions>): Promise<AppError | null> {
    if (key === newChat) {
      const before = this.#conversations.store.getState().options[newChat] ?? noOptions;
      this.#conversations.configured(newChat, { ...before, ...change });
      return null;
    }
    const result = await this.#bridge.request('conversation.configure', { conversationId: key, ...change });
    if (!result.ok) return result.error;
    this.#conversations.configured(key, result.data);
    return null;
  }

  #took<T>(result: Result<T>): result is { readonly ok: true; readonly data: T } {
    if (!result.ok) this.#tell([result.error.message, result.error.hint].filter(Boolean).join(' '));
    return result.ok;
  }
}

function isOf(conversationId: string, entry: { readonly conversation: { readonly id: string } }): boolean {
  return entry.conversation.id === conversationId;
}
