import { useEffect, useRef, useState } from 'react';
import { Trash2, X } from 'lucide-react';
import { useAppState, useConversations } from '../../state/index.ts';
import { Button, IconButton } from '../../ui/index.ts';
import { en } from './en.ts';

const offeredMs = 10_000;

/** For a while after a chat was deleted: the way to bring it back. */
export function UndoToasts() {
  const { list } = useAppState();
  const deleted = useConversations((state) => state.deleted);
  const lastId = deleted.at(-1)?.conversation.id ?? null;
  useEffect(() => {
    if (lastId === null) return;
    const onKeyDown = (event: KeyboardEvent) => {
      const isUndo = (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key === 'z';
      if (!isUndo || event.defaultPrevented || hasOwnUndo(event.target)) return;
      event.preventDefault();
      void list.restore(lastId);
    };
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, [list, lastId]);
  return (
    <div className="toasts" role="status">
      {deleted.map(({ conversation: { id, title } }) => (
        <UndoToast key={id} id={id} title={title} />
      ))}
    </div>
  );
}

// A field with text in it takes its own changes back.
function hasOwnUndo(target: EventTarget | null): boolean {
  const isField = target instanceof HTMLTextAreaElement || target instanceof HTMLInputElement;
  return isField && target.value !== '';
}

function UndoToast({ id, title }: { readonly id: string; readonly title: string }) {
  const { list } = useAppState();
  const [hovered, setHovered] = useState(false);
  const [focused, setFocused] = useState(false);
  useCountdown(hovered || focused, () => list.letGo(id));
  return (
    <div
      className="toast"
      onPointerEnter={() => setHovered(true)}
      onPointerLeave={() => setHovered(false)}
      onFocus={() => setFocused(true)}
      onBlur={() => setFocused(false)}
    >
      <Trash2 size={14} aria-hidden="true" />
      <span>{en.chatDeleted}</span>
      <span className="toast-detail">{title}</span>
      <Button onClick={() => void list.restore(id)}>{en.undo}</Button>
      <IconButton small label={en.dismiss} icon={<X size={14} aria-hidden="true" />} onClick={() => list.letGo(id)} />
    </div>
  );
}

/** Calls `done` once the time has passed; while `paused` it stands still. */
function useCountdown(paused: boolean, done: () => void): void {
  const left = useRef(offeredMs);
  const latest = useRef(done);
  useEffect(() => {
    latest.current = done;
  });
  useEffect(() => {
    if (paused) return;
    const since = performance.now();
    const timer = setTimeout(() => latest.current(), left.current);
    return () => {
      clearTimeout(timer);
      left.current = Math.max(0, left.current - (performance.now() - since));
    };
  }, [paused]);
}
