import { Plus } from 'lucide-react';
import { groupByDay } from '../../lib/group-by-day.ts';
import { useAppState, useConversations } from '../../state/index.ts';
import { Button, Mark } from '../../ui/index.ts';
import { en } from './en.ts';

/** Conversations by day. */
export function Sidebar({ onChosen }: { readonly onChosen: () => void }) {
  const { conversations } = useAppState();
  const list = useConversations((state) => state.list);
  const currentId = useConversations((state) => state.currentId);
  const open = (id: string | null) => {
    conversations.open(id);
    onChosen();
  };
  return (
    <aside className="sidebar" aria-label={en.conversations}>
      <div className="brand">
        <Mark size={24} />
        <span>{en.app}</span>
      </div>
      <div className="sidebar-new">
        <Button onClick={() => open(null)}>
          <Plus size={15} aria-hidden="true" />
          {en.newChat}
        </Button>
      </div>
      <nav className="sidebar-list" aria-label={en.conversations}>
        {list?.length === 0 ? <p className="sidebar-empty">{en.noConversations}</p> : null}
        {groupByDay(list ?? [], (item) => item.updatedAt, Date.now()).map(({ group, items }) => (
          <section key={group} aria-label={en.groups[group]}>
            <h2 className="sidebar-group">{en.groups[group]}</h2>
            <ul>
              {items.map(({ id, title }) => (
                <li key={id}>
                  <button
                    type="button"
                    className="sidebar-item"
                    aria-current={id === currentId ? 'page' : undefined}
                    title={title}
                    onClick={() => open(id)}
                  >
                    {title === '' ? en.untitled : title}
                  </button>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </nav>
      <p className="sidebar-foot">{en.keptUntilClosed}</p>
    </aside>
  );
}
