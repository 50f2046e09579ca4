import type { RequestMark, TelemetrySample } from '../../../main/contract/index.ts';
import type { LaneGrid } from '../../lib/lane-grid.ts';
import { pixelRuns, type TimeWindow } from '../../lib/pixel-runs.ts';
import type { CanvasSize, Picture } from '../../ui/index.ts';
import { label } from './draw-workers.ts';
import { markRuns } from './mark-runs.ts';

interface CoresDrawing {
  readonly samples: readonly TelemetrySample[];
  readonly marks: readonly RequestMark[];
  readonly window: TimeWindow;
  readonly grid: LaneGrid;
  readonly count: number;
  /** The lane under the pointer and the place in it, 0..1. */
  readonly hover: { readonly lane: number; readonly share: number } | null;
}

/** One lane for each core: its load as a filled step curve over a base line; requests are marked on that line. */
export function drawCores(size: CanvasSize, { samples, marks, window, grid, count, hover }: CoresDrawing): Picture {
  const { ratio } = size;
  const line = Math.max(1, Math.round(ratio));
  const lanes = Array.from({ length: count }, (_, at) => {
    const box = grid.lanes[at] ?? { x: 0, y: 0, width: 1, height: 1 };
    const [x, y] = [Math.round(box.x * ratio), Math.round(box.y * ratio)];
    const [width, height] = [Math.max(1, Math.round(box.width * ratio)), Math.round(box.height * ratio) - 3 * line];
    // A quiet core shows some noise of single pixels per second; so its height is told in steps of one pixel.
    const runs = pixelRuns(samples, window, width, 1, (sample) => [(sample.cores[at] ?? 0) * height]);
    return { x, y, width, height, runs };
  });
  const requests = lanes[0] === undefined ? [] : markRuns(marks, window, lanes[0].width);
  const hoverKey = hover === null ? [-1, -1] : [hover.lane, Math.round(hover.share * 1000)];
  return {
    key: [...hoverKey, count, ...requests, ...lanes.flatMap(({ runs }) => [...runs, -1])],
    paint: (context, palette) => {
      lanes.forEach(({ x, y, width, height, runs }, at) => {
        context.fillStyle = palette.line;
        context.fillRect(x, y + height + line, width, line);
        for (let index = 0; index < runs.length; index += 3) {
          const [from = 0, to = 0, level = 0] = runs.slice(index, index + 3);
          context.fillStyle = palette['accent-bg'];
          context.fillRect(x + from, y + line + height - level, to - from, level);
        }
        outline(context, palette.accent, { x, bottom: y + line + height, line }, runs);
        context.fillStyle = palette.teal;
        for (let index = 0; index < requests.length; index += 2) {
          const [from = 0, to = 0] = requests.slice(index, index + 2);
          context.fillRect(x + from, y + height + line, Math.max(line, to - from), 2 * line);
        }
        const hovered = hover?.lane === at;
        if (hovered) {
          context.fillStyle = palette.ink;
          context.fillRect(x + Math.round(hover.share * (width - 1)), y, line, height + 2 * line);
        }
        label(context, hovered ? palette.ink : palette.faint, String(at), x, y + height - 4 * ratio, ratio);
      });
    },
  };
}

interface LanePlace {
  readonly x: number;
  readonly bottom: number;
  readonly line: number;
}

/** The upper edge of the steps: a level for each run, and a riser where the next one touches it. */
function outline(
  context: CanvasRenderingContext2D,
  colour: string,
  { x, bottom, line }: LanePlace,
  runs: readonly number[],
): void {
  context.fillStyle = colour;
  for (let index = 0; index < runs.length; index += 3) {
    const [from = 0, to = 0, level = 0, next, , nextLevel = 0] = runs.slice(index, index + 6);
    context.fillRect(x + from, bottom - level - line + (level === 0 ? line : 0), to - from, line);
    if (next !== to) continue;
    const [low, high] = [Math.min(level, nextLevel), Math.max(level, nextLevel)];
    context.fillRect(x + to - (nextLevel > level ? 0 : line), bottom - high, line, high - low);
  }
}
