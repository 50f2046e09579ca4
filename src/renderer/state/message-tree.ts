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
    path.push(message);
    id = message.parentId;
  }
  return path.reverse();
}

/** One index per set of messages: rows ask for their versions one by one. */
const versionIndexes = new WeakMap<MessageTree['byId'], Map<string, Message[]>>();

/** Branches at `message`'s place, oldest first, itself included. */
export function siblings(tree: MessageTree, message: Message): readonly Message[] {
  return versionIndex(tree).get(placeOf(message)) ?? [];
}

function versionIndex({ byId }: MessageTree): Map<string, Message[]> {
  const known = versionIndexes.get(byId);
  if (known !== undefined) return known;
  const index = new Map<string, Message[]>();
  for (const message of Object.values(byId)) {
    const versions = index.get(placeOf(message));
    if (versions === undefined) index.set(placeOf(message), [message]);
    else versions.push(message);
  }
  for (const versions of index.values()) versions.sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
  versionIndexes.set(byId, index);
  return index;
}

function placeOf({ role, parentId }: Message): string {
  return `${role} ${parentId ?? ''}`;
}

export function runningMessage(tree: MessageTree): Message | null {
  return Object.values(tree.byId).find((message) => message.status === 'streaming') ?? null;
}

/** Adds or replaces a message; a finished one is never taken back to `streaming` by a late reply. */
export function withMessage(tree: MessageTree, message: Message, leafId: string | null = tree.leafId): MessageTree {
  return {
    leafId,
    byId: isStale(tree.byId[message.id], message) ? tree.byId : { ...tree.byId, [message.id]: message },
  };
}

/** `keepLeaf`: the branch changed here while the reply was on its way. */
export function withConversation(tree: MessageTree, conversation: Conversation, keepLeaf: boolean): MessageTree {
  const byId: Record<string, Message> = { ...tree.byId };
  for (const message of conversation.messages) {
    const known = byId[message.id];
    // The same object as before where nothing changed, so that its row is not drawn again.
    if (!isStale(known, message) && !(known !== undefined && isSame(known, message))) byId[message.id] = message;
  }
  return { byId, leafId: keepLeaf ? tree.leafId : conversation.leafId };
}

function isStale(known: Message | undefined, message: Message): boolean {
  return known !== undefined && known.status !== 'streaming' && message.status === 'streaming';
}

// A message that is not streaming changes no more.
function isSame(known: Message, message: Message): boolean {
  return known.status === message.status && known.status !== 'streaming' && known.text === message.text;
}
