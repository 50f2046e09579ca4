import type { WindowState } from '../contract/index.ts';

type Area = { readonly x: number; readonly y: number; readonly width: number; readonly height: number };

export const smallestWindow = { width: 480, height: 400 } as const;
const firstWindow = { width: 1180, height: 800 } as const;
/** So much of the window's top must lie on a display, in pixels, that a person can grip it. */
const grip = 80;

/**
 * Where the window opens: where it was, unless that display is gone; then in the middle of the first one.
 * @param areas work areas of the displays, the first one first.
 */
export function windowPlace(last: WindowState | null, areas: readonly Area[]): Area {
  const first = areas[0] ?? { x: 0, y: 0, ...firstWindow };
  const home = last === null ? undefined : areas.find((area) => isReachable(last, area));
  if (last === null || home === undefined) return centred(last ?? firstWindow, first);
  const { width, height } = fitted(last, home);
  return {
    x: clamp(last.x, home.x - width + grip, home.x + home.width - grip),
    y: clamp(last.y, home.y, home.y + home.height - grip),
    width,
    height,
  };
}

function isReachable({ x, y, width }: WindowState, area: Area): boolean {
  const across = Math.min(x + width, area.x + area.width) - Math.max(x, area.x);
  return across >= grip && y >= area.y - grip && y <= area.y + area.height - grip;
}

function fitted({ width, height }: Pick<Area, 'width' | 'height'>, area: Area) {
  return {
    width: Math.min(Math.max(width, smallestWindow.width), Math.max(area.width, smallestWindow.width)),
    height: Math.min(Math.max(height, smallestWindow.height), Math.max(area.height, smallestWindow.height)),
  };
}

function centred(size: Pick<Area, 'width' | 'height'>, area: Area): Area {
  const { width, height } = fitted(size, area);
  return {
    x: Math.round(area.x + (area.width - width) / 2),
    y: Math.round(area.y + (area.height - height) / 2),
    width,
    height,
  };
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most);
}
