import { memo, useMemo, useRef, useState } from 'react';
import { Pencil } from 'lucide-react';
import type { Message } from '../../../main/contract/index.ts';
import { formatCount } from '../../lib/format.ts';
import { linePieces } from '../../lib/line-pieces.ts';
import { useAppState, useConversations } from '../../state/index.ts';
import { Button, IconButton } from '../../ui/index.ts';
import { BranchSwitcher } from './branch-switcher.tsx';
import { EditForm } from './edit-form.tsx';
import { en } from './en.ts';

/** Longer messages are cut on screen until someone wants to see them whole. */
const longestShown = 6000;
const cutTo = 4000;

interface UserMessageProps {
  readonly message: Message;
  readonly version: number;
  readonly versions: number;
  readonly busy: boolean;
  readonly onSend: () => void;
}

/** What the person wrote, as plain text, and the way to change it. */
export const UserMessage = memo(function UserMessage(props: UserMessageProps) {
  const { message, version, versions, busy, onSend } = props;
  const { conversations } = useAppState();
  const editing = useConversations((state) => state.edits[message.id] !== undefined);
  const editButton = useRef<HTMLButtonElement>(null);
  const endEdit = () => {
    conversations.setEdit(message.id, null);
    // The button is back only after the next drawing.
    requestAnimationFrame(() => editButton.current?.focus());
  };
  return (
    <article className="user-message" aria-label={en.you}>
      {editing ? (
        <EditForm message={message} busy={busy} onSend={onSend} onCancel={endEdit} />
      ) : (
        <div className="user-row">
          <span className="user-actions">
            <IconButton
              ref={editButton}
              small
              label={en.edit}
              icon={<Pencil size={13} aria-hidden="true" />}
              disabled={busy}
              onClick={() => conversations.setEdit(message.id, message.text)}
            />
          </span>
          <UserText text={message.text} />
        </div>
      )}
      <BranchSwitcher message={message} version={version} versions={versions} />
    </article>
  );
});

function UserText({ text }: { readonly text: string }) {
  const isLong = text.length > longestShown;
  const [whole, setWhole] = useState(false);
  // The browser lays out only the pieces that are in view.
  const pieces = useMemo(() => (isLong && whole ? linePieces(text, cutTo) : []), [isLong, whole, text]);
  if (!isLong) return <div className="user-bubble">{text}</div>;
  return (
    <div className="user-long">
      <div className="user-bubble">
        {whole
          ? pieces.map((piece, index) => (
              <div key={index} className="user-piece">
                {piece}
              </div>
            ))
          : `${text.slice(0, cutTo)}…`}
      </div>
      <Button look="plain" aria-expanded={whole} onClick={() => setWhole(!whole)}>
        {whole ? en.showLess : en.showAll(formatCount(text.length))}
      </Button>
    </div>
  );
}
