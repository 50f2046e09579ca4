import { newChat, useAppState, useEngine, wakesWithRequest } from '../../state/index.ts';
import { Button, Mark } from '../../ui/index.ts';
import { en } from './en.ts';

/** What a new chat shows: a greeting, or what to do where no model is loaded. */
export function EmptyState() {
  const state = useEngine((engine) => engine.status?.state ?? null);
  const hasModel = useEngine((engine) => (engine.status?.model ?? null) !== null);
  const builtin = useEngine((engine) => engine.status?.model?.builtin === true);
  const wakes = useEngine(wakesWithRequest);
  const noModel = !hasModel && !wakes && (state === 'empty' || state === 'failed');
  return (
    <div className="empty">
      <Mark size={56} />
      {state === null ? null : noModel ? <NoModel /> : <Greeting builtin={builtin} />}
    </div>
  );
}

function NoModel() {
  const { engine } = useAppState();
  return (
    <>
      <h2>{en.noModelTitle}</h2>
      <p>
        {en.noModelText} <code>{en.noModelCommand}</code>
      </p>
      <Button look="main" onClick={() => void engine.load('builtin')}>
        {en.loadBuiltin}
      </Button>
    </>
  );
}

function Greeting({ builtin }: { readonly builtin: boolean }) {
  const { chat, conversations } = useAppState();
  const ask = (question: string) => {
    // As a draft first: if sending fails, the question waits in the composer.
    conversations.setDraft(newChat, question);
    void chat.send(question);
  };
  return (
    <>
      <h2>{en.greeting}</h2>
      <p>{builtin ? en.introBuiltin : en.intro}</p>
      {builtin ? (
        <ul className="empty-questions" aria-label={en.questionsLabel}>
          {en.questions.map((question) => (
            <li key={question}>
              <button type="button" className="question" onClick={() => ask(question)}>
                {question}
              </button>
            </li>
          ))}
        </ul>
      ) : null}
    </>
  );
}
