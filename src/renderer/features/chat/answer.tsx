import { memo, useCallback } from 'react';
import type { Message } from '../../../main/contract/index.ts';
import { wholeCode } from '../../lib/markdown-pieces.ts';
import { useAppState, useConversations, useEngine, useStream } from '../../state/index.ts';
import { Button, Markdown, Notice } from '../../ui/index.ts';
import { AnswerFooter } from './answer-footer.tsx';
import { en } from './en.ts';
import type { MessagePieces } from './message-pieces.ts';
import { Thought } from './thought.tsx';

interface AnswerProps {
  readonly message: Message;
  /** Which piece of a long answer this row shows; 0 of 1 is the whole answer. */
  readonly index: number;
  readonly count: number;
  readonly pieces: MessagePieces;
  readonly version: number;
  readonly versions: number;
  readonly busy: boolean;
}

/** One answer or a piece of it, running or finished. The parts stay the same at the end, so that nothing jumps. */
export const Answer = memo(function Answer(props: AnswerProps) {
  const { message, index, count, busy } = props;
  const isLast = index === count - 1;
  const streaming = message.status === 'streaming';
  return (
    <article
      className="answer"
      aria-label={index === 0 ? en.answer : en.answerPart(index + 1, count)}
      aria-busy={streaming && isLast}
    >
      {index === 0 ? <AnswerThought message={message} /> : null}
      <AnswerText {...props} isLast={isLast} streaming={streaming} />
      {streaming || !isLast ? null : <Ending message={message} busy={busy} />}
      {streaming || !isLast ? null : <AnswerFooter {...props} />}
    </article>
  );
});

function AnswerThought({ message }: { readonly message: Message }) {
  const streaming = message.status === 'streaming';
  const streamId = streaming ? message.streamId : null;
  const text = useStream(streamId, ({ thought }) => thought) ?? message.thought;
  const answering = useStream(streamId, (view) => view.text !== '') ?? message.text !== '';
  const liveMs = useStream(streamId, ({ thoughtMs }) => thoughtMs);
  const measured = useConversations((state) => state.thoughtMs[message.id] ?? null);
  if (text === '') return streaming && !answering ? <Progress /> : null;
  return <Thought text={text} open={streaming && !answering} milliseconds={streaming ? liveMs : measured} />;
}

function AnswerText(props: AnswerProps & { readonly isLast: boolean; readonly streaming: boolean }) {
  const { message, index, pieces, isLast, streaming } = props;
  const { streams } = useAppState();
  const { id, streamId } = message;
  // Only the open end follows the stream; earlier pieces are complete and read it once.
  const live = useStream(streaming && isLast ? streamId : null, ({ text }) => text);
  const readText = useCallback(
    () => (streamId === null ? null : streams.view(streamId)?.text) ?? message.text,
    [streams, streamId, message.text],
  );
  const piece = pieces.of(id, live ?? readText())[index];
  const code = piece?.code ?? null;
  const start = code?.start ?? null;
  const fence = code?.fence ?? '';
  const codeText = useCallback(
    () => (start === null ? '' : wholeCode(readText(), { start, fence, plain: false })),
    [start, fence, readText],
  );
  if (piece === undefined || piece.text === '') return null;
  return (
    <Markdown
      text={piece.text}
      streaming={streaming && isLast}
      texts={en.markdown}
      plain={code?.plain ?? false}
      codeText={code === null ? undefined : codeText}
    />
  );
}

/** What happens before the first word. */
function Progress() {
  const state = useEngine((engine) => engine.status?.state ?? null);
  const waiting = useEngine((engine) => (engine.status?.waiting ?? 0) > 0);
  const text = waiting ? en.waiting : state === 'prefill' ? en.reading : en.starting;
  return <p className="answer-progress">{text}</p>;
}

function Ending({ message, busy }: { readonly message: Message; readonly busy: boolean }) {
  const { status, error, text } = message;
  if (status === 'lost') {
    const hint = text === '' ? en.lostEmptyHint : en.lostHint;
    return (
      <AnswerProblem message={message} busy={busy} tone="info" title={en.lost} hint={hint} action={en.regenerate} />
    );
  }
  if (status === 'failed') {
    const title = error?.message ?? en.failed;
    return (
      <AnswerProblem message={message} busy={busy} tone="bad" title={title} hint={error?.hint} action={en.retry} />
    );
  }
  if (text !== '') return null;
  return <p className="answer-progress">{status === 'stopped' ? en.stoppedEarly : en.emptyAnswer}</p>;
}

interface AnswerProblemProps {
  readonly message: Message;
  readonly busy: boolean;
  readonly tone: 'info' | 'bad';
  readonly title: string;
  readonly hint: string | undefined;
  readonly action: string;
}

function AnswerProblem({ message, busy, tone, title, hint, action }: AnswerProblemProps) {
  const { chat } = useAppState();
  return (
    <Notice tone={tone} title={title} hint={hint}>
      <Button disabled={busy} onClick={() => void chat.regenerate(message)}>
        {action}
      </Button>
    </Notice>
  );
}
