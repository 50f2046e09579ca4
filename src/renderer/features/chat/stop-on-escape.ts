import { useEffect } from 'react';
import type { Message } from '../../../main/contract/index.ts';
import { useAppState } from '../../state/index.ts';
import { belongsToInputMethod } from './input-method.ts';

/** Esc stops the running answer, wherever the focus is. */
export function useStopOnEscape(running: Message | null): void {
  const { conversations } = useAppState();
  const conversationId = running?.conversationId ?? null;
  const streamId = running?.streamId ?? null;
  useEffect(() => {
    if (conversationId === null || streamId === null) return;
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || belongsToInputMethod(event) || event.defaultPrevented) return;
      void conversations.stop(conversationId, streamId);
    };
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, [conversations, conversationId, streamId]);
}
