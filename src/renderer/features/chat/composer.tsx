import { useEffect, useRef, type KeyboardEvent } from 'react';
import { ArrowUp, Square } from 'lucide-react';
import type { ErrorCode, Message } from '../../../main/contract/index.ts';
import {
  isRemoteModel,
  newChat,
  useAppState,
  useConnection,
  useConversations,
  useEngine,
  wakesWithRequest,
} from '../../state/index.ts';
import { Button, Notice } from '../../ui/index.ts';
import { en } from './en.ts';
import { belongsToInputMethod } from './input-method.ts';
import { useGrowingField } from './use-growing-field.ts';

interface ComposerProps {
  /** The answer being written in this conversation. */
  readonly running: Message | null;
  readonly onSend: () => void;
}

/** Where a message is written. The text stays until main has taken it. */
export function Composer({ running, onSend }: ComposerProps) {
  const { chat, conversations } = useAppState();
  const key = useConversations((state) => state.currentId ?? newChat);
  const text = useConversations((state) => state.drafts[key] ?? '');
  const sending = useConversations((state) => state.sending[key] === true);
  const blocked = useBlocked(key);
  const field = useRef<HTMLTextAreaElement>(null);
  useGrowingField(field, text);
  useEffect(() => field.current?.focus(), [key]);
  useKeptFocus(field, running?.id ?? null);
  const canSend = text.trim() !== '' && !sending && blocked === null && running === null;
  const send = () => {
    if (!canSend) return;
    onSend();
    void chat.send(text);
    field.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (belongsToInputMethod(event.nativeEvent) || event.key !== 'Enter' || event.shiftKey) return;
    event.preventDefault();
    send();
  };
  return (
    <div className="composer-area">
      <SendError errorKey={key} retry={canSend ? send : null} />
      <div className="composer">
        <textarea
          ref={field}
          rows={1}
          aria-label={en.message}
          placeholder={en.placeholder}
          value={text}
          aria-busy={sending}
          aria-describedby="composer-keys"
          onChange={(event) => conversations.setDraft(key, event.target.value)}
          onKeyDown={onKeyDown}
        />
        <div className="composer-row">
          <span id="composer-keys" className="composer-keys">
            {running === null ? (blocked ?? en.keys) : en.keysStreaming}
          </span>
          {running === null ? <SendButton enabled={canSend} onClick={send} /> : <StopButton running={running} />}
        </div>
      </div>
    </div>
  );
}

function SendButton({ enabled, onClick }: { readonly enabled: boolean; readonly onClick: () => void }) {
  return (
    <Button look="main" disabled={!enabled} onClick={onClick}>
      <ArrowUp size={15} aria-hidden="true" />
      {en.send}
    </Button>
  );
}

function StopButton({ running }: { readonly running: Message }) {
  const { chat } = useAppState();
  const { conversationId, streamId } = running;
  return (
    <Button
      look="main"
      disabled={streamId === null}
      onClick={() => (streamId === null ? undefined : void chat.stop(conversationId, streamId))}
    >
      <Square size={12} fill="currentColor" aria-hidden="true" />
      {en.stop}
    </Button>
  );
}

interface SendErrorProps {
  readonly errorKey: string;
  /** Null: there is nothing that could be sent again. */
  readonly retry: (() => void) | null;
}

function SendError({ errorKey, retry }: SendErrorProps) {
  const { conversations } = useAppState();
  const error = useConversations((state) => state.errors[errorKey]);
  if (error === undefined) return null;
  const dismiss = { label: en.dismiss, onClick: () => conversations.setError(errorKey, null) };
  return (
    <Notice announced tone="bad" title={error.message} hint={error.hint} dismiss={dismiss}>
      {retry === null || hopeless.has(error.code) ? undefined : <Button onClick={retry}>{en.tryAgain}</Button>}
    </Notice>
  );
}

/** The same text would fail the same way. */
const hopeless = new Set<ErrorCode>(['prompt_empty', 'prompt_too_long', 'invalid_input', 'session_required']);

/** Why nothing can be sent now, or null. */
function useBlocked(key: string): string | null {
  const state = useEngine((engine) => engine.status?.state ?? null);
  const hasModel = useEngine((engine) => (engine.status?.model ?? null) !== null);
  const open = useConnection(({ connection }) => connection === 'open');
  const wakes = useEngine(wakesWithRequest);
  const elsewhere = useConversations((chats) => isRemoteModel(chats.options[key]?.model ?? null));
  if (!open || hasModel || wakes || elsewhere) return null;
  if (state === 'loading') return en.waitForModel;
  return state === 'empty' || state === 'failed' ? en.needsModel : null;
}

/** Buttons that vanish when an answer begins or ends (Stop, Regenerate) hand their focus to the field. */
function useKeptFocus(field: { readonly current: HTMLTextAreaElement | null }, runningId: string | null): void {
  useEffect(() => {
    if (document.activeElement === null || document.activeElement === document.body) field.current?.focus();
  }, [field, runningId]);
}
