import { X } from 'lucide-react';
import { formatCores } from '../../lib/format.ts';
import { meanCores, useAppState, useTelemetry } from '../../state/index.ts';
import { Button, IconButton } from '../../ui/index.ts';
import { en } from './en.ts';

/** Lets the workers spin for five seconds and says what that took. */
export function SpinDemo() {
  const { telemetry } = useAppState();
  const demo = useTelemetry((state) => state.demo);
  const error = useTelemetry((state) => state.demoError);
  const running = demo !== null && !demo.done;
  return (
    <>
      <Button disabled={running} onClick={() => void telemetry.startDemo()}>
        {running ? en.spinCounting(demo.secondsLeft) : en.spinButton}
      </Button>
      <div className="spin-result" role="status">
        {error === null && (demo === null || running) ? null : (
          <div className="spin-text">
            <p>
              {error !== null
                ? [error.message, error.hint].filter(Boolean).join(' ')
                : demo === null
                  ? null
                  : resultOf(demo.before, demo.during)}
            </p>
            <IconButton
              small
              label={en.dismiss}
              icon={<X size={14} aria-hidden="true" />}
              onClick={() => telemetry.dismissDemo()}
            />
          </div>
        )}
      </div>
    </>
  );
}

function resultOf(before: readonly number[], during: readonly number[]): string {
  const [quiet, spinning] = [meanCores(before), meanCores(during)];
  if (quiet === null || spinning === null) return en.spinUnmeasured;
  return `${en.spinResult(formatCores(quiet), formatCores(spinning))} ${en.spinExplain}`;
}
