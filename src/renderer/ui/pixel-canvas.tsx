import {
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
  useSyncExternalStore,
  type KeyboardEvent,
  type PointerEvent,
} from 'react';
import { sameNumbers } from '../lib/pixel-runs.ts';
import { readPalette, type Palette } from './palette.ts';

/** Device pixels; `ratio` of them are one CSS pixel. */
export interface CanvasSize {
  readonly width: number;
  readonly height: number;
  readonly ratio: number;
}

export interface Picture {
  /** Equal keys draw equal pictures, so that nothing is drawn while nothing changes by a pixel. */
  readonly key: readonly number[];
  /** Draws into a cleared canvas, in device pixels. */
  readonly paint: (context: CanvasRenderingContext2D, palette: Palette) => void;
}

/** CSS pixels from the canvas' corner, and how wide the canvas is. */
export interface CanvasPoint {
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

/** CSS pixels. */
export interface KeySteps {
  readonly x: number;
  readonly y: number;
  /** Where the first key press leads. */
  readonly first: { readonly x: number; readonly y: number };
}

interface PixelCanvasProps {
  /** Accessible name: what the picture shows. */
  readonly label: string;
  readonly describedBy?: string;
  /** CSS pixels for a width in CSS pixels. */
  readonly heightFor: (width: number) => number;
  readonly picture: (size: CanvasSize) => Picture;
  /** Where the pointer is, or the arrow keys have led; null when it leaves. Without it the canvas takes no focus. */
  readonly onPoint?: (point: CanvasPoint | null) => void;
  /** How the arrow keys go, for a width. */
  readonly keySteps?: (width: number) => KeySteps;
}

/** A canvas as wide as its place, sharp on every screen, in the colours of the theme; draws only what is new. */
export function PixelCanvas({ label, describedBy, heightFor, picture, onPoint, keySteps }: PixelCanvasProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = useWidth(canvas);
  const height = heightFor(width);
  useDrawing(canvas, width, height, picture);
  const pointing = usePointing(width, height, onPoint, keySteps);
  return (
    <canvas
      ref={canvas}
      role="img"
      aria-label={label}
      aria-describedby={describedBy}
      className="pixel-canvas"
      style={{ height }}
      {...pointing}
    />
  );
}

function useDrawing(
  canvas: { readonly current: HTMLCanvasElement | null },
  width: number,
  height: number,
  picture: PixelCanvasProps['picture'],
): void {
  const theme = useThemeKey();
  const drawn = useRef<{ readonly key: readonly number[]; readonly theme: string } | null>(null);
  const palette = useRef<{ readonly theme: string; readonly colours: Palette } | null>(null);
  // Without a list: every render may bring another picture; whether it differs is seen by its key.
  useLayoutEffect(() => {
    const element = canvas.current;
    const context = element?.getContext('2d') ?? null;
    if (element === null || context === null || width === 0) return;
    const ratio = Math.max(1, window.devicePixelRatio);
    const size = { width: Math.round(width * ratio), height: Math.max(1, Math.round(height * ratio)), ratio };
    const { key, paint } = picture(size);
    const whole = [size.width, size.height, ...key];
    if (drawn.current?.theme === theme && sameNumbers(drawn.current.key, whole)) return;
    if (palette.current?.theme !== theme) palette.current = { theme, colours: readPalette(element) };
    if (element.width !== size.width) element.width = size.width;
    if (element.height !== size.height) element.height = size.height;
    context.clearRect(0, 0, size.width, size.height);
    paint(context, palette.current.colours);
    drawn.current = { key: whole, theme };
    element.dataset['draws'] = String(Number(element.dataset['draws'] ?? 0) + 1);
  });
}

function usePointing(
  width: number,
  height: number,
  onPoint: PixelCanvasProps['onPoint'],
  keySteps: PixelCanvasProps['keySteps'],
) {
  const point = useRef<CanvasPoint | null>(null);
  if (onPoint === undefined) return {};
  const move = (next: CanvasPoint | null) => {
    point.current = next;
    onPoint(next);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const arrow = arrows[event.key];
    if (event.key === 'Escape' && point.current !== null) move(null);
    else if (arrow !== undefined && keySteps !== undefined) {
      const step = keySteps(width);
      const inside = (value: number, end: number) => Math.max(0, Math.min(end - 1, value));
      const { current } = point;
      const next = current === null ? step.first : { x: current.x + arrow.x * step.x, y: current.y + arrow.y * step.y };
      move({ x: inside(next.x, width), y: inside(next.y, height), width });
    } else return;
    event.preventDefault();
  };
  return {
    tabIndex: 0,
    onPointerMove: ({ nativeEvent: { offsetX, offsetY } }: PointerEvent) => move({ x: offsetX, y: offsetY, width }),
    onPointerLeave: () => move(null),
    onBlur: () => move(null),
    onKeyDown,
  };
}

const arrows: Readonly<Partial<Record<string, { readonly x: number; readonly y: number }>>> = {
  ArrowLeft: { x: -1, y: 0 },
  ArrowRight: { x: 1, y: 0 },
  ArrowUp: { x: 0, y: -1 },
  ArrowDown: { x: 0, y: 1 },
};

/** Width of an element in CSS pixels; 0 before it is measured. */
function useWidth(element: { readonly current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    if (element.current === null) return;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  return width;
}

/** Changes when the colours do: by the system, or by the choice on the root element. */
function useThemeKey(): string {
  const subscribe = useCallback((listener: () => void) => {
    const media = matchMedia('(prefers-color-scheme: dark)');
    const observer = new MutationObserver(listener);
    observer.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    media.addEventListener('change', listener);
    return () => {
      observer.disconnect();
      media.removeEventListener('change', listener);
    };
  }, []);
  return useSyncExternalStore(
    subscribe,
    () => `${document.documentElement.dataset['theme'] ?? ''} ${matchMedia('(prefers-color-scheme: dark)').matches}`,
  );
}
