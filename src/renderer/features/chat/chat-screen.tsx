import { useMemo, useState } from 'react';
import { emptyTree, runningMessage, useConversations, visiblePath } from '../../state/index.ts';
import { Announcer } from './announcer.tsx';
import { Composer } from './composer.tsx';
import { EmptyState } from './empty-state.tsx';
import { EngineNotices } from './engine-notices.tsx';
import { Header } from './header.tsx';
import { MessageList } from './message-list.tsx';
import { Sidebar } from './sidebar.tsx';
import { useStopOnEscape } from './stop-on-escape.ts';

const narrow = '(max-width: 760px)';

export function ChatScreen() {
  const [sidebarOpen, setSidebarOpen] = useState(() => !matchMedia(narrow).matches);
  const [sends, setSends] = useState(0);
  const currentId = useConversations((state) => state.currentId);
  const tree = useConversations((state) => (state.currentId === null ? undefined : state.trees[state.currentId]));
  const path = useMemo(() => visiblePath(tree ?? emptyTree), [tree]);
  const running = useMemo(() => runningMessage(tree ?? emptyTree), [tree]);
  useStopOnEscape(running);
  const closeOverlay = () => {
    if (matchMedia(narrow).matches) setSidebarOpen(false);
  };
  return (
    <div className="chat" data-sidebar={sidebarOpen ? 'open' : 'closed'}>
      {sidebarOpen ? <Sidebar onChosen={closeOverlay} /> : null}
      <main className="chat-main">
        <Header sidebarOpen={sidebarOpen} onToggleSidebar={() => setSidebarOpen(!sidebarOpen)} />
        {currentId === null ? (
          <EmptyState />
        ) : path.length === 0 || tree === undefined ? (
          <div className="messages" />
        ) : (
          <MessageList key={currentId} tree={tree} path={path} running={running} sends={sends} />
        )}
        <div className="chat-foot">
          <EngineNotices />
          <Composer running={running} onSend={() => setSends(sends + 1)} />
        </div>
        <Announcer last={path.at(-1) ?? null} />
      </main>
    </div>
  );
}
