import { useEffect } from 'react';
import type { Message } from '../../../main/contract/index.ts';
import { newChat, useAppState, useConversations } from '../../state/index.ts';
import { belongsToInputMethod } from './input-method.ts';

/** Esc stops the running answer, wherever the focus is. */
export function useStopOnEscape(running: Message | null): void {
  const { chat } = useAppState();
  const conversationId = running?.conversationId ?? null;
  const key = useConversations((state) => state.currentId ?? newChat);
  const streamId = running?.streamId ?? null;
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || belongsToInputMethod(event) || event.defaultPrevented) return;
      if (conversationId !== null && streamId !== null) void chat.stop(conversationId, streamId);
      else chat.stopWhenSent(key);
    };
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, [chat, conversationId, streamId, key]);
}
