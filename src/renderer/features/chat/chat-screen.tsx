import { useCallback, useMemo, useState, type ReactNode } from 'react';
import { emptyTree, runningMessage, useConversations, visiblePath } from '../../state/index.ts';
import { Announcer } from './announcer.tsx';
import { Composer } from './composer.tsx';
import { EmptyState } from './empty-state.tsx';
import { EngineNotices } from './engine-notices.tsx';
import { Header } from './header.tsx';
import { MessageList } from './message-list.tsx';
import { useStopOnEscape } from './stop-on-escape.ts';
import { UndoToasts } from './undo-toasts.tsx';

interface ChatScreenProps {
  /** Go into the header, before its title and at its end. */
  readonly leading: ReactNode;
  readonly trailing: ReactNode;
}

/** One conversation, or the greeting of a new one. */
export function ChatScreen({ leading, trailing }: ChatScreenProps) {
  const [sends, setSends] = useState(0);
  const onSend = useCallback(() => setSends((count) => count + 1), []);
  const currentId = useConversations((state) => state.currentId);
  const tree = useConversations((state) => (state.currentId === null ? undefined : state.trees[state.currentId]));
  const path = useMemo(() => visiblePath(tree ?? emptyTree), [tree]);
  const running = useMemo(() => runningMessage(tree ?? emptyTree), [tree]);
  useStopOnEscape(running);
  return (
    <main className="chat-main">
      <Header leading={leading} trailing={trailing} />
      {currentId === null ? (
        <EmptyState />
      ) : path.length === 0 || tree === undefined ? (
        <div className="messages" />
      ) : (
        <MessageList key={currentId} tree={tree} path={path} running={running} sends={sends} onSend={onSend} />
      )}
      <div className="chat-foot">
        <UndoToasts />
        <EngineNotices />
        <Composer running={running} onSend={onSend} />
      </div>
      <Announcer last={path.at(-1) ?? null} />
    </main>
  );
}
