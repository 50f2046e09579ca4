import { useEffect, useRef, useState } from 'react';
import type { Message } from '../../../main/contract/index.ts';
import { en } from './en.ts';

/** Longest part of an answer that is read aloud by itself; the rest is in the list. */
const longestRead = 600;

/** Tells screen readers when an answer begins and what it says once it is complete, instead of every token. */
export function Announcer({ last }: { readonly last: Message | null }) {
  const watched = useRef<string | null>(null);
  const [said, setSaid] = useState('');
  useEffect(() => {
    if (last === null || last.role !== 'assistant') return;
    if (last.status === 'streaming') {
      if (watched.current !== last.id) setSaid(en.announceStarted);
      watched.current = last.id;
      return;
    }
    if (watched.current !== last.id) return;
    watched.current = null;
    setSaid(last.status === 'failed' ? en.announceFailed : en.announceDone(last.text.slice(0, longestRead)));
  }, [last]);
  return (
    <div className="visually-hidden" aria-live="polite">
      {said}
    </div>
  );
}
