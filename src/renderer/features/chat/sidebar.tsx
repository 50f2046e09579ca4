import { useDeferredValue, useEffect, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import { Plus, Search } from 'lucide-react';
import { useAppState } from '../../state/index.ts';
import { Button, Mark } from '../../ui/index.ts';
import { ConversationList } from './conversation-list.tsx';
import { en } from './en.ts';
import { ThemeControl } from './theme-control.tsx';

/** Ctrl+K was pressed, and the search field has not yet taken the focus. */
export interface SearchRequest {
  readonly wanted: boolean;
  readonly taken: () => void;
}

interface SidebarProps {
  readonly search: SearchRequest;
  /** The way to the other pages. */
  readonly pages: ReactNode;
  readonly onChosen: () => void;
}

/** Conversations by day, and the way to find one. */
export function Sidebar({ search, pages, onChosen }: SidebarProps) {
  const { conversations } = useAppState();
  const [query, setQuery] = useState('');
  const list = useRef<HTMLElement>(null);
  const open = (id: string | null) => {
    conversations.open(id);
    onChosen();
  };
  return (
    <aside className="sidebar" aria-label={en.sidebar}>
      <div className="brand">
        <Mark size={24} />
        <span>{en.app}</span>
      </div>
      {pages}
      <div className="sidebar-new">
        <Button onClick={() => open(null)}>
          <Plus size={15} aria-hidden="true" />
          {en.newChat}
        </Button>
      </div>
      <SearchField
        query={query}
        search={search}
        onChange={setQuery}
        onDown={() => list.current?.querySelector<HTMLElement>('.sidebar-item')?.focus()}
      />
      <nav ref={list} className="sidebar-list" aria-label={en.conversations}>
        <ConversationList query={useDeferredValue(query)} onOpen={open} />
      </nav>
      <ThemeControl />
    </aside>
  );
}

interface SearchFieldProps {
  readonly query: string;
  readonly search: SearchRequest;
  readonly onChange: (query: string) => void;
  /** Down to the first chat found. */
  readonly onDown: () => void;
}

function SearchField({ query, search, onChange, onDown }: SearchFieldProps) {
  const field = useRef<HTMLInputElement>(null);
  const { wanted, taken } = search;
  useEffect(() => {
    if (!wanted) return;
    field.current?.focus();
    field.current?.select();
    taken();
  }, [wanted, taken]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && query !== '') onChange('');
    else if (event.key === 'ArrowDown' || event.key === 'Enter') onDown();
    else return;
    event.preventDefault();
  };
  return (
    <div className="search">
      <Search size={14} aria-hidden="true" />
      <input
        ref={field}
        type="search"
        className="field"
        aria-label={en.searchChats}
        aria-keyshortcuts="Control+K"
        placeholder={en.searchChats}
        value={query}
        spellCheck={false}
        autoComplete="off"
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={onKeyDown}
      />
      {query === '' ? <kbd aria-hidden="true">{en.searchKeys}</kbd> : null}
    </div>
  );
}
