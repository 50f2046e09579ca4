import { memo } from 'react';
import type { Message } from '../../../main/contract/index.ts';
import { useAppState, useConversations, useEngine, useStreamView, type MessageTree } from '../../state/index.ts';
import { Button, Markdown, Notice } from '../../ui/index.ts';
import { AnswerFooter } from './answer-footer.tsx';
import { en } from './en.ts';
import { Thought } from './thought.tsx';

interface AnswerProps {
  readonly message: Message;
  readonly tree: MessageTree;
  readonly busy: boolean;
}

/** One answer, running or finished. The parts stay the same at the end, so that nothing jumps. */
export const Answer = memo(function Answer({ message, tree, busy }: AnswerProps) {
  const streaming = message.status === 'streaming';
  const live = useStreamView(streaming ? message.streamId : null);
  const measured = useConversations((state) => state.thoughtMs[message.id] ?? null);
  const text = live?.text ?? message.text;
  const thought = live?.thought ?? message.thought;
  return (
    <article className="answer" aria-label={en.answer} aria-busy={streaming}>
      {thought === '' ? null : (
        <Thought
          text={thought}
          open={streaming && text === ''}
          milliseconds={streaming ? (live?.thoughtMs ?? null) : measured}
        />
      )}
      {text === '' ? null : <Markdown text={text} streaming={streaming} texts={en.markdown} />}
      {streaming && text === '' && thought === '' ? <Progress /> : null}
      {streaming ? null : <Ending message={message} busy={busy} />}
      {streaming ? null : <AnswerFooter message={message} tree={tree} busy={busy} />}
    </article>
  );
});

/** What happens before the first word. */
function Progress() {
  const state = useEngine((engine) => engine.status?.state ?? null);
  const waiting = useEngine((engine) => (engine.status?.waiting ?? 0) > 0);
  const text = waiting ? en.waiting : state === 'prefill' ? en.reading : en.starting;
  return <p className="answer-progress">{text}</p>;
}

function Ending({ message, busy }: { readonly message: Message; readonly busy: boolean }) {
  const { conversations } = useAppState();
  const { status, error } = message;
  if (status === 'failed' || status === 'lost') {
    const title = error?.message ?? (status === 'lost' ? en.lost : en.failed);
    const hint = error?.hint ?? (status === 'lost' ? en.lostHint : undefined);
    return (
      <div className="answer-error">
        <Notice tone="bad" title={title} hint={hint}>
          <Button disabled={busy} onClick={() => void conversations.regenerate(message)}>
            {en.retry}
          </Button>
        </Notice>
      </div>
    );
  }
  if (message.text !== '') return null;
  return <p className="answer-progress">{status === 'stopped' ? en.stoppedEarly : en.emptyAnswer}</p>;
}
