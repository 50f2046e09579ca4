import { ChevronLeft, ChevronRight } from 'lucide-react';
import type { Message } from '../../../main/contract/index.ts';
import { siblings, useAppState } from '../../state/index.ts';
import { IconButton } from '../../ui/index.ts';
import { en } from './en.ts';

interface BranchSwitcherProps {
  readonly message: Message;
  /** Place among its versions, from 0. */
  readonly version: number;
  readonly versions: number;
}

/** `‹ 2 / 2 ›` where a message has other versions. */
export function BranchSwitcher({ message, version, versions }: BranchSwitcherProps) {
  const { chat, conversations } = useAppState();
  if (versions < 2) return null;
  const go = (to: number) => {
    const tree = conversations.store.getState().trees[message.conversationId];
    const target = tree === undefined ? undefined : siblings(tree, message)[to];
    if (target !== undefined) void chat.selectBranch(target);
  };
  const step = (label: string, Icon: typeof ChevronLeft, to: number) => (
    <IconButton
      small
      label={label}
      icon={<Icon size={14} aria-hidden="true" />}
      disabled={to < 0 || to >= versions}
      onClick={() => go(to)}
    />
  );
  return (
    <span className="branches" role="group" aria-label={en.branches}>
      {step(en.previousBranch, ChevronLeft, version - 1)}
      <span className="numbers">{en.branch(version + 1, versions)}</span>
      {step(en.nextBranch, ChevronRight, version + 1)}
    </span>
  );
}
