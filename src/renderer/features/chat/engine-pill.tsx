import { useEffect, useState } from 'react';
import {
  BookOpen,
  CircleAlert,
  CircleDashed,
  CircleOff,
  Hourglass,
  Moon,
  Snowflake,
  Sunrise,
  Unplug,
  Zap,
  type LucideIcon,
} from 'lucide-react';
import type { EngineState } from '../../../main/contract/index.ts';
import { useConnection, useEngine } from '../../state/index.ts';
import { en } from './en.ts';
import { engineLabel, ladderShown } from './engine-label.ts';

const looks: Readonly<Record<EngineState, { readonly icon: LucideIcon; readonly tone: string }>> = {
  empty: { icon: CircleOff, tone: 'quiet' },
  loading: { icon: Hourglass, tone: 'busy' },
  ready: { icon: Moon, tone: 'rest' },
  prefill: { icon: BookOpen, tone: 'busy' },
  generating: { icon: Zap, tone: 'busy' },
  unloading: { icon: CircleDashed, tone: 'quiet' },
  failed: { icon: CircleAlert, tone: 'bad' },
};

const stepLooks = { hibernated: { icon: Snowflake, tone: 'rest' }, waking: { icon: Sunrise, tone: 'busy' } } as const;

/** State of the engine in words. Not a live region: it changes many times a second; the announcer tells what matters. */
export function EnginePill() {
  const status = useEngine((engine) => engine.status);
  const ladder = useEngine((engine) => engine.ladder);
  const lost = useConnection(({ connection }) => connection === 'lost');
  const step = status === null || lost ? null : ladderShown(status, ladder);
  const now = useNow(step === 'waking');
  const { icon: Icon, tone } =
    status === null || lost ? { icon: Unplug, tone: 'quiet' } : step === null ? looks[status.state] : stepLooks[step];
  return (
    <div role="status" aria-live="off" aria-label={en.engineState} className={`pill pill-${tone} numbers`}>
      <Icon size={13} aria-hidden="true" />
      <span>{lost ? en.pill.lost : engineLabel(status, ladder, now)}</span>
    </div>
  );
}

/** Unix ms, followed twice a second while `active`: an engine that wakes computes anyway. */
function useNow(active: boolean): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!active) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, [active]);
  return now;
}
