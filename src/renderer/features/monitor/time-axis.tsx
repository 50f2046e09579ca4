import { en } from './en.ts';

/** Relative, so that the axis stands still while time goes on. `inset`: CSS pixels left of the drawing. */
export function TimeAxis({ range, inset = 0 }: { readonly range: number; readonly inset?: number }) {
  return (
    <div className="time-axis" aria-hidden="true" style={{ paddingLeft: inset }}>
      <span>{en.ago(range)}</span>
      <span>{en.ago(range / 2)}</span>
      <span>{en.now}</span>
    </div>
  );
}
