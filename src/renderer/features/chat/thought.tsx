import { useId, useState } from 'react';
import { ChevronRight } from 'lucide-react';
import { formatWholeSeconds } from '../../lib/format.ts';
import { Markdown } from '../../ui/index.ts';
import { en } from './en.ts';

interface ThoughtProps {
  readonly text: string;
  /** Still thinking: no answer text yet. */
  readonly open: boolean;
  readonly milliseconds: number | null;
}

/** The model's thinking, folded until someone wants to read it. */
export function Thought({ text, open, milliseconds }: ThoughtProps) {
  const [unfolded, setUnfolded] = useState(false);
  const id = useId();
  const label = open ? en.thinking : thoughtLabel(milliseconds);
  return (
    <div className="thought">
      <button
        type="button"
        className="thought-button"
        aria-expanded={unfolded}
        aria-controls={id}
        onClick={() => setUnfolded(!unfolded)}
      >
        <ChevronRight size={14} aria-hidden="true" />
        {label}
      </button>
      <div id={id} className="thought-text" hidden={!unfolded}>
        {unfolded ? <Markdown text={text} streaming={open} texts={en.markdown} /> : null}
      </div>
    </div>
  );
}

function thoughtLabel(milliseconds: number | null): string {
  if (milliseconds === null) return en.thought;
  const whole = Math.round(milliseconds / 1000);
  return whole < 1 ? en.thoughtBriefly : en.thoughtFor(formatWholeSeconds(whole));
}
