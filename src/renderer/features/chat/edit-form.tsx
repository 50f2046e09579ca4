import { useId, useRef, type KeyboardEvent } from 'react';
import type { Message } from '../../../main/contract/index.ts';
import { useAppState, useConversations } from '../../state/index.ts';
import { Button, Notice } from '../../ui/index.ts';
import { en } from './en.ts';
import { belongsToInputMethod } from './input-method.ts';
import { useGrowingField } from './use-growing-field.ts';

interface EditFormProps {
  readonly message: Message;
  readonly busy: boolean;
  readonly onSend: () => void;
  readonly onCancel: () => void;
}

/** A sent message being changed. What is typed stays over scrolling and failures, until it is sent or cancelled. */
export function EditForm({ message, busy, onSend, onCancel }: EditFormProps) {
  const { chat, conversations } = useAppState();
  const text = useConversations((state) => state.edits[message.id] ?? '');
  const sending = useConversations((state) => state.sending[message.id] === true);
  const error = useConversations((state) => state.errors[message.id]);
  const field = useRef<HTMLTextAreaElement>(null);
  const hintId = useId();
  useGrowingField(field, text, true);
  const canSend = text.trim() !== '' && !sending && !busy;
  const send = async () => {
    if (canSend && (await chat.resend(message, text))) onSend();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (belongsToInputMethod(event.nativeEvent)) return;
    if (event.key === 'Escape') onCancel();
    else if (event.key === 'Enter' && !event.shiftKey) void send();
    else return;
    event.preventDefault();
  };
  return (
    <div className="edit-form">
      {error === undefined ? null : <Notice announced tone="bad" title={error.message} hint={error.hint} />}
      <div className="edit-card">
        <textarea
          ref={field}
          rows={1}
          aria-label={en.editField}
          aria-describedby={hintId}
          aria-busy={sending}
          value={text}
          onChange={(event) => conversations.setEdit(message.id, event.target.value)}
          onKeyDown={onKeyDown}
        />
        <div className="composer-row">
          <span id={hintId} className="composer-keys">
            {busy ? en.editBusy : en.editKeys}
          </span>
          <span className="edit-actions">
            <Button onClick={onCancel}>{en.cancel}</Button>
            <Button look="main" disabled={!canSend} onClick={() => void send()}>
              {en.saveAndSend}
            </Button>
          </span>
        </div>
      </div>
    </div>
  );
}
