import { PanelRight } from 'lucide-react';
import { formatSpeed } from '../../lib/format.ts';
import { windowOf } from '../../lib/pixel-runs.ts';
import { useEngine, useTelemetry, useWatch } from '../../state/index.ts';
import { Button, IconButton } from '../../ui/index.ts';
import { en } from './en.ts';
import { EnginePlace } from './engine-place.tsx';
import { headlineOf, lastSpeed } from './engine-words.ts';
import { StepAndCores } from './headline.tsx';
import { WorkerStrips } from './worker-strips.tsx';

/** Seconds; the small form has no choice. */
const range = 60;

interface PanelToggleProps {
  readonly open: boolean;
  readonly onToggle: () => void;
}

/** Opens and closes the panel beside the chat. */
export function PanelToggle({ open, onToggle }: PanelToggleProps) {
  return (
    <IconButton
      label={open ? en.hidePanel : en.showPanel}
      icon={<PanelRight size={17} aria-hidden="true" />}
      aria-expanded={open}
      onClick={onToggle}
    />
  );
}

interface MonitorPanelProps {
  readonly onOpenMonitor: () => void;
}

/** The engine beside the chat: its step, what it costs, its workers. Asks for samples only while it is there. */
export function MonitorPanel({ onOpenMonitor }: MonitorPanelProps) {
  useWatch();
  return (
    <aside className="engine-panel" aria-label={en.panel}>
      <div className="engine-panel-head">
        <h2>{en.panel}</h2>
        <Button look="plain" onClick={onOpenMonitor}>
          {en.openMonitor}
        </Button>
      </div>
      <PanelBody />
      <EnginePlace />
    </aside>
  );
}

function PanelBody() {
  const all = useTelemetry((state) => state.samples);
  const marks = useTelemetry((state) => state.marks);
  const error = useTelemetry((state) => state.error);
  const ladder = useEngine((engine) => engine.ladder);
  const window = windowOf(all, range * 1000);
  const sample = all.at(-1);
  if (window === null || sample === undefined) {
    return <p className="card-hint">{error === null ? en.waiting : error.message}</p>;
  }
  const samples = all.filter(({ at }) => at > window.from);
  const speed = sample.engine.tokensPerSecond;
  const last = lastSpeed(samples, 'tokensPerSecond');
  return (
    <>
      <StepAndCores {...headlineOf(ladder, sample, sample.at)} />
      {sample.workers.length === 0 ? (
        <p className="card-hint">{en.noPool}</p>
      ) : (
        <div>
          <h3>{en.workers}</h3>
          <WorkerStrips form="panel" samples={samples} marks={marks} window={window} />
        </div>
      )}
      <dl className="panel-facts numbers">
        <dt>{en.decode}</dt>
        <dd>
          {speed === null && last === null
            ? en.nothing
            : speed === null
              ? `${en.lastSpeed(formatSpeed(last ?? 0))} ${en.tokensPerSecond}`
              : `${formatSpeed(speed)} ${en.tokensPerSecond}`}
        </dd>
      </dl>
    </>
  );
}
