import { useCallback, useEffect, useRef } from 'react';
import { ArrowDown } from 'lucide-react';
import { Virtuoso, type ContextProp, type ScrollerProps, type VirtuosoHandle } from 'react-virtuoso';
import type { Message } from '../../../main/contract/index.ts';
import type { MessageTree } from '../../state/index.ts';
import { Button } from '../../ui/index.ts';
import { Answer } from './answer.tsx';
import { en } from './en.ts';
import { useFollowEnd } from './use-follow-end.ts';
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

/** The branch on screen. Follows the end only while the reader is there. */
export function MessageList({ tree, path, running, sends }: MessageListProps) {
  const list = useRef<VirtuosoHandle>(null);
  const { following, setScroller, grew, toEnd } = useFollowEnd();
  const seenSends = useRef(sends);
  const jump = useCallback(() => {
    list.current?.scrollToIndex({ index: 'LAST', align: 'end' });
    toEnd();
  }, [toEnd]);
  useEffect(() => {
    if (seenSends.current === sends) return;
    seenSends.current = sends;
    jump();
  }, [sends, jump]);
  return (
    <div className="messages">
      <Virtuoso<Message, ListContext>
        ref={list}
        className="message-scroller"
        scrollerRef={setScroller}
        data={path}
        context={{ tree, busy: running !== null }}
        components={listComponents}
        computeItemKey={(_index, message) => message.id}
        initialTopMostItemIndex={{ index: 'LAST', align: 'end' }}
        totalListHeightChanged={grew}
        increaseViewportBy={600}
        itemContent={renderMessage}
      />
      {following ? null : (
        <div className="jump">
          <Button onClick={jump}>
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
