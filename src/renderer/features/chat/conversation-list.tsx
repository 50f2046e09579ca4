import { useMemo, useState, type KeyboardEvent } from 'react';
import { Virtuoso } from 'react-virtuoso';
import type { ConversationSummary } from '../../../main/contract/index.ts';
import { groupByDay, type DayGroup } from '../../lib/group-by-day.ts';
import { titleMatcher } from '../../lib/match-title.ts';
import { useAppState, useConversations } from '../../state/index.ts';
import { ConversationItem, type Renaming } from './conversation-item.tsx';
import { en } from './en.ts';

type ListRow =
  | { readonly kind: 'group'; readonly group: DayGroup }
  | { readonly kind: 'chat'; readonly conversation: ConversationSummary };

interface ConversationListProps {
  /** Part of the titles; empty: all. */
  readonly query: string;
  readonly onOpen: (conversationId: string) => void;
}

/** Only the rows in view exist, so that thousands of chats scroll smoothly. */
export function ConversationList({ query, onOpen }: ConversationListProps) {
  const list = useConversations((state) => state.list);
  const currentId = useConversations((state) => state.currentId);
  const [renaming, setRenaming] = useState<Renaming | null>(null);
  const rows = useMemo(() => listRows(list ?? [], query), [list, query]);
  const { finish, remove } = useItemActions(renaming, setRenaming);
  if (list === null) return null;
  if (rows.length === 0) {
    return (
      <p className="sidebar-empty" role="status">
        {list.length === 0 ? en.noConversations : en.noMatches(query)}
      </p>
    );
  }
  return (
    <div className="sidebar-rows" onKeyDown={moveFocus}>
      <Virtuoso<ListRow>
        data={rows}
        className="sidebar-scroller"
        tabIndex={-1}
        increaseViewportBy={300}
        computeItemKey={(_index, row) => (row.kind === 'group' ? row.group : row.conversation.id)}
        itemContent={(_index, row) =>
          row.kind === 'group' ? (
            <h2 className="sidebar-group">{en.groups[row.group]}</h2>
          ) : (
            <ConversationItem
              conversation={row.conversation}
              current={row.conversation.id === currentId}
              renaming={renaming?.id === row.conversation.id ? renaming : null}
              onOpen={onOpen}
              onRename={setRenaming}
              onRenamed={finish}
              onDelete={remove}
            />
          )
        }
      />
    </div>
  );
}

function useItemActions(renaming: Renaming | null, setRenaming: (renaming: Renaming | null) => void) {
  const { list } = useAppState();
  const finish = async (conversation: ConversationSummary, save: boolean) => {
    const title = renaming?.title.trim() ?? '';
    // When it fails the field stays, with what was typed.
    const changed = save && title !== '' && title !== conversation.title;
    if (!changed || (await list.rename(conversation.id, title))) setRenaming(null);
  };
  const remove = async (conversation: ConversationSummary) => {
    const wasFocused = document.activeElement?.closest('.sidebar-rows') !== null;
    const next = wasFocused ? (neighbour(1) ?? neighbour(-1)) : null;
    await list.delete(conversation.id);
    next?.focus();
  };
  return { finish, remove };
}

function listRows(list: readonly ConversationSummary[], query: string): readonly ListRow[] {
  const matches = titleMatcher(query);
  const found = list.filter(({ title }) => matches(title === '' ? en.untitled : title));
  return groupByDay(found, ({ updatedAt }) => updatedAt, Date.now()).flatMap(({ group, items }): ListRow[] => [
    { kind: 'group', group },
    ...items.map((conversation): ListRow => ({ kind: 'chat', conversation })),
  ]);
}

function moveFocus(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.target instanceof HTMLInputElement) return;
  const steps: Partial<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 };
  const step = steps[event.key];
  if (step === undefined) return;
  event.preventDefault();
  neighbour(step)?.focus();
}

/** The chat so many rows below the one with the focus, or the last one there is that way. */
function neighbour(step: number): HTMLElement | null {
  const items = [...document.querySelectorAll<HTMLElement>('.sidebar-item')];
  const row = document.activeElement?.closest('.sidebar-row');
  const at = items.findIndex((item) => row?.contains(item) === true);
  if (at === -1) return null;
  const target = items[Math.max(0, Math.min(items.length - 1, at + step))];
  return target === items[at] ? null : (target ?? null);
}
