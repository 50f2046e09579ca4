import type { Message } from '../../../main/contract/index.ts';
import type { MessagePieces } from './message-pieces.ts';

/** A row of the list: a message, or one of the pieces of a long answer. */
export interface MessageRow {
  readonly key: string;
  readonly message: Message;
  readonly index: number;
  readonly count: number;
}

/** `liveCount`: pieces of the running answer, whose text is not in its message yet. */
export function messageRows(
  path: readonly Message[],
  pieces: MessagePieces,
  liveCount: number | null,
): readonly MessageRow[] {
  return path.flatMap((message) => {
    const count = pieceCount(message, pieces, liveCount);
    return Array.from({ length: count }, (_, index) => ({
      key: index === 0 ? message.id : `${message.id}/${index}`,
      message,
      index,
      count,
    }));
  });
}

function pieceCount(message: Message, pieces: MessagePieces, liveCount: number | null): number {
  if (message.role === 'user') return 1;
  if (message.status === 'streaming' && liveCount !== null) return liveCount;
  return pieces.of(message.id, message.text).length;
}

/**
 * About how high a row will be, in pixels. A list that takes all rows for as low as the first one draws dozens of long
 * ones before it measures them.
 */
export function estimatedHeight({ message, index, count }: MessageRow): number {
  const isUser = message.role === 'user';
  const length = isUser ? Math.min(message.text.length, longestBubble) : message.text.length / count;
  const lines = Math.ceil(length / (isUser ? 60 : 90)) + 1;
  return lines * lineHeight + (index === count - 1 ? 56 : 12);
}

const lineHeight = 22;
/** A longer message of the person is cut on screen. */
const longestBubble = 4000;
