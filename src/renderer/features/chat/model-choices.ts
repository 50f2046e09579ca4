import { en } from './en.ts';

interface ListedModel {
  readonly id: string;
  readonly path: string;
  readonly loaded: boolean;
  readonly remote: boolean;
}

export interface ModelChoice {
  /** `builtin` or a path, as `conversation.configure` takes it. */
  readonly value: string;
  readonly label: string;
}

/** The built-in model, those that main knows, and the chosen one even if main does not know it (yet). */
export function modelChoices(models: readonly ListedModel[], chosen: string | null): readonly ModelChoice[] {
  const choices = new Map<string, string>([['builtin', en.modelBuiltin]]);
  for (const { id, path, remote } of models) if (id !== 'builtin') choices.set(path, remote ? en.modelRemote(id) : id);
  if (chosen !== null && !choices.has(chosen))
    choices.set(chosen, chosen.startsWith('remote:') ? en.modelRemoved : fileName(chosen));
  const loaded = models.find((model) => model.loaded);
  const loadedValue = loaded?.id === 'builtin' ? 'builtin' : loaded?.path;
  return [...choices].map(([value, label]) => ({
    value,
    label: value === loadedValue ? en.modelLoaded(label) : label,
  }));
}

export function fileName(path: string): string {
  return path.split(/[\\/]/).at(-1) ?? path;
}
