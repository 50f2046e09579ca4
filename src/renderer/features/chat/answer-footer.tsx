import { RotateCcw } from 'lucide-react';
import type { Message } from '../../../main/contract/index.ts';
import { useAppState } from '../../state/index.ts';
import { Button, CopyButton, Tooltip } from '../../ui/index.ts';
import { answerDetails, answerRemarks, answerStats } from './answer-facts.ts';
import { BranchSwitcher } from './branch-switcher.tsx';
import { en } from './en.ts';

interface AnswerFooterProps {
  readonly message: Message;
  readonly version: number;
  readonly versions: number;
  /** Another answer is being written in this conversation. */
  readonly busy: boolean;
}

/** Measured facts, how the answer ended, and what can be done with it. */
export function AnswerFooter({ message, version, versions, busy }: AnswerFooterProps) {
  const { chat } = useAppState();
  const { timings, modelName, text, status } = message;
  // Its error already offers to try again.
  const failed = status === 'failed' || status === 'lost';
  return (
    <footer className="answer-footer">
      {timings === null ? null : (
        <Tooltip text={answerDetails(timings, modelName)}>
          <span className="stats numbers">
            {answerStats(timings).map((stat) => (
              <span key={stat}>{stat}</span>
            ))}
          </span>
        </Tooltip>
      )}
      {answerRemarks(message).map((remark) => (
        <span key={remark} className="remark">
          {remark}
        </span>
      ))}
      <span className="answer-actions">
        {text === '' ? null : <CopyButton texts={en.copy} label={en.copyAnswer} text={() => text} />}
        {failed ? null : (
          <Button look="plain" disabled={busy} onClick={() => void chat.regenerate(message)}>
            <RotateCcw size={13} aria-hidden="true" />
            {en.regenerate}
          </Button>
        )}
        <BranchSwitcher message={message} version={version} versions={versions} />
      </span>
    </footer>
  );
}
