import type { Palette } from './palette.ts';

/** Fillings that are told apart without colour: plain, striped, dotted. */
export interface Textures {
  readonly solid: string;
  readonly striped: CanvasPattern | string;
  readonly dotted: CanvasPattern | string;
}

/** @param ratio device pixels per CSS pixel. */
export function makeTextures(context: CanvasRenderingContext2D, palette: Palette, ratio: number): Textures {
  return {
    solid: palette.accent,
    striped: tile(context, Math.round(6 * ratio), (part, size) => {
      part.fillStyle = palette['accent-bg'];
      part.fillRect(0, 0, size, size);
      part.strokeStyle = palette.accent;
      part.lineWidth = size / 3.2;
      part.beginPath();
      for (const shift of [-size, 0, size]) {
        part.moveTo(shift - 1, size + 1);
        part.lineTo(shift + size + 1, -1);
      }
      part.stroke();
    }),
    dotted: tile(context, Math.round(6 * ratio), (part, size) => {
      part.fillStyle = palette['moon-bg'];
      part.fillRect(0, 0, size, size);
      part.fillStyle = palette.moon;
      const dot = Math.max(1, Math.round(1.6 * ratio));
      part.fillRect(Math.floor((size - dot) / 2), Math.floor((size - dot) / 2), dot, dot);
    }),
  };
}

function tile(
  context: CanvasRenderingContext2D,
  size: number,
  draw: (part: CanvasRenderingContext2D, size: number) => void,
): CanvasPattern | string {
  const canvas = document.createElement('canvas');
  canvas.width = size;
  canvas.height = size;
  const part = canvas.getContext('2d');
  if (part === null) return 'transparent';
  draw(part, size);
  return context.createPattern(canvas, 'repeat') ?? 'transparent';
}
