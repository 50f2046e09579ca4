import { useId, useState } from 'react';
import { useEngine } from '../../state/index.ts';
import type { CanvasPoint } from '../../ui/index.ts';
import { en } from './en.ts';
import { SpinDemo } from './spin-demo.tsx';
import { TimeAxis } from './time-axis.tsx';
import { WorkerStrips, workerReadout, type TimedView } from './worker-strips.tsx';

/** What each thread of the pool does, or why there is none. */
export function WorkersCard({ view, range }: { readonly view: TimedView; readonly range: number }) {
  const [point, setPoint] = useState<CanvasPoint | null>(null);
  const id = useId();
  const workers = view.samples.at(-1)?.workers.length ?? 0;
  const hasWorkers = workers > 0;
  const readout = point === null ? null : workerReadout(view, point);
  return (
    <section className="card" aria-label={en.workers}>
      <div className="card-head">
        <h2>{en.workers}</h2>
        <p id={id} className="card-hint numbers">
          {hasWorkers ? (readout ?? en.workersHint(range)) : null}
        </p>
      </div>
      {hasWorkers ? (
        <>
          <WorkerStrips form="page" {...view} describedBy={id} point={point} onPoint={setPoint} />
          {workers > 24 ? null : <TimeAxis range={range} inset={22} />}
          <div className="card-foot">
            <Legend benched={view.samples.some(({ workers }) => workers.some(({ benched }) => benched))} />
            <SpinDemo />
          </div>
        </>
      ) : (
        <NoPool />
      )}
    </section>
  );
}

/** Names of the textures, so that no state is told by its colour alone. */
function Legend({ benched }: { readonly benched: boolean }) {
  const entries = Object.entries({
    ...en.states,
    request: en.request,
    ...(benched ? { benched: en.benched } : {}),
  });
  return (
    <ul className="legend">
      {entries.map(([name, words]) => (
        <li key={name}>
          <span className={`swatch swatch-${name}`} aria-hidden="true" />
          {words}
        </li>
      ))}
    </ul>
  );
}

function NoPool() {
  const pool = useEngine((engine) => engine.status?.pool ?? null);
  return (
    <p className="card-empty">
      {en.noPool} {pool === null || pool.installed ? en.noPoolYet : (pool.reason ?? en.noPoolUnknown)}
    </p>
  );
}
