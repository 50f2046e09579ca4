import { memo, useState } from 'react';
import { Trash2 } from 'lucide-react';
import type { ExchangeEntry } from '../../../main/contract/index.ts';
import { formatClock, formatCount, formatSeconds } from '../../lib/format.ts';
import { useAppState, useEngine, useServer } from '../../state/index.ts';
import { Button } from '../../ui/index.ts';
import { en } from './en.ts';

/** As many as somebody looks at; the rest waits behind a button. */
const shownFirst = 50;

/** The last requests of programs, live. */
export function RequestLog() {
  const { server } = useAppState();
  const entries = useServer((state) => state.entries);
  const waiting = useEngine((engine) => engine.status?.waiting ?? 0);
  const [whole, setWhole] = useState(false);
  const shown = whole ? entries : entries.slice(0, shownFirst);
  const running = entries.filter((entry) => entry.running).length;
  return (
    <section className="server-card" aria-labelledby="server-log">
      <div className="server-card-head">
        <h2 id="server-log">{en.log}</h2>
        <span className="server-hint numbers">{en.running(running, waiting)}</span>
        <Button look="plain" disabled={entries.length === running} onClick={() => void server.clearLog()}>
          <Trash2 size={13} aria-hidden="true" />
          {en.clear}
        </Button>
      </div>
      {entries.length === 0 ? (
        <p className="server-empty">{en.empty}</p>
      ) : (
        <div className="log-scroller" role="group" aria-label={en.log} tabIndex={0}>
          <table className="log numbers">
            <thead>
              <tr>
                {Object.entries(en.columns).map(([name, label]) => (
                  <th key={name} scope="col" className={`log-${name}`}>
                    {label}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {shown.map((entry) => (
                <Row key={entry.id} entry={entry} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      <div className="server-row">
        <p className="server-hint">{en.logHint}</p>
        {shown.length < entries.length ? (
          <Button look="plain" onClick={() => setWhole(true)}>
            {en.showAll(formatCount(entries.length))}
          </Button>
        ) : null}
      </div>
    </section>
  );
}

const Row = memo(function Row({ entry }: { readonly entry: ExchangeEntry }) {
  const { startedAt, method, route, model, client, promptTokens, answerTokens, totalMs } = entry;
  return (
    <tr>
      <td>{formatClock(startedAt)}</td>
      <td className="log-request">
        {method} {route}
      </td>
      <td className="log-model" title={model ?? undefined}>
        {model ?? '–'}
      </td>
      <td>{en.clients[client]}</td>
      <td className="log-prompt">{promptTokens === null ? '–' : en.tokens(formatCount(promptTokens))}</td>
      <td className="log-answer">{answerTokens === null ? '–' : en.tokens(formatCount(answerTokens))}</td>
      <td className="log-took" title={partsOf(entry)}>
        {totalMs === null ? '–' : formatSeconds(totalMs)}
      </td>
      <td className={`log-status log-status-${toneOf(entry)}`}>{statusOf(entry)}</td>
    </tr>
  );
});

function partsOf({ queuedMs, prefillMs, decodeMs }: ExchangeEntry): string | undefined {
  if (queuedMs === null || prefillMs === null || decodeMs === null) return undefined;
  return en.parts(formatSeconds(queuedMs), formatSeconds(prefillMs), formatSeconds(decodeMs));
}

function toneOf({ running, aborted, status }: ExchangeEntry): 'busy' | 'quiet' | 'ok' | 'bad' {
  if (running) return 'busy';
  if (aborted || status === null) return 'quiet';
  return status < 400 ? 'ok' : 'bad';
}

function statusOf({ running, aborted, status }: ExchangeEntry): string {
  if (running) return en.statusRunning;
  if (aborted || status === null) return en.statusLeft;
  if (status < 400) return en.statusOk(status);
  return status < 500 ? en.statusBad(status) : en.statusBroken(status);
}
