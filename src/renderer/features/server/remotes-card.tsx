import { useState } from 'react';
import { Plus } from 'lucide-react';
import type { AppError, Remote } from '../../../main/contract/index.ts';
import { useAppState, useServer } from '../../state/index.ts';
import { Button, Notice } from '../../ui/index.ts';
import { en } from './en.ts';
import { RemoteForm } from './remote-form.tsx';

/** Engines elsewhere: what there is, and the way to add one. */
export function RemotesCard() {
  const remotes = useServer((state) => state.remotes) ?? [];
  /** Id of the one that is edited, `new`, or null. */
  const [open, setOpen] = useState<string | null>(null);
  const close = () => setOpen(null);
  return (
    <section className="server-card" aria-labelledby="server-remotes">
      <div className="server-card-head">
        <h2 id="server-remotes">{en.remotes}</h2>
        {open === 'new' ? null : (
          <Button look="plain" onClick={() => setOpen('new')}>
            <Plus size={13} aria-hidden="true" />
            {en.add}
          </Button>
        )}
      </div>
      <p className="server-hint">{en.remotesHint}</p>
      {open === 'new' ? <RemoteForm remote={null} onClose={close} /> : null}
      {remotes.length === 0 && open !== 'new' ? <p className="server-empty">{en.remotesEmpty}</p> : null}
      <ul className="remotes">
        {remotes.map((remote) => (
          <li key={remote.id}>
            {open === remote.id ? (
              <RemoteForm remote={remote} onClose={close} />
            ) : (
              <RemoteRow remote={remote} onEdit={() => setOpen(remote.id)} />
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

type TestState =
  | { readonly kind: 'none' }
  | { readonly kind: 'busy' }
  | { readonly kind: 'good' }
  | { readonly kind: 'bad'; readonly error: AppError };

function RemoteRow({ remote, onEdit }: { readonly remote: Remote; readonly onEdit: () => void }) {
  const { server } = useAppState();
  const [test, setTest] = useState<TestState>({ kind: 'none' });
  const { id, name, baseUrl, hasKey, models } = remote;
  const run = async () => {
    setTest({ kind: 'busy' });
    const result = await server.testRemote(id);
    setTest(result.ok ? { kind: 'good' } : { kind: 'bad', error: result.error });
  };
  const remove = async () => {
    const result = await server.removeRemote(id);
    if (!result.ok) setTest({ kind: 'bad', error: result.error });
  };
  const example = models[0] === undefined ? null : `${name}/${models[0]}`;
  return (
    <>
      <div className="remote">
        <div className="remote-words">
          <p>
            <strong>{name}</strong> <code>{baseUrl}</code>
          </p>
          <p className="server-hint">
            {[
              en.modelCount(models.length),
              hasKey ? en.withKey : en.withoutKey,
              example === null ? '' : en.requestAs(example),
            ]
              .filter(Boolean)
              .join(' · ')}
          </p>
        </div>
        <Button aria-label={en.testNamed(name)} disabled={test.kind === 'busy'} onClick={() => void run()}>
          {test.kind === 'busy' ? en.testing : en.test}
        </Button>
        <Button aria-label={en.editNamed(name)} onClick={onEdit}>
          {en.edit}
        </Button>
        <Button aria-label={en.removeNamed(name)} onClick={() => void remove()}>
          {en.remove}
        </Button>
      </div>
      <div role="status">{test.kind === 'good' ? <p className="server-good">{en.testOk(models.length)}</p> : null}</div>
      {test.kind === 'bad' ? <Notice announced tone="bad" title={test.error.message} hint={test.error.hint} /> : null}
    </>
  );
}
