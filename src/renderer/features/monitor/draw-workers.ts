import type { RequestMark, TelemetrySample, WorkerSample } from '../../../main/contract/index.ts';
import { pixelRuns, type TimeWindow } from '../../lib/pixel-runs.ts';
import { shareHeights, stateShares } from '../../lib/state-shares.ts';
import type { StripRows } from '../../lib/strip-rows.ts';
import { makeTextures, type CanvasPoint, type CanvasSize, type Picture } from '../../ui/index.ts';
import { markRuns } from './mark-runs.ts';

interface WorkersDrawing {
  readonly samples: readonly TelemetrySample[];
  readonly marks: readonly RequestMark[];
  readonly window: TimeWindow;
  readonly ids: readonly number[];
  readonly rows: StripRows;
  /** CSS pixels below the strips in which requests are marked; 0: none. */
  readonly markHeight: number;
  readonly point: CanvasPoint | null;
}

const leastSpinPixels = 2;

/** Strips of computing (plain, from below), spinning (striped) and asleep (dotted), as shares of each sample's time. */
export function drawWorkers(size: CanvasSize, drawing: WorkersDrawing): Picture {
  const { samples, marks, window, ids, rows, markHeight, point } = drawing;
  const { ratio } = size;
  const left = Math.round(rows.labelWidth * ratio);
  const width = size.width - left;
  const strips = ids.map((id, at) => {
    const box = rows.strips[at];
    const top = Math.round((box?.y ?? 0) * ratio);
    const height = Math.max(1, Math.round((box?.height ?? 0) * ratio));
    return {
      id,
      top,
      height,
      runs: pixelRuns(samples, window, width, 3, (sample) => levels(sample, at, id, height, ratio)),
    };
  });
  const requests = markHeight === 0 ? [] : markRuns(marks, window, width);
  const line = point === null ? -1 : Math.round(point.x * ratio);
  return {
    key: [line, ...ids, ...requests, ...strips.flatMap(({ runs }) => [...runs, -1])],
    paint: (context, palette) => {
      const textures = makeTextures(context, palette, ratio);
      strips.forEach(({ id, top, height, runs }, at) => {
        for (let index = 0; index < runs.length; index += 5) {
          const [from = 0, to = 0, computing = 0, spinning = 0, benched = 0] = runs.slice(index, index + 5);
          const [x, wide] = [left + from, to - from];
          const asleep = height - computing - spinning;
          context.fillStyle = textures.dotted;
          if (asleep > 0) context.fillRect(x, top, wide, asleep);
          context.fillStyle = textures.striped;
          if (spinning > 0) context.fillRect(x, top + asleep, wide, spinning);
          context.fillStyle = textures.solid;
          if (computing > 0) context.fillRect(x, top + asleep + spinning, wide, computing);
          if (benched > 0) strike(context, palette.soft, x, top, wide, height, ratio);
        }
        if (rows.labelWidth > 0 && at % rows.labelEvery === 0) {
          label(context, palette.faint, String(id), left, top + height / 2, ratio);
        }
      });
      context.fillStyle = palette.teal;
      for (let index = 0; index < requests.length; index += 2) {
        const [from = 0, to = 0] = requests.slice(index, index + 2);
        const high = Math.round(markHeight * ratio);
        context.fillRect(left + from, size.height - high, Math.max(ratio, to - from), high);
      }
      if (line >= left) {
        context.fillStyle = palette.ink;
        context.fillRect(line, 0, Math.max(1, Math.round(ratio)), size.height);
      }
    },
  };
}

function levels(sample: TelemetrySample, at: number, id: number, height: number, ratio: number): readonly number[] {
  const worker = workerOf(sample, at, id);
  if (worker === undefined) return [0, 0, 0];
  const [computing, spinning] = shareHeights(stateShares(worker), height, Math.round(leastSpinPixels * ratio));
  return [computing, spinning, worker.benched ? 1 : 0];
}

/** Threads keep their place in the list; only after the pool was changed has one to be looked for. */
export function workerOf({ workers }: TelemetrySample, at: number, id: number): WorkerSample | undefined {
  const worker = workers[at];
  return worker?.id === id ? worker : workers.find((one) => one.id === id);
}

function strike(
  context: CanvasRenderingContext2D,
  colour: string,
  x: number,
  top: number,
  width: number,
  height: number,
  ratio: number,
): void {
  const thick = Math.max(1, Math.round(1.5 * ratio));
  context.fillStyle = colour;
  context.fillRect(x, Math.round(top + (height - thick) / 2), width, thick);
}

export function label(
  context: CanvasRenderingContext2D,
  colour: string,
  text: string,
  right: number,
  middle: number,
  ratio: number,
): void {
  context.fillStyle = colour;
  context.font = `${Math.round(10 * ratio)}px system-ui, sans-serif`;
  context.textAlign = 'right';
  context.textBaseline = 'middle';
  context.fillText(text, right - Math.round(5 * ratio), Math.round(middle));
}
