import type { Conversation, Message } from '../../main/contract/index.ts';

/** The open conversation's messages, all branches. */
export interface MessageTree {
  readonly byId: Readonly<Record<string, Message>>;
  /** Last message of the branch on screen. */
  readonly leafId: string | null;
}

export const emptyTree: MessageTree = { byId: {}, leafId: null };

/** Messages from the first to `leafId`. A broken chain ends where it breaks. */
export function visiblePath(tree: MessageTree): readonly Message[] {
  const path: Message[] = [];
  const seen = new Set<string>();
  for (let id = tree.leafId; id !== null && !seen.has(id);) {
    seen.add(id);
    const message: Message | undefined = tree.byId[id];
    if (message === undefined) break;
    path.unshift(message);
    id = message.parentId;
  }
  return path;
}

/** Branches at `message`'s place, oldest first, itself included. */
export function siblings(tree: MessageTree, message: Message): readonly Message[] {
  return Object.values(tree.byId)
    .filter((other) => other.parentId === message.parentId && other.role === message.role)
    .sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
}

export function runningMessage(tree: MessageTree): Message | null {
  return Object.values(tree.byId).find((message) => message.status === 'streaming') ?? null;
}

/** Adds or replaces a message; a finished one is never taken back to `streaming` by a late reply. */
export function withMessage(tree: MessageTree, message: Message, leafId: string | null = tree.leafId): MessageTree {
  const known = tree.byId[message.id];
  const stale = known !== undefined && known.status !== 'streaming' && message.status === 'streaming';
  return { leafId, byId: stale ? tree.byId : { ...tree.byId, [message.id]: message } };
}

/** `keepLeaf`: the branch changed here while the reply was on its way. */
export function withConversation(tree: MessageTree, conversation: Conversation, keepLeaf: boolean): MessageTree {
  let next: MessageTree = { byId: tree.byId, leafId: keepLeaf ? tree.leafId : conversation.leafId };
  for (const message of conversation.messages) next = withMessage(next, message);
  return next;
}
