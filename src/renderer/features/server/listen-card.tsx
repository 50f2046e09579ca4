import { useState, type SubmitEvent } from 'react';
import type { ServerStatus } from '../../../main/contract/index.ts';
import { useAppState, useServer } from '../../state/index.ts';
import { Button } from '../../ui/index.ts';
import { isHost, isLoopback, readPort } from './checks.ts';
import { en } from './en.ts';
import { TextField } from './text-field.tsx';

/** Host and port, checked while they are typed; what the system says of them comes after Apply. */
export function ListenCard({ status }: { readonly status: ServerStatus }) {
  const { server } = useAppState();
  const busy = useServer((state) => state.busy);
  const [host, setHost] = useState(status.host);
  const [port, setPort] = useState(String(status.port));
  const number = readPort(port);
  const needsKey = isHost(host) && !isLoopback(host) && status.apiKey === 'none';
  const changed = host.trim() !== status.host || number !== status.port;
  const good = isHost(host) && number !== null && !needsKey;
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (!good || !changed || busy) return;
    const change = {
      ...(host.trim() === status.host ? {} : { host: host.trim() }),
      ...(number === status.port ? {} : { port: number }),
    };
    void server.configure(change);
  };
  const given = [status.commandLine.host ? '--host' : '', status.commandLine.port ? '--port' : ''].filter(Boolean);
  return (
    <section className="server-card" aria-labelledby="server-listen">
      <h2 id="server-listen">{en.listen}</h2>
      <form className="server-form" onSubmit={submit}>
        <TextField
          label={en.host}
          hint={en.hostHint}
          problem={isHost(host) ? (needsKey ? en.hostNeedsKey : null) : en.hostBad}
          value={host}
          maxLength={253}
          onChange={setHost}
        />
        <TextField
          numeric
          label={en.port}
          problem={number === null ? en.portBad : null}
          value={port}
          maxLength={5}
          onChange={setPort}
        />
        <div className="server-row">
          <Button type="submit" look={changed && good ? 'main' : 'quiet'} disabled={!good || !changed || busy}>
            {en.apply}
          </Button>
          {status.pageOverServer && changed && good ? <span className="server-hint">{en.moves}</span> : null}
        </div>
      </form>
      {given.length === 0 ? null : <p className="server-hint">{en.commandLine(given.join(', '))}</p>}
    </section>
  );
}
