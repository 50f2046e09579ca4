import { useState, type SubmitEvent } from 'react';
import { Eye, EyeOff, KeyRound } from 'lucide-react';
import type { ServerStatus } from '../../../main/contract/index.ts';
import { useAppState, useServer } from '../../state/index.ts';
import { Button, CopyButton } from '../../ui/index.ts';
import { isKey } from './checks.ts';
import { en } from './en.ts';
import { TextField } from './text-field.tsx';

/** The key that programs send: seen only on demand, made here or one's own. */
export function KeyCard({ status }: { readonly status: ServerStatus }) {
  const { server } = useAppState();
  const { apiKey, keyStore } = status;
  const kept = apiKey === 'kept';
  return (
    <section className="server-card" aria-labelledby="server-key">
      <h2 id="server-key">{en.key}</h2>
      <p className="server-hint">
        {en.keyStates[apiKey]} {kept ? en.keyStores[keyStore] : null}
      </p>
      {kept || apiKey === 'command_line' ? <KeyValue /> : null}
      {apiKey === 'command_line' ? null : (
        <>
          <div className="server-row">
            <Button onClick={() => void server.generateKey()}>
              <KeyRound size={14} aria-hidden="true" />
              {kept ? en.replace : en.generate}
            </Button>
            {apiKey === 'none' ? null : <Button onClick={() => void server.setKey(null)}>{en.remove}</Button>}
          </div>
          <OwnKey />
        </>
      )}
    </section>
  );
}

function KeyValue() {
  const { server } = useAppState();
  const key = useServer((state) => state.key);
  const Icon = key === null ? Eye : EyeOff;
  return (
    <div className="server-row server-key">
      <code aria-label={en.keyField}>{key ?? en.hidden}</code>
      <Button look="plain" onClick={() => (key === null ? void server.showKey() : server.hideKey())}>
        <Icon size={13} aria-hidden="true" />
        {key === null ? en.show : en.hide}
      </Button>
      <CopyButton texts={en.copy} label={en.copyKey} text={async () => key ?? (await server.readKey()) ?? ''} />
    </div>
  );
}

function OwnKey() {
  const { server } = useAppState();
  const [text, setText] = useState('');
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (isKey(text) && (await server.setKey(text))) setText('');
  };
  return (
    <details className="server-more">
      <summary>{en.ownKey}</summary>
      <form className="server-form" onSubmit={(event) => void submit(event)}>
        <TextField
          password
          label={en.ownKeyField}
          problem={text === '' || isKey(text) ? null : en.keyBad}
          value={text}
          maxLength={512}
          onChange={setText}
        />
        <div className="server-row">
          <Button type="submit" disabled={!isKey(text)}>
            {en.use}
          </Button>
        </div>
      </form>
    </details>
  );
}
