import { useId, useState } from 'react';
import { formatClock, formatPercent } from '../../lib/format.ts';
import { laneAt, laneGrid } from '../../lib/lane-grid.ts';
import { spanAt } from '../../lib/pixel-runs.ts';
import { PixelCanvas, type CanvasPoint } from '../../ui/index.ts';
import { drawCores } from './draw-cores.ts';
import { en } from './en.ts';
import { newestOf, stepOf, timeAt, type TimedView } from './worker-strips.tsx';

/** Load of each logical core, on one canvas. */
export function CoresCard({ view, range }: { readonly view: TimedView; readonly range: number }) {
  const [point, setPoint] = useState<CanvasPoint | null>(null);
  const id = useId();
  const count = view.samples.at(-1)?.cores.length ?? 0;
  const hover = point === null ? null : hoverAt(count, point);
  return (
    <section className="card" aria-label={en.cores}>
      <div className="card-head">
        <h2>{en.cores}</h2>
        <p id={id} className="card-hint numbers">
          {count === 0 ? null : hover === null ? en.coresHint(count, range) : readout(view, hover)}
        </p>
      </div>
      {count === 0 ? (
        <p className="card-empty">{en.noCores}</p>
      ) : (
        <PixelCanvas
          label={en.coresLabel(count)}
          describedBy={id}
          heightFor={(width) => laneGrid(count, width).height}
          picture={(size) => drawCores(size, { ...view, grid: laneGrid(count, size.width / size.ratio), count, hover })}
          onPoint={setPoint}
          keySteps={(width) => {
            const { lanes, columns } = laneGrid(count, width);
            return {
              ...newestOf(lanes),
              x: (lanes[0]?.width ?? 1) * stepOf(view.window),
              y: lanes[columns]?.y ?? 1,
            };
          }}
        />
      )}
    </section>
  );
}

interface Hover {
  readonly lane: number;
  /** Place in the lane, 0..1. */
  readonly share: number;
}

function hoverAt(count: number, { x, y, width }: CanvasPoint): Hover | null {
  const grid = laneGrid(count, width);
  const lane = laneAt(grid, x, y);
  const box = lane === null ? undefined : grid.lanes[lane];
  if (lane === null || box === undefined) return null;
  return { lane, share: Math.max(0, Math.min(1, (x - box.x) / box.width)) };
}

function readout({ samples, window }: TimedView, { lane, share }: Hover): string {
  const time = timeAt(window, share);
  const load = spanAt(samples, time)?.cores[lane];
  return [en.core(lane), formatClock(time), load === undefined ? en.gap : formatPercent(load)].join(' · ');
}
