import { ChevronLeft, ChevronRight } from 'lucide-react';
import type { Message } from '../../../main/contract/index.ts';
import { siblings, useAppState, type MessageTree } from '../../state/index.ts';
import { IconButton } from '../../ui/index.ts';
import { en } from './en.ts';

interface BranchSwitcherProps {
  readonly tree: MessageTree;
  readonly message: Message;
}

/** `‹ 2 / 2 ›` where a message has other versions. */
export function BranchSwitcher({ tree, message }: BranchSwitcherProps) {
  const { conversations } = useAppState();
  const all = siblings(tree, message);
  if (all.length < 2) return null;
  const index = all.findIndex(({ id }) => id === message.id);
  const step = (label: string, Icon: typeof ChevronLeft, target: Message | undefined) => (
    <IconButton
      small
      label={label}
      icon={<Icon size={14} aria-hidden="true" />}
      disabled={target === undefined}
      onClick={() => (target === undefined ? undefined : void conversations.selectBranch(target))}
    />
  );
  return (
    <span className="branches" role="group" aria-label={en.branches}>
      {step(en.previousBranch, ChevronLeft, all[index - 1])}
      <span className="numbers">{en.branch(index + 1, all.length)}</span>
      {step(en.nextBranch, ChevronRight, all[index + 1])}
    </span>
  );
}
