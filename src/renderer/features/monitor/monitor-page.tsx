import { lazy, Suspense, useEffect, useState, type ReactNode } from 'react';
import { formatClock } from '../../lib/format.ts';
import { windowOf } from '../../lib/pixel-runs.ts';
import { useAppState, useConnection, useTelemetry, useWatch } from '../../state/index.ts';
import { Button, Notice } from '../../ui/index.ts';
import { CoresCard } from './cores-card.tsx';
import { en } from './en.ts';
import { Headline } from './headline.tsx';
import { PageHeader } from './page-header.tsx';
import { SamplesTable } from './samples-table.tsx';
import { WorkersCard } from './workers-card.tsx';

/** recharts is a third of the whole page, and a chat needs none of it. */
const TimeCharts = lazy(async () => ({ default: (await import('./time-charts.tsx')).TimeCharts }));

interface MonitorPageProps {
  /** Go into the header: before its title, and the engine's state at its end. */
  readonly leading: ReactNode;
  readonly pill: ReactNode;
  /** Lies over the page's end. */
  readonly foot: ReactNode;
}

/** What the engine does, live: its step of sleep, every core, every worker, the GPU, and what it costs. */
export function MonitorPage({ leading, pill, foot }: MonitorPageProps) {
  const [table, setTable] = useState(false);
  useWatch();
  useEffect(() => {
    document.title = `${en.title} · ${en.app}`;
  }, []);
  return (
    <main className="page">
      <PageHeader leading={leading} pill={pill} table={table} onTable={setTable} />
      <div className="page-scroller" role="region" aria-label={en.figures} tabIndex={0}>
        <div className="page-body monitor-body">
          <Troubles />
          <Body table={table} />
        </div>
      </div>
      <div className="page-foot">{foot}</div>
    </main>
  );
}

function Body({ table }: { readonly table: boolean }) {
  const all = useTelemetry((state) => state.samples);
  const marks = useTelemetry((state) => state.marks);
  const range = useTelemetry((state) => state.range);
  const failed = useTelemetry((state) => state.phase === 'failed');
  const window = windowOf(all, range * 1000);
  const sample = all.at(-1);
  if (window === null || sample === undefined) return failed ? null : <Waiting />;
  const samples = all.filter(({ at }) => at > window.from);
  const view = { samples, marks, window };
  if (table) return <SamplesTable samples={samples} />;
  return (
    <>
      <Headline samples={samples} sample={sample} range={range} />
      <WorkersCard view={view} range={range} />
      <CoresCard view={view} range={range} />
      <Suspense fallback={null}>
        <TimeCharts view={view} range={range} sample={sample} />
      </Suspense>
    </>
  );
}

function Waiting() {
  return (
    <div className="page-waiting" role="status">
      <p>{en.waiting}</p>
      <p className="card-hint">{en.waitingHint}</p>
    </div>
  );
}

/** What keeps new samples away, and what happens about it. */
function Troubles() {
  const { telemetry } = useAppState();
  const lost = useConnection(({ connection }) => connection === 'lost');
  const error = useTelemetry((state) => state.error);
  const end = useTelemetry((state) => state.samples.at(-1)?.at);
  const paused = useTelemetry((state) => state.paused);
  if (lost) {
    const title = end === undefined ? en.lost : en.lostSince(formatClock(end));
    return <Notice tone="bad" announced title={title} hint={en.lostHint} />;
  }
  if (error !== null) {
    return (
      <Notice tone="bad" announced title={error.message} hint={[error.hint, en.failedHint].filter(Boolean).join(' ')}>
        <Button onClick={() => telemetry.retry()}>{en.tryAgain}</Button>
      </Notice>
    );
  }
  return paused ? <Notice tone="info" announced title={en.paused} /> : null;
}
