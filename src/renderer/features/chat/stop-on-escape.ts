import { useEffect } from 'react';
import type { Message } from '../../../main/contract/index.ts';
import { newChat, useAppState, useConversations } from '../../state/index.ts';
import { belongsToInputMethod } from './input-method.ts';

/** Esc stops the running answer, wherever the focus is. */
export function useStopOnEscape(running: Message | null): void {
  const { conversations } = useAppState();
  const conversationId = running?.conversationId ?? null;
  const key = useConversations((state) => state.currentId ?? newChat);
  const streamId = running?.streamId ?? null;
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || belongsToInputMethod(event) || event.defaultPrevented) return;
      if (conversationId !== null && streamId !== null) void conversations.stop(conversationId, streamId);
      else conversations.stopWhenSent(key);
    };
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, [conversations, conversationId, streamId, key]);
}
