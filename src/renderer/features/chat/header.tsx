import { useEffect, type ReactNode } from 'react';
import { newChat, remoteLabel, useConversations, useEngine, useServer } from '../../state/index.ts';
import { ChatSettings } from './chat-settings.tsx';
import { en } from './en.ts';
import { EnginePill } from './engine-pill.tsx';

interface HeaderProps {
  /** Before the title and at the end: buttons for what stands beside the chat. */
  readonly leading: ReactNode;
  readonly trailing: ReactNode;
}

export function Header({ leading, trailing }: HeaderProps) {
  const title = useConversations((state) => state.list?.find(({ id }) => id === state.currentId)?.title);
  const currentId = useConversations((state) => state.currentId);
  const isNew = currentId === null;
  const heading = isNew ? en.newChat : title === undefined || title === '' ? en.untitled : title;
  useEffect(() => {
    document.title = isNew ? en.app : `${heading} · ${en.app}`;
  }, [heading, isNew]);
  return (
    <header className="header">
      {leading}
      <h1 className="header-title" title={title}>
        {heading}
      </h1>
      <ModelChip conversationKey={currentId ?? newChat} />
      <EnginePill />
      <ChatSettings key={currentId ?? newChat} conversationKey={currentId ?? newChat} />
      {trailing}
    </header>
  );
}

function ModelChip({ conversationKey }: { readonly conversationKey: string }) {
  const chosen = useConversations((state) => state.options[conversationKey]?.model ?? null);
  const elsewhere = useServer(({ remotes }) => remoteLabel(chosen, remotes));
  return elsewhere === null ? <LocalModel /> : <RemoteModel name={elsewhere} />;
}

function RemoteModel({ name }: { readonly name: string }) {
  return (
    <div className="chip" title={en.remoteChip(name)}>
      <span className="visually-hidden">{en.model} </span>
      <span className="chip-name">{name}</span>
      <span className="chip-detail"> · {en.remote}</span>
    </div>
  );
}

function LocalModel() {
  const model = useEngine((engine) => engine.status?.model ?? null);
  if (model === null) return null;
  const detail = model.builtin ? en.builtinModel : model.quantization;
  return (
    <div className="chip" title={model.path}>
      <span className="visually-hidden">{en.model} </span>
      <span className="chip-name">{model.name}</span>
      {detail === null ? null : <span className="chip-detail"> · {detail}</span>}
    </div>
  );
}
