import type { RequestMark, TelemetrySample, WorkerSample } from '../../../main/contract/index.ts';
import { pixelRuns, type TimeWindow } from '../../lib/pixel-runs.ts';
import { shareHeights, stateShares } from '../../lib/state-shares.ts';
import type { StripRows } from '../../lib/strip-rows.ts';
import { makeTextures, type CanvasPoint, type CanvasSize, type Picture, type Textures } from '../../ui/index.ts';
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

/** Strips of computing (plain, from below), spinning (striped) and asleep (dotted), as shares of each sample's time. */
export function drawWorkers(size: CanvasSize, drawing: WorkersDrawing): Picture {
  const { marks, window, ids, rows, markHeight, point } = drawing;
  const { ratio } = size;
  const strips = ids.map((id, at) => stripOf(drawing, id, at, ratio));
  const starts = [...new Set(strips.map(({ x }) => x))];
  const width = strips[0]?.width ?? 1;
  const requests = markHeight === 0 ? [] : markRuns(marks, window, width);
  const line = point === null ? -1 : Math.round(point.x * ratio);
  return {
    key: [line, ...ids, ...requests, ...strips.flatMap(({ runs }) => [...runs, -1])],
    paint: (context, palette) => {
      const textures = makeTextures(context, palette, ratio);
      strips.forEach((strip, at) => {
        paintStrip(context, strip, textures, palette.soft, ratio);
        if (rows.labelWidth === 0 || (at % Math.ceil(ids.length / rows.columns)) % rows.labelEvery !== 0) return;
        label(context, palette.faint, String(strip.id), strip.x, strip.y + strip.height / 2, ratio);
      });
      context.fillStyle = palette.teal;
      const high = Math.round(markHeight * ratio);
      for (const start of starts) {
        for (let index = 0; index < requests.length; index += 2) {
          const [from = 0, to = 0] = requests.slice(index, index + 2);
          context.fillRect(start + from, size.height - high, Math.max(ratio, to - from), high);
        }
      }
      if (line < 0) return;
      context.fillStyle = palette.ink;
      context.fillRect(line, 0, Math.max(1, Math.round(ratio)), size.height);
    },
  };
}

/** Device pixels. */
interface Strip {
  readonly id: number;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly runs: readonly number[];
}

function stripOf({ samples, window, rows }: WorkersDrawing, id: number, at: number, ratio: number): Strip {
  const box = rows.strips[at] ?? { x: 0, y: 0, width: 1, height: 1 };
  const [x, y, width] = [Math.round(box.x * ratio), Math.round(box.y * ratio), Math.round(box.width * ratio)];
  const height = Math.max(1, Math.round(box.height * ratio));
  const leastSpin = Math.round((box.height >= 12 ? 2 : box.height >= 6 ? 1 : 0) * ratio);
  const runs = pixelRuns(samples, window, width, 3, (sample) => levels(sample, at, id, height, leastSpin));
  return { id, x, y, width, height, runs };
}

function paintStrip(
  context: CanvasRenderingContext2D,
  { x, y, height, runs }: Strip,
  textures: Textures,
  benchedColour: string,
  ratio: number,
): void {
  // Textures begin at each strip's own corner, so that a strip of a few pixels has its dots as well.
  context.setTransform(1, 0, 0, 1, 0, y);
  for (let index = 0; index < runs.length; index += 5) {
    const [from = 0, to = 0, computing = 0, spinning = 0, benched = 0] = runs.slice(index, index + 5);
    const [left, wide] = [x + from, to - from];
    const asleep = height - computing - spinning;
    context.fillStyle = textures.dotted;
    if (asleep > 0) context.fillRect(left, 0, wide, asleep);
    context.fillStyle = textures.striped;
    if (spinning > 0) context.fillRect(left, asleep, wide, spinning);
    context.fillStyle = textures.solid;
    if (computing > 0) context.fillRect(left, asleep + spinning, wide, computing);
    if (benched === 0) continue;
    const thick = Math.max(1, Math.round(1.5 * ratio));
    context.fillStyle = benchedColour;
    context.fillRect(left, Math.round((height - thick) / 2), wide, thick);
  }
  context.setTransform(1, 0, 0, 1, 0, 0);
}

function levels(sample: TelemetrySample, at: number, id: number, height: number, leastSpin: number): readonly number[] {
  const worker = workerOf(sample, at, id);
  if (worker === undefined) return [0, 0, 0];
  const [computing, spinning] = shareHeights(stateShares(worker), height, leastSpin);
  return [computing, spinning, worker.benched ? 1 : 0];
}

/** Threads keep their place in the list; only after the pool was changed has one to be looked for. */
export function workerOf({ workers }: TelemetrySample, at: number, id: number): WorkerSample | undefined {
  const worker = workers[at];
  return worker?.id === id ? worker : workers.find((one) => one.id === id);
}

/** A number left of a strip or lane. */
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
  context.fillText(text, right - Math.round(5 * ratio), Math.round(Math.max(middle, 5 * ratio)));
}
