import { useEffect, useRef, type KeyboardEvent } from 'react';
import { Ellipsis, Pencil, Trash2 } from 'lucide-react';
import type { ConversationSummary } from '../../../main/contract/index.ts';
import { MenuButton } from '../../ui/index.ts';
import { en } from './en.ts';
import { belongsToInputMethod } from './input-method.ts';

/** The chat being renamed, and what was typed so far: outlives the row, which a virtual list may remove. */
export interface Renaming {
  readonly id: string;
  readonly title: string;
}

interface ConversationItemProps {
  readonly conversation: ConversationSummary;
  readonly current: boolean;
  readonly renaming: Renaming | null;
  readonly onOpen: (conversationId: string) => void;
  readonly onRename: (renaming: Renaming) => void;
  readonly onRenamed: (conversation: ConversationSummary, save: boolean) => Promise<void>;
  readonly onDelete: (conversation: ConversationSummary) => Promise<void>;
}

/** One chat in the list. F2 renames, Delete deletes; the menu offers both. */
export function ConversationItem(props: ConversationItemProps) {
  const { conversation, current, renaming, onOpen, onRename, onDelete } = props;
  const { id, title } = conversation;
  const item = useRef<HTMLButtonElement>(null);
  const wasRenaming = useRef(false);
  useEffect(() => {
    // Back where F2 was pressed, unless the person has gone on.
    if (renaming === null && wasRenaming.current && document.activeElement === document.body) item.current?.focus();
    wasRenaming.current = renaming !== null;
  }, [renaming]);
  if (renaming !== null) return <RenameField {...props} renaming={renaming} />;
  const rename = () => onRename({ id, title });
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'F2') rename();
    else if (event.key === 'Delete') void onDelete(conversation);
    else return;
    event.preventDefault();
  };
  return (
    <div className="sidebar-row">
      <button
        ref={item}
        type="button"
        className="sidebar-item"
        aria-current={current ? 'page' : undefined}
        aria-keyshortcuts="F2 Delete"
        title={title}
        onClick={() => onOpen(id)}
        onDoubleClick={rename}
        onKeyDown={onKeyDown}
      >
        {title === '' ? en.untitled : title}
      </button>
      <span className="sidebar-menu">
        <MenuButton
          label={en.chatOptions}
          icon={<Ellipsis size={15} aria-hidden="true" />}
          items={[
            { label: en.rename, icon: <Pencil size={14} aria-hidden="true" />, onSelect: rename },
            {
              label: en.delete,
              icon: <Trash2 size={14} aria-hidden="true" />,
              bad: true,
              onSelect: () => void onDelete(conversation),
            },
          ]}
        />
      </span>
    </div>
  );
}

function RenameField(props: ConversationItemProps & { readonly renaming: Renaming }) {
  const { conversation, renaming, onRename, onRenamed } = props;
  const field = useRef<HTMLInputElement>(null);
  const ended = useRef(false);
  useEffect(() => field.current?.select(), []);
  const end = (save: boolean) => {
    if (ended.current) return;
    ended.current = true;
    void onRenamed(conversation, save).finally(() => (ended.current = false));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (belongsToInputMethod(event.nativeEvent) || (event.key !== 'Enter' && event.key !== 'Escape')) return;
    event.preventDefault();
    end(event.key === 'Enter');
  };
  return (
    <div className="sidebar-row">
      <input
        ref={field}
        className="field sidebar-rename"
        aria-label={en.chatTitle}
        maxLength={200}
        value={renaming.title}
        onChange={(event) => onRename({ id: conversation.id, title: event.target.value })}
        onKeyDown={onKeyDown}
        onBlur={() => end(true)}
      />
    </div>
  );
}
