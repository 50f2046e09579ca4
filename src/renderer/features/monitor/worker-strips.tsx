import type { RequestMark, TelemetrySample } from '../../../main/contract/index.ts';
import type { Box } from '../../lib/lane-grid.ts';
import { formatClock, formatPercent } from '../../lib/format.ts';
import { spanAt, type TimeWindow } from '../../lib/pixel-runs.ts';
import { stateShares } from '../../lib/state-shares.ts';
import { stripAt, stripRows, type StripRows } from '../../lib/strip-rows.ts';
import { PixelCanvas, type CanvasPoint, type KeySteps } from '../../ui/index.ts';
import { drawWorkers, workerOf } from './draw-workers.ts';
import { en } from './en.ts';

export interface TimedView {
  /** Oldest first. */
  readonly samples: readonly TelemetrySample[];
  readonly marks: readonly RequestMark[];
  readonly window: TimeWindow;
}

interface WorkerStripsProps extends TimedView {
  readonly form: 'page' | 'panel';
  readonly describedBy?: string;
  readonly point?: CanvasPoint | null;
  readonly onPoint?: (point: CanvasPoint | null) => void;
}

const rooms = {
  page: { target: 168, mostStripHeight: 18, labels: true },
  panel: { target: 96, mostStripHeight: 9, labels: false },
} as const;
const markHeights = { page: 4, panel: 3 } as const;
/** Main's usual pace. */
const usualMs = 500;

/** One strip for each thread of the pool, on one canvas. */
export function WorkerStrips({ form, describedBy, point = null, onPoint, ...view }: WorkerStripsProps) {
  const ids = idsOf(view.samples);
  const markHeight = markHeights[form];
  const rowsFor = (width: number) => rowsOf(ids.length, width, form);
  return (
    <PixelCanvas
      label={en.workersLabel(ids.length)}
      heightFor={(width) => rowsFor(width).height + markHeight + 3}
      picture={(size) => drawWorkers(size, { ...view, ids, rows: rowsFor(size.width / size.ratio), markHeight, point })}
      keySteps={(width) => {
        const { strips } = rowsFor(width);
        return { ...newestOf(strips), x: (strips[0]?.width ?? 1) * stepOf(view.window), y: strips[1]?.y ?? 1 };
      }}
      {...(describedBy === undefined ? {} : { describedBy })}
      {...(onPoint === undefined ? {} : { onPoint })}
    />
  );
}

/** What is at a point of the page's strips, in words. */
export function workerReadout({ samples, window }: TimedView, { x, y, width }: CanvasPoint): string | null {
  const ids = idsOf(samples);
  const rows = rowsOf(ids.length, width, 'page');
  const at = stripAt(rows, x, y);
  const box = at === null ? undefined : rows.strips[at];
  const id = at === null ? undefined : ids[at];
  if (at === null || box === undefined || id === undefined) return null;
  const time = timeAt(window, (x - box.x) / box.width);
  const sample = spanAt(samples, time);
  const worker = sample === null ? undefined : workerOf(sample, at, id);
  if (worker === undefined) return [en.worker(id), formatClock(time), en.gap].join(' · ');
  const { computing, spinning, asleep } = stateShares(worker);
  const words = en.shares(formatPercent(computing), formatPercent(spinning), formatPercent(asleep));
  return [en.worker(id), formatClock(time), words, en.wakesShort(worker.wakes)].join(' · ');
}

/** Unix ms at a share 0..1 of the window. */
export function timeAt({ from, to }: TimeWindow, share: number): number {
  return from + Math.max(0, Math.min(1, share)) * (to - from);
}

/** Where the arrow keys begin: at the newest value of the first box. */
export function newestOf([box]: readonly Box[]): Pick<KeySteps, 'first'> {
  return { first: box === undefined ? { x: 0, y: 0 } : { x: box.x + box.width - 1, y: box.y + 1 } };
}

/** Share of the window that one sample takes. */
export function stepOf({ from, to }: TimeWindow): number {
  return usualMs / (to - from);
}

function idsOf(samples: readonly TelemetrySample[]): readonly number[] {
  return samples.at(-1)?.workers.map(({ id }) => id) ?? [];
}

function rowsOf(count: number, width: number, form: WorkerStripsProps['form']): StripRows {
  return stripRows(count, width, rooms[form]);
}
