import { useEffect, useId, useRef, useState, type KeyboardEvent } from 'react';
import { ScrollText, SlidersHorizontal } from 'lucide-react';
import type { AppError, ConversationOptions } from '../../../main/contract/index.ts';
import { newChat, noOptions, useAppState, useConversations } from '../../state/index.ts';
import { Button, IconButton, Notice } from '../../ui/index.ts';
import { en } from './en.ts';
import { ModelField } from './model-field.tsx';

/** System prompt and model of one chat: the button in the header and what it opens. */
export function ChatSettings({ conversationKey }: { readonly conversationKey: string }) {
  const [open, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const area = useRef<HTMLDivElement>(null);
  const hasPrompt = useConversations((state) => (state.options[conversationKey]?.systemPrompt ?? null) !== null);
  const known = useConversations(
    (state) => conversationKey === newChat || state.options[conversationKey] !== undefined,
  );
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  useCloseOutside(area, open, () => setOpen(false));
  return (
    <div ref={area} className="chat-settings">
      {hasPrompt ? (
        <Button look="plain" aria-expanded={open} onClick={() => setOpen(!open)}>
          <ScrollText size={14} aria-hidden="true" />
          <span className="chat-settings-label">{en.systemPrompt}</span>
        </Button>
      ) : null}
      <IconButton
        ref={button}
        label={en.chatSettings}
        icon={<SlidersHorizontal size={16} aria-hidden="true" />}
        aria-haspopup="dialog"
        aria-expanded={open}
        disabled={!known}
        onClick={() => setOpen(!open)}
      />
      {open ? <SettingsPanel conversationKey={conversationKey} onClose={close} /> : null}
    </div>
  );
}

interface SettingsPanelProps {
  readonly conversationKey: string;
  readonly onClose: () => void;
}

function SettingsPanel({ conversationKey, onClose }: SettingsPanelProps) {
  const options = useConversations((state) => state.options[conversationKey] ?? noOptions);
  const [prompt, setPrompt] = useState(options.systemPrompt ?? '');
  const [error, save] = useSave(conversationKey);
  const field = useRef<HTMLTextAreaElement>(null);
  const ids = { prompt: useId(), hint: useId() };
  useEffect(() => field.current?.focus(), []);
  const systemPrompt = prompt.trim() === '' ? null : prompt;
  const savePrompt = () => (systemPrompt === options.systemPrompt ? Promise.resolve(true) : save({ systemPrompt }));
  // What was typed is saved on every way out; where that fails the panel stays, with the text in it.
  const saveAndClose = async () => {
    if (await savePrompt()) onClose();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || event.defaultPrevented) return;
    event.preventDefault();
    void saveAndClose();
  };
  return (
    <div role="dialog" aria-label={en.chatSettings} className="panel" onKeyDown={onKeyDown}>
      <h2>{en.chatSettings}</h2>
      <label htmlFor={ids.prompt}>{en.systemPrompt}</label>
      <textarea
        ref={field}
        id={ids.prompt}
        className="field"
        rows={5}
        placeholder={en.systemPromptPlaceholder}
        aria-describedby={ids.hint}
        maxLength={longestPrompt}
        value={prompt}
        onChange={(event) => setPrompt(event.target.value)}
        onBlur={() => void savePrompt()}
      />
      <p id={ids.hint} className="panel-hint">
        {en.systemPromptHint}
      </p>
      <ModelField model={options.model} onChange={(model) => void save({ model })} />
      {error === null ? null : <Notice announced tone="bad" title={error.message} hint={error.hint} />}
      <div className="panel-actions">
        <span className="panel-hint">{en.savedByItself}</span>
        <Button look="main" onClick={() => void saveAndClose()}>
          {en.done}
        </Button>
      </div>
    </div>
  );
}

/** The contract's bound; longer ones would be refused. */
const longestPrompt = 100_000;

function useSave(key: string): readonly [AppError | null, (change: Partial<ConversationOptions>) => Promise<boolean>] {
  const { list } = useAppState();
  const [error, setError] = useState<AppError | null>(null);
  const save = async (change: Partial<ConversationOptions>) => {
    const failure = await list.configure(key, change);
    setError(failure);
    return failure === null;
  };
  return [error, save];
}

function useCloseOutside(area: { readonly current: HTMLElement | null }, open: boolean, close: () => void): void {
  useEffect(() => {
    if (!open) return;
    const onPointerDown = ({ target }: Event) => {
      // A field that has the focus must lose it first, so that it saves what was typed.
      if (target instanceof Node && area.current?.contains(target) === false) setTimeout(close);
    };
    document.addEventListener('pointerdown', onPointerDown);
    return () => document.removeEventListener('pointerdown', onPointerDown);
  }, [area, open, close]);
}
