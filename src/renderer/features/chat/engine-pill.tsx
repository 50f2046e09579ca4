import {
  BookOpen,
  CircleAlert,
  CircleDashed,
  CircleOff,
  Hourglass,
  Moon,
  Unplug,
  Zap,
  type LucideIcon,
} from 'lucide-react';
import type { EngineState } from '../../../main/contract/index.ts';
import { useConnection, useEngine } from '../../state/index.ts';
import { en } from './en.ts';
import { engineLabel } from './engine-label.ts';

const looks: Readonly<Record<EngineState, { readonly icon: LucideIcon; readonly tone: string }>> = {
  empty: { icon: CircleOff, tone: 'quiet' },
  loading: { icon: Hourglass, tone: 'busy' },
  ready: { icon: Moon, tone: 'rest' },
  prefill: { icon: BookOpen, tone: 'busy' },
  generating: { icon: Zap, tone: 'busy' },
  unloading: { icon: CircleDashed, tone: 'quiet' },
  failed: { icon: CircleAlert, tone: 'bad' },
};

/** State of the engine in words. Not a live region: it changes many times a second; the announcer tells what matters. */
export function EnginePill() {
  const status = useEngine((engine) => engine.status);
  const lost = useConnection(({ connection }) => connection === 'lost');
  const { icon: Icon, tone } = status === null || lost ? { icon: Unplug, tone: 'quiet' } : looks[status.state];
  return (
    <div role="status" aria-live="off" aria-label={en.engineState} className={`pill pill-${tone} numbers`}>
      <Icon size={13} aria-hidden="true" />
      <span>{lost ? en.pill.lost : engineLabel(status)}</span>
    </div>
  );
}
