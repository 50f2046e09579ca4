import { memo, useState } from 'react';
import type { Message } from '../../../main/contract/index.ts';
import { formatCount } from '../../lib/format.ts';
import type { MessageTree } from '../../state/index.ts';
import { Button } from '../../ui/index.ts';
import { BranchSwitcher } from './branch-switcher.tsx';
import { en } from './en.ts';

/** Longer messages are cut on screen: laying out a pasted megabyte would block the page. */
const longestShown = 6000;
const cutTo = 4000;

interface UserMessageProps {
  readonly message: Message;
  readonly tree: MessageTree;
}

/** What the person wrote, as plain text. */
export const UserMessage = memo(function UserMessage({ message, tree }: UserMessageProps) {
  const { text } = message;
  const [whole, setWhole] = useState(text.length <= longestShown);
  return (
    <article className="user-message" aria-label={en.you}>
      <div className="user-bubble">{whole ? text : `${text.slice(0, cutTo)}…`}</div>
      {whole ? null : (
        <Button look="plain" onClick={() => setWhole(true)}>
          {en.showAll(formatCount(text.length))}
        </Button>
      )}
      <BranchSwitcher tree={tree} message={message} />
    </article>
  );
});
