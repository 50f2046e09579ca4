import { useEffect, useRef, useState, type SubmitEvent } from 'react';
import type { AppError, Remote, Result } from '../../../main/contract/index.ts';
import { useAppState } from '../../state/index.ts';
import { Button, Notice } from '../../ui/index.ts';
import { isPlainAndFar, isRemoteName } from './checks.ts';
import { en } from './en.ts';
import { TextField } from './text-field.tsx';

interface RemoteFormProps {
  /** null: a new one. */
  readonly remote: Remote | null;
  readonly onClose: () => void;
}

/** Name, address and key of a remote engine, which is asked for its models before anything is kept. */
export function RemoteForm({ remote, onClose }: RemoteFormProps) {
  const { server } = useAppState();
  const [name, setName] = useState(remote?.name ?? '');
  const [baseUrl, setBaseUrl] = useState(remote?.baseUrl ?? '');
  const [key, setKey] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<AppError | null>(null);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector('input')?.focus(), []);
  const good = isRemoteName(name) && baseUrl.trim() !== '';
  const send = async (keyChange: { readonly key?: string | null }) => {
    setBusy(true);
    setError(null);
    const values = { name: name.trim(), baseUrl: baseUrl.trim() };
    const result: Result<Remote> =
      remote === null
        ? await server.addRemote({ ...values, key: keyChange.key ?? null })
        : await server.changeRemote({ id: remote.id, ...values, ...keyChange });
    setBusy(false);
    if (result.ok) onClose();
    else setError(result.error);
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (good && !busy) void send(key === '' ? {} : { key });
  };
  const keyHint = remote?.hasKey === true ? en.remoteKeyKept : en.remoteKeyHint;
  return (
    <form ref={form} className="server-form remote-form" onSubmit={submit}>
      <NameField name={name} onChange={setName} />
      <TextField label={en.baseUrl} hint={en.baseUrlHint} value={baseUrl} onChange={setBaseUrl} />
      <TextField
        password
        label={en.remoteKey}
        hint={key !== '' && isPlainAndFar(baseUrl) ? en.plainKey : keyHint}
        value={key}
        onChange={setKey}
      />
      {error === null ? null : <Notice announced tone="bad" title={error.message} hint={error.hint} />}
      <div className="server-row">
        <Button type="submit" look="main" disabled={!good || busy}>
          {busy ? en.testing : remote === null ? en.testAndAdd : en.testAndSave}
        </Button>
        {remote?.hasKey === true ? (
          <Button disabled={busy} onClick={() => void send({ key: null })}>
            {en.removeKey}
          </Button>
        ) : null}
        <Button disabled={busy} onClick={onClose}>
          {en.cancel}
        </Button>
      </div>
    </form>
  );
}

function NameField({ name, onChange }: { readonly name: string; readonly onChange: (name: string) => void }) {
  const problem = name === '' || isRemoteName(name) ? null : en.nameBad;
  return (
    <TextField label={en.name} hint={en.nameHint} problem={problem} value={name} maxLength={40} onChange={onChange} />
  );
}
