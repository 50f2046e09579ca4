import { remotePrefix } from '../contract/index.ts';
import type { ModelService } from '../services/interfaces.ts';
import type { Refusal } from './replies.ts';

export type ChosenModel = {
  /** The model that must answer; null: whatever is loaded. */
  readonly id: string | null;
  /** What the reply names. */
  readonly shown: string;
};

type Choice = { readonly ok: true; readonly data: ChosenModel } | { readonly ok: false; readonly refusal: Refusal };

/**
 * What a request's `model` means now. A model that is not loaded is chosen only where requests may switch: else what
 * is loaded is for the person at the screen to decide.
 * @param wanted id or alias; null: whatever is loaded.
 */
export function chooseModel(models: ModelService, wanted: string | null): Choice {
  const id = wanted === null ? null : models.resolve(wanted);
  if (wanted !== null && id === null) return { ok: false, refusal: unknownModel(wanted) };
  if (id !== null && isRemoteModel(models, id)) return { ok: true, data: { id, shown: id } };
  const { state, model: loaded } = models.status();
  // A hibernated model is woken by the request itself.
  const model = loaded ?? models.hibernated();
  if (model !== null && (id === null || id === model.id)) return { ok: true, data: { id, shown: model.id } };
  if (models.maySwitch && id !== null) return { ok: true, data: { id, shown: id } };
  const headers = { 'retry-after': '5' };
  if (state === 'loading') {
    // Whoever named no model waits for the one that another request is switching to.
    if (models.maySwitch && id === null) return { ok: true, data: { id, shown: 'default' } };
    const message = 'The model is being loaded; try again in a moment.';
    return { ok: false, refusal: { status: 503, code: 'model_loading', message, headers } };
  }
  const message =
    model === null
      ? 'No model is loaded. Load one in Dormouse first.'
      : `The model loaded now is "${model.id}". --model-switch lets requests load another one.`;
  const code = model === null ? 'no_model' : 'model_not_loaded';
  return { ok: false, refusal: { status: 503, code, message, ...(model === null ? {} : { param: 'model' }) } };
}

/** Whether a remote engine answers it: then the local one, and what it has loaded, does not matter. */
function isRemoteModel(models: Pick<ModelService, 'known'>, model: string): boolean {
  return models.known().some(({ id, path }) => id === model && path.startsWith(remotePrefix));
}

export function unknownModel(id: string): Refusal {
  const message = `The model ${JSON.stringify(id.slice(0, 200))} does not exist here. GET /v1/models lists those that do.`;
  return { status: 404, code: 'model_not_found', message, param: 'model' };
}
