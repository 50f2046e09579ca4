import { useState } from 'react';
import { useAppState, useNotices } from '../state/index.ts';
import { Button, Notice } from '../ui/index.ts';
import { en } from './en.ts';

/** As many as leave room for the chat; the rest waits behind a button. */
const shownAtOnce = 3;

/** What a person should know although nobody asked. The latest comes first; each stays until it is dismissed. */
export function Notices() {
  const { notices } = useAppState();
  const all = useNotices();
  const [whole, setWhole] = useState(false);
  const newestFirst = [...all].reverse();
  const shown = whole ? newestFirst : newestFirst.slice(0, shownAtOnce);
  const hidden = all.length - shown.length;
  return (
    <section className={all.length === 0 ? undefined : 'notices'} aria-label={en.notices} aria-live="polite">
      {shown.map(({ id, text }) => (
        <Notice key={id} tone="info" title={text} dismiss={{ label: en.dismiss, onClick: () => notices.dismiss(id) }} />
      ))}
      {hidden > 0 ? (
        <Button look="plain" onClick={() => setWhole(true)}>
          {en.moreNotices(hidden)}
        </Button>
      ) : null}
    </section>
  );
}
