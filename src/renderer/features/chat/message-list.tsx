import { useCallback, useEffect, useRef, useState } from 'react';
import { ArrowDown } from 'lucide-react';
import { Virtuoso, type ContextProp, type ScrollerProps, type VirtuosoHandle } from 'react-virtuoso';
import type { Message } from '../../../main/contract/index.ts';
import { useStreamView, type MessageTree } from '../../state/index.ts';
import { Button } from '../../ui/index.ts';
import { Answer } from './answer.tsx';
import { en } from './en.ts';
import { UserMessage } from './user-message.tsx';

interface MessageListProps {
  readonly tree: MessageTree;
  readonly path: readonly Message[];
  readonly running: Message | null;
  /** Grows with every message sent here: then the end is wanted, wherever the reader was. */
  readonly sends: number;
}

interface ListContext {
  readonly tree: MessageTree;
  readonly busy: boolean;
}

/** Pixels from the end that still count as being there. */
const endThreshold = 24;

/** The branch on screen. Follows the end only while the reader is there. */
export function MessageList({ tree, path, running, sends }: MessageListProps) {
  const list = useRef<VirtuosoHandle>(null);
  const [atEnd, setAtEnd] = useState(true);
  const seenSends = useRef(sends);
  const toEnd = useCallback(() => list.current?.scrollToIndex({ index: 'LAST', align: 'end' }), []);
  useFollow(running?.streamId ?? null, list);
  useEffect(() => {
    if (seenSends.current === sends) return;
    seenSends.current = sends;
    toEnd();
  }, [sends, path.length, toEnd]);
  return (
    <div className="messages">
      <Virtuoso<Message, ListContext>
        ref={list}
        className="message-scroller"
        data={path}
        context={{ tree, busy: running !== null }}
        components={listComponents}
        computeItemKey={(_index, message) => message.id}
        initialTopMostItemIndex={{ index: 'LAST', align: 'end' }}
        followOutput={(isAtEnd) => (isAtEnd ? 'auto' : false)}
        atBottomThreshold={endThreshold}
        atBottomStateChange={setAtEnd}
        increaseViewportBy={600}
        itemContent={renderMessage}
      />
      {atEnd ? null : (
        <div className="jump">
          <Button onClick={toEnd}>
            <ArrowDown size={14} aria-hidden="true" />
            {en.jump}
          </Button>
        </div>
      )}
    </div>
  );
}

function renderMessage(_index: number, message: Message, { tree, busy }: ListContext) {
  return (
    <div className="message">
      {message.role === 'user' ? (
        <UserMessage message={message} tree={tree} />
      ) : (
        <Answer message={message} tree={tree} busy={busy} />
      )}
    </div>
  );
}

/** Text that grows does not change the number of messages, so the list is told after each painted frame. */
function useFollow(streamId: string | null, list: { readonly current: VirtuosoHandle | null }): void {
  const view = useStreamView(streamId);
  useEffect(() => list.current?.autoscrollToBottom(), [view, list]);
}

// Not live: a virtual list adds and removes rows while one scrolls. The announcer reads answers instead.
function Scroller({ ref, style, children, context: _context, ...rest }: ScrollerProps & ContextProp<ListContext>) {
  return (
    <div {...rest} ref={ref ?? null} style={style} role="log" aria-live="off" aria-label={en.messages} tabIndex={0}>
      {children}
    </div>
  );
}

const listComponents = {
  Scroller,
  Header: () => <div className="messages-start" />,
  Footer: () => <div className="messages-end" />,
};
