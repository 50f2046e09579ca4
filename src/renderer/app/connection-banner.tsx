import { useEffect, useState } from 'react';
import { WifiOff } from 'lucide-react';
import { useConnection } from '../state/index.ts';
import { en } from './en.ts';

/** A connection that comes at once is not worth a word. */
const quietMs = 700;

export function ConnectionBanner() {
  const connection = useConnection((state) => state.connection);
  const late = useLate(connection === 'connecting');
  const text = connection === 'lost' ? en.lost : late ? en.connecting : null;
  return (
    <div role="status">
      {text === null ? null : (
        <p className="banner">
          <WifiOff size={14} aria-hidden="true" />
          {text}
        </p>
      )}
    </div>
  );
}

function useLate(active: boolean): boolean {
  const [late, setLate] = useState(false);
  useEffect(() => {
    if (!active) return;
    const timer = setTimeout(() => setLate(true), quietMs);
    return () => {
      clearTimeout(timer);
      setLate(false);
    };
  }, [active]);
  return active && late;
}
