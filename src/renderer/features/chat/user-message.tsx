import { memo } from 'react';
import type { Message } from '../../../main/contract/index.ts';
import type { MessageTree } from '../../state/index.ts';
import { BranchSwitcher } from './branch-switcher.tsx';
import { en } from './en.ts';

/** What the person wrote, as plain text. */
export const UserMessage = memo(function UserMessage({
  message,
  tree,
}: {
  readonly message: Message;
  readonly tree: MessageTree;
}) {
  return (
    <article className="user-message" aria-label={en.you}>
      <div className="user-bubble">{message.text}</div>
      <BranchSwitcher tree={tree} message={message} />
    </article>
  );
});
