import { useState } from 'react';
import { useConnection } from '../state/index.ts';
import { Notice } from '../ui/index.ts';
import { en } from './en.ts';

/** What happened while starting that a person should know. */
export function Notices() {
  const notices = useConnection((state) => state.info?.notices);
  const [dismissed, setDismissed] = useState<readonly string[]>([]);
  const shown = (notices ?? []).filter((notice) => !dismissed.includes(notice));
  if (shown.length === 0) return null;
  return (
    <section className="notices" aria-label={en.notices}>
      {shown.map((notice) => (
        <Notice
          key={notice}
          tone="info"
          title={notice}
          dismiss={{ label: en.dismiss, onClick: () => setDismissed([...dismissed, notice]) }}
        />
      ))}
    </section>
  );
}
