import { useEffect, type ReactNode } from 'react';
import { useAppState, useServer } from '../../state/index.ts';
import { Notice } from '../../ui/index.ts';
import { en } from './en.ts';
import { KeyCard } from './key-card.tsx';
import { ListenCard } from './listen-card.tsx';
import { RemotesCard } from './remotes-card.tsx';
import { RequestLog } from './request-log.tsx';
import { SnippetsCard } from './snippets-card.tsx';
import { StateCard } from './state-card.tsx';

interface ServerPageProps {
  /** Go into the header: before its title, and the engine's state at its end. */
  readonly leading: ReactNode;
  readonly pill: ReactNode;
  /** Lies over the page's end. */
  readonly foot: ReactNode;
}

/** The background server: whether and where it answers, how tools reach it, what they asked, and engines elsewhere. */
export function ServerPage({ leading, pill, foot }: ServerPageProps) {
  const { server } = useAppState();
  const status = useServer((state) => state.status);
  useEffect(() => server.attach(), [server]);
  useEffect(() => {
    document.title = `${en.title} · ${en.app}`;
  }, []);
  return (
    <main className="page">
      <header className="page-header">
        {leading}
        <h1>{en.title}</h1>
        <div className="page-pill">{pill}</div>
      </header>
      <div className="page-scroller" role="region" aria-label={en.contents} tabIndex={0}>
        {status === null ? (
          <p className="page-waiting server-waiting" role="status">
            {en.waiting}
          </p>
        ) : (
          <div className="page-body server-body">
            <Troubles />
            <StateCard status={status} />
            <SnippetsCard status={status} />
            <RequestLog />
            <div className="server-pair">
              <ListenCard key={`${status.host} ${status.port}`} status={status} />
              <KeyCard status={status} />
            </div>
            <RemotesCard />
            <WhoCard origins={status.corsOrigins} hosts={status.allowedHosts} />
          </div>
        )}
      </div>
      <div className="page-foot">{foot}</div>
    </main>
  );
}

/** Why the last change could not be made, or why nothing listens. */
function Troubles() {
  const { server } = useAppState();
  const asked = useServer((state) => state.error);
  const standing = useServer((state) => state.status?.error ?? null);
  const error = asked ?? standing;
  if (error === null) return null;
  const dismiss = { label: en.dismiss, onClick: () => server.dismissError() };
  return (
    <Notice
      announced
      tone="bad"
      title={error.message}
      hint={error.hint}
      {...(asked !== null && standing === null ? { dismiss } : {})}
    />
  );
}

interface WhoCardProps {
  readonly origins: readonly string[];
  readonly hosts: readonly string[];
}

function WhoCard({ origins, hosts }: WhoCardProps) {
  return (
    <section className="server-card" aria-labelledby="server-who">
      <h2 id="server-who">{en.who}</h2>
      <dl className="server-facts">
        <dt>{en.origins}</dt>
        <dd>{origins.length === 0 ? en.none : origins.join(', ')}</dd>
        <dt>{en.hosts}</dt>
        <dd>{hosts.length === 0 ? en.none : hosts.join(', ')}</dd>
      </dl>
      <p className="server-hint">{en.whoHint}</p>
    </section>
  );
}
