import { remotePrefix } from '../../contract/index.ts';
import type { ModelService } from '../../services/interfaces.ts';
import { jsonReply, refuse, type Refusal } from '../replies.ts';
import type { Route } from '../router.ts';

/** `GET /v1/models` and one of them by id, in OpenAI's shape. */
export function modelRoutes(models: ModelService, startedAt: number): readonly Route[] {
  const entry = (id: string) => ({ id, object: 'model', created: Math.floor(startedAt / 1000), owned_by: 'dormouse' });
  return [
    {
      method: 'GET',
      path: '/v1/models',
      area: 'api',
      handler: () => jsonReply({ object: 'list', data: models.known().map((model) => entry(model.id)) }),
    },
    {
      method: 'GET',
      // Names of remote models hold slashes.
      path: '/v1/models/:id{.+}',
      area: 'api',
      handler: (context) => {
        const id = context.req.param('id') ?? '';
        const found = models.known().some((model) => model.id === id);
        return found ? jsonReply(entry(id)) : refuse('api', unknownModel(id));
      },
    },
  ];
}

/** Whether a request's `model` is answered by a remote engine: then the local one, and what it has loaded, does not matter. */
export function isRemoteModel(models: Pick<ModelService, 'known'>, model: string | null): boolean {
  return model !== null && models.known().some(({ id, path }) => id === model && path.startsWith(remotePrefix));
}

export function unknownModel(id: string): Refusal {
  const message = `The model ${JSON.stringify(id.slice(0, 200))} does not exist here. GET /v1/models lists those that do.`;
  return { status: 404, code: 'model_not_found', message, param: 'model' };
}
