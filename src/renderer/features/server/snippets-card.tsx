import { useState } from 'react';
import type { ServerStatus } from '../../../main/contract/index.ts';
import { useEngine } from '../../state/index.ts';
import { Choice, CodeBlock } from '../../ui/index.ts';
import { en } from './en.ts';
import { snippet, type SnippetKind } from './snippets.ts';

const kinds = (Object.keys(en.snippetKinds) as SnippetKind[]).map((value) => ({
  value,
  label: en.snippetKinds[value],
  icon: null,
}));

/** What to paste into a terminal, a script or a tool's settings. */
export function SnippetsCard({ status }: { readonly status: ServerStatus }) {
  const [kind, setKind] = useState<SnippetKind>('curl');
  const model = useEngine((engine) => engine.status?.model?.id ?? 'builtin');
  const url = status.addresses[0]?.url ?? `http://127.0.0.1:${status.port}`;
  const needsKey = status.apiKey !== 'none';
  const { language, text } = snippet(kind, { url, model, needsKey });
  return (
    <section className="server-card" aria-labelledby="server-snippets">
      <div className="server-card-head">
        <h2 id="server-snippets">{en.snippets}</h2>
        <Choice label={en.snippetKind} value={kind} options={kinds} onChange={setKind} />
      </div>
      <CodeBlock language={language} fallbackLanguage={language} wholeText={() => text} copyTexts={en.copy}>
        <code>{text}</code>
      </CodeBlock>
      <p className="server-hint">
        {[en.snippetHints[kind], needsKey ? en.snippetKey : '', status.on ? '' : en.snippetOff]
          .filter(Boolean)
          .join(' · ')}
      </p>
    </section>
  );
}
