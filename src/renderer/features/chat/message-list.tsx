import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { ArrowDown } from 'lucide-react';
import { Virtuoso, type ContextProp, type ScrollerProps, type VirtuosoHandle } from 'react-virtuoso';
import type { Message } from '../../../main/contract/index.ts';
import { siblings, useStream, type MessageTree } from '../../state/index.ts';
import { Button } from '../../ui/index.ts';
import { Answer } from './answer.tsx';
import { en } from './en.ts';
import { MessagePieces } from './message-pieces.ts';
import { estimatedHeight, messageRows, type MessageRow } from './message-rows.ts';
import { useFollowEnd } from './use-follow-end.ts';
import { UserMessage } from './user-message.tsx';

interface MessageListProps {
  readonly tree: MessageTree;
  readonly path: readonly Message[];
  readonly running: Message | null;
  /** Grows with every message sent here: then the end is wanted, wherever the reader was. */
  readonly sends: number;
  readonly onSend: () => void;
}

interface ListContext {
  readonly tree: MessageTree;
  readonly busy: boolean;
  readonly pieces: MessagePieces;
  readonly onSend: () => void;
}

/** The branch on screen. Follows the end only while the reader is there. */
export function MessageList({ tree, path, running, sends, onSend }: MessageListProps) {
  const list = useRef<VirtuosoHandle>(null);
  const { following, setScroller, grew, toEnd } = useFollowEnd();
  const pieces = useMemo(() => new MessagePieces(), []);
  const rows = useRows(path, running, pieces);
  const [firstHeights] = useState(() => rows.map(estimatedHeight));
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
      <Virtuoso<MessageRow, ListContext>
        ref={list}
        className="message-scroller"
        scrollerRef={setScroller}
        data={rows}
        context={{ tree, busy: running !== null, pieces, onSend }}
        components={listComponents}
        computeItemKey={(_index, { key }) => key}
        initialTopMostItemIndex={{ index: 'LAST', align: 'end' }}
        heightEstimates={firstHeights}
        totalListHeightChanged={grew}
        increaseViewportBy={400}
        itemContent={renderRow}
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

/** Renders the list again only when the running answer begins another piece, not for every word of it. */
function useRows(path: readonly Message[], running: Message | null, pieces: MessagePieces): readonly MessageRow[] {
  const runningId = running?.id ?? '';
  const liveCount = useStream(running?.streamId ?? null, ({ text }) => pieces.of(runningId, text).length);
  return useMemo(() => messageRows(path, pieces, liveCount), [path, pieces, liveCount]);
}

// Numbers instead of the tree go into the rows: they stay equal while other messages change, and so does the row.
function renderRow(_index: number, row: MessageRow, { tree, busy, pieces, onSend }: ListContext) {
  const { message, index, count } = row;
  const versions = siblings(tree, message);
  const version = versions.findIndex(({ id }) => id === message.id);
  const shared = { message, version, versions: versions.length, busy };
  return (
    <div className={index < count - 1 ? 'message message-goes-on' : 'message'}>
      {message.role === 'user' ? (
        <UserMessage {...shared} onSend={onSend} />
      ) : (
        <Answer {...shared} index={index} count={count} pieces={pieces} />
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
