import { CircleCheck, CircleOff } from 'lucide-react';
import type { ServerStatus } from '../../../main/contract/index.ts';
import { useAppState, useServer } from '../../state/index.ts';
import { Button, CopyButton } from '../../ui/index.ts';
import { isLoopback } from './checks.ts';
import { en } from './en.ts';

/** On or off, and under which addresses programs find it. */
export function StateCard({ status }: { readonly status: ServerStatus }) {
  const { server } = useAppState();
  const busy = useServer((state) => state.busy);
  const { on, pageOverServer, host, port, addresses, place, commandLine } = status;
  const Icon = on ? CircleCheck : CircleOff;
  const onHint = isLoopback(host) ? en.onHint : en.onHintFar;
  const placeHint = en.places[place](port);
  return (
    <section className="server-card" aria-labelledby="server-state">
      <h2 id="server-state" className="visually-hidden">
        {en.state}
      </h2>
      <div className="server-state">
        <p className={on ? 'server-word server-word-on' : 'server-word'} role="status">
          <Icon size={18} aria-hidden="true" />
          {on ? en.on : en.off}
        </p>
        <p className="server-hint">{on ? onHint : pageOverServer ? en.offHintPage : en.offHint}</p>
        <Button look={on ? 'quiet' : 'main'} disabled={busy} onClick={() => void server.setOn(!on)}>
          {on ? en.switchOff : en.switchOn}
        </Button>
      </div>
      {on ? (
        <ul className="server-addresses" aria-label={en.addresses}>
          {addresses.map(({ url, from }) => (
            <li key={`${from} ${url}`}>
              <code>{url}</code>
              <span className="server-hint">{en.from[from]}</span>
              <CopyButton texts={en.copy} label={en.copyAddress(url)} text={() => url} />
            </li>
          ))}
        </ul>
      ) : null}
      {placeHint === null ? null : <p className="server-hint">{placeHint}</p>}
      {commandLine.on ? <p className="server-hint">{en.startsOn}</p> : null}
    </section>
  );
}
