import { basename } from 'node:path';
import type { EngineModels, SettingsService } from './services/index.ts';
import type { UnfinishedLoad } from './store/index.ts';

export type FirstModelDependencies = {
  readonly models: Pick<EngineModels, 'firstModel' | 'load' | 'pathOf'>;
  readonly settings: SettingsService;
  /** Loads that the last process did not survive. */
  readonly left: readonly UnfinishedLoad[];
  readonly onNotice: (text: string) => void;
};

/**
 * Loads the model of this start; the page shows the progress. A last model that cannot be loaded any more gives way to
 * the built-in one, and one that took the process down with it is not loaded again unless it is asked for.
 */
export async function loadFirstModel({ models, settings, left, onNotice }: FirstModelDependencies): Promise<void> {
  const { model, asked } = models.firstModel();
  const suspect = left.at(-1);
  if (suspect !== undefined) {
    const isSuspect = models.pathOf(model) === models.pathOf(suspect.model);
    onNotice(crashNotice(suspect, isSuspect && asked));
    // Forgotten, so that the start after this one does not walk into it again.
    if (settings.value.lastModel === suspect.model) await settings.set({ lastModel: null });
    if (isSuspect && !asked) return loadBuiltinInstead(models, suspect);
  }
  const loaded = await models.load(model, { remember: asked });
  if (loaded.ok || loaded.error.code === 'engine_closed' || loaded.error.code === 'load_cancelled') return;
  if (asked || model === 'builtin') return onNotice(`${loaded.error.message} ${loaded.error.hint ?? ''}`.trim());
  onNotice(`The model of last time could not be loaded, so the built-in one is. ${loaded.error.message}`);
  await models.load('builtin', { remember: false });
}

async function loadBuiltinInstead(models: FirstModelDependencies['models'], suspect: UnfinishedLoad): Promise<void> {
  if (suspect.model !== 'builtin') await models.load('builtin', { remember: false });
}

/** What happened, what is safe, what to try. */
function crashNotice({ model, stage }: UnfinishedLoad, again: boolean): string {
  const name = model === 'builtin' ? 'the built-in model' : basename(model);
  const when = stage === 'load' ? `while ${name} was being loaded` : `while ${name} computed its first token`;
  const now = again ? 'It is tried again, because you asked for it.' : 'It was not loaded again.';
  return (
    `Dormouse ended unexpectedly ${when}. ${now} Your chats are safe. If it happens again, try it with a smaller ` +
    '--context, with --gpu off, or with --pool off; the log has what came before.'
  );
}
