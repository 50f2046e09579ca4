import { useCallback, useEffect, useMemo, useState } from 'react';
import {
  emptyTree,
  runningMessage,
  useAppState,
  useConversations,
  useSettings,
  visiblePath,
} from '../../state/index.ts';
import { Announcer } from './announcer.tsx';
import { Composer } from './composer.tsx';
import { EmptyState } from './empty-state.tsx';
import { EngineNotices } from './engine-notices.tsx';
import { Header } from './header.tsx';
import { MessageList } from './message-list.tsx';
import { Sidebar, type SearchRequest } from './sidebar.tsx';
import { useStopOnEscape } from './stop-on-escape.ts';
import { UndoToasts } from './undo-toasts.tsx';
import { useMediaQuery } from './use-media-query.ts';

export function ChatScreen() {
  const sidebar = useSidebar();
  const search = useSearchKey(sidebar.show);
  const [sends, setSends] = useState(0);
  const onSend = useCallback(() => setSends((count) => count + 1), []);
  const currentId = useConversations((state) => state.currentId);
  const tree = useConversations((state) => (state.currentId === null ? undefined : state.trees[state.currentId]));
  const path = useMemo(() => visiblePath(tree ?? emptyTree), [tree]);
  const running = useMemo(() => runningMessage(tree ?? emptyTree), [tree]);
  useStopOnEscape(running);
  return (
    <div className="chat" data-sidebar={sidebar.open ? 'open' : 'closed'}>
      {sidebar.open ? <Sidebar search={search} onChosen={sidebar.chosen} /> : null}
      <main className="chat-main">
        <Header sidebarOpen={sidebar.open} onToggleSidebar={sidebar.toggle} />
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
    </div>
  );
}

/** Beside the chat it is a setting; in a narrow window it lies over the chat, for as long as it is needed. */
function useSidebar() {
  const { settings } = useAppState();
  const narrow = useMediaQuery('(max-width: 760px)');
  const wanted = useSettings((state) => state.settings.sidebarOpen);
  const [over, setOver] = useState(false);
  const open = narrow ? over : wanted;
  const set = (value: boolean) => {
    if (narrow) setOver(value);
    else void settings.set({ sidebarOpen: value });
  };
  return {
    open,
    toggle: () => set(!open),
    show: () => (open ? undefined : set(true)),
    chosen: () => (narrow ? setOver(false) : undefined),
  };
}

function useSearchKey(show: () => void): SearchRequest {
  const [wanted, setWanted] = useState(false);
  const taken = useCallback(() => setWanted(false), []);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey || event.key.toLowerCase() !== 'k')
        return;
      event.preventDefault();
      show();
      setWanted(true);
    };
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, [show]);
  return { wanted, taken };
}
