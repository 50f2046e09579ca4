import { useState } from 'react';
import { formatPercent } from '../../lib/format.ts';
import { useAppState, useEngine } from '../../state/index.ts';
import { Button, Notice } from '../../ui/index.ts';
import { en } from './en.ts';

/** Loading with Cancel, and why loading failed. */
export function EngineNotices() {
  const status = useEngine((engine) => engine.status);
  if (status?.state === 'loading') return <LoadProgress progress={status.loadProgress} />;
  return <LoadError />;
}

function LoadProgress({ progress }: { readonly progress: number | null }) {
  const { engine } = useAppState();
  return (
    <div className="load">
      <div className="load-text">
        <span className="numbers">
          {en.loadingModel}
          {progress === null ? '' : ` · ${formatPercent(progress)}`}
        </span>
        <span className="load-hint">{en.loadingHint}</span>
      </div>
      <progress aria-label={en.loadingModel} max={1} {...(progress === null ? {} : { value: progress })} />
      <Button onClick={() => void engine.cancelLoad()}>{en.cancel}</Button>
    </div>
  );
}

function LoadError() {
  const { engine } = useAppState();
  const status = useEngine((state) => state.status);
  const asked = useEngine((state) => state.loadError);
  const [dismissed, setDismissed] = useState<string | null>(null);
  const error = asked ?? status?.error ?? null;
  if (error === null) return null;
  const key = `${status?.since ?? 0} ${error.code} ${error.message}`;
  if (asked === null && dismissed === key) return null;
  const dismiss = () => {
    setDismissed(key);
    engine.dismissLoadError();
  };
  return (
    <Notice
      announced
      tone="bad"
      title={error.message}
      hint={error.hint}
      dismiss={{ label: en.dismiss, onClick: dismiss }}
    >
      {(status?.model ?? null) === null ? (
        <Button onClick={() => void engine.load('builtin')}>{en.loadBuiltin}</Button>
      ) : undefined}
    </Notice>
  );
}
