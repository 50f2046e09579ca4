import { useId, type ReactNode } from 'react';

/** Text with an explanation that shows on hover and on keyboard focus. */
export function Tooltip({ text, children }: { readonly text: string; readonly children: ReactNode }) {
  const id = useId();
  return (
    <span className="tooltip-anchor" tabIndex={0} aria-describedby={id}>
      {children}
      <span role="tooltip" id={id} className="tooltip">
        {text}
      </span>
    </span>
  );
}
