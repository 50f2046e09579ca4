import type { ReactNode } from 'react';
import { CircleAlert, Info, X } from 'lucide-react';
import { IconButton } from './button.tsx';

interface NoticeProps {
  readonly tone: 'info' | 'bad';
  readonly title: string;
  /** Read aloud when it appears; not for notices that scroll in and out of view. */
  readonly announced?: boolean;
  readonly hint?: string | undefined;
  /** Buttons. */
  readonly children?: ReactNode;
  readonly dismiss?: { readonly label: string; readonly onClick: () => void };
}

/** What happened and what to do about it. */
export function Notice({ tone, title, announced = false, hint, children, dismiss }: NoticeProps) {
  const Icon = tone === 'bad' ? CircleAlert : Info;
  return (
    <div className={`notice notice-${tone}`} role={announced ? 'alert' : 'note'}>
      <Icon size={16} aria-hidden="true" />
      <div className="notice-body">
        <p className="notice-title">{title}</p>
        {hint === undefined ? null : <p className="notice-hint">{hint}</p>}
        {children === undefined ? null : <div className="notice-actions">{children}</div>}
      </div>
      {dismiss === undefined ? null : (
        <IconButton small label={dismiss.label} icon={<X size={14} aria-hidden="true" />} onClick={dismiss.onClick} />
      )}
    </div>
  );
}
