import { Mark } from '../ui/index.ts';
import { en } from './en.ts';

/** The page has no right (any more): how to get a new link. */
export function RefusedPage() {
  return (
    <main className="refused">
      <Mark size={56} />
      <h1>{en.refusedTitle}</h1>
      <p>{en.refusedText}</p>
      <section className="refused-steps" aria-label={en.refusedSteps}>
        <p>{en.refusedTerminal}</p>
        <p>{en.refusedOpen}</p>
        <p>
          <code>{en.command}</code>
        </p>
      </section>
    </main>
  );
}
