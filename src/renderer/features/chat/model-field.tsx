import { useEffect, useId, useState, type KeyboardEvent } from 'react';
import { isRemoteModel, remoteLabel, useAppState, useEngine, useServer } from '../../state/index.ts';
import { Button } from '../../ui/index.ts';
import { en } from './en.ts';
import { fileName, modelChoices } from './model-choices.ts';

interface ModelFieldProps {
  /** `builtin` or a path; null: whatever is loaded. */
  readonly model: string | null;
  readonly onChange: (model: string | null) => void;
}

/** Which model answers a chat: one of those known here, or a file by its path. */
export function ModelField({ model, onChange }: ModelFieldProps) {
  const { engine } = useAppState();
  const known = useEngine((state) => state.models);
  const elsewhere = useServer(({ remotes }) => remoteLabel(model, remotes));
  const id = useId();
  useEffect(() => void engine.refreshModels(), [engine]);
  return (
    <>
      <label htmlFor={id}>{en.model}</label>
      <select
        id={id}
        className="field"
        value={model ?? ''}
        onChange={(event) => onChange(event.target.value === '' ? null : event.target.value)}
      >
        <option value="">{en.modelAny}</option>
        {modelChoices(known ?? [], model).map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
      <PathField onUse={onChange} />
      <p className="panel-hint">{hintOf(model, elsewhere)}</p>
    </>
  );
}

function hintOf(model: string | null, elsewhere: string | null): string {
  if (model === null) return en.modelAnyHint;
  if (isRemoteModel(model)) return elsewhere === null ? en.modelRemoteGone : en.modelRemoteHint(elsewhere);
  return en.modelHint(model === 'builtin' ? en.modelBuiltin : fileName(model));
}

function PathField({ onUse }: { readonly onUse: (path: string) => void }) {
  const [path, setPath] = useState('');
  // File managers copy paths with quotes around them.
  const clean = path.trim().replace(/^(["'])(.*)\1$/, '$2');
  const use = () => {
    if (clean === '') return;
    onUse(clean);
    setPath('');
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter') return;
    event.preventDefault();
    use();
  };
  return (
    <div className="panel-row">
      <input
        className="field"
        aria-label={en.modelPath}
        placeholder={en.modelPath}
        spellCheck={false}
        value={path}
        maxLength={4096}
        onChange={(event) => setPath(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <Button disabled={clean === ''} onClick={use}>
        {en.modelUse}
      </Button>
    </div>
  );
}
