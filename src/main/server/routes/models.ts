import type { ModelService } from '../../services/interfaces.ts';
import { unknownModel } from '../choose-model.ts';
import type { RouteContext } from '../exchange.ts';
import { jsonReply, refuse } from '../replies.ts';
import type { Route } from '../router.ts';

type Listed = { readonly id: string; readonly aliasOf: string | null };

/** `GET /v1/models` and one of them by id: in OpenAI's shape, for Anthropic's clients in theirs. Aliases are listed too. */
export function modelRoutes(models: ModelService, startedAt: number): readonly Route[] {
  const openAi = ({ id, aliasOf }: Listed) => ({
    ...{ id, object: 'model', created: Math.floor(startedAt / 1000), owned_by: 'dormouse' },
    ...(aliasOf === null ? {} : { alias_of: aliasOf }),
  });
  const anthropic = ({ id }: Listed) => ({
    ...{ id, type: 'model', display_name: id, created_at: new Date(startedAt).toISOString() },
  });
  const listed = (): readonly Listed[] => [
    ...models.known().map(({ id }) => ({ id, aliasOf: null })),
    ...[...models.aliases()].map(([id, aliasOf]) => ({ id, aliasOf })),
  ];
  const list = (context: RouteContext) => {
    const all = listed();
    if (!isAnthropic(context)) return jsonReply({ object: 'list', data: all.map(openAi) });
    const ends = { first_id: all[0]?.id ?? null, last_id: all.at(-1)?.id ?? null, has_more: false };
    return jsonReply({ data: all.map(anthropic), ...ends });
  };
  const one = (context: RouteContext) => {
    const id = context.req.param('id') ?? '';
    const found = listed().find((model) => model.id === id);
    const area = isAnthropic(context) ? 'messages' : 'api';
    if (found === undefined) return refuse(area, unknownModel(id));
    return jsonReply(area === 'messages' ? anthropic(found) : openAi(found));
  };
  return [
    { method: 'GET', path: '/v1/models', area: 'api', handler: list },
    // Names of remote models hold slashes.
    { method: 'GET', path: '/v1/models/:id{.+}', area: 'api', handler: one },
  ];
}

function isAnthropic(context: RouteContext): boolean {
  return context.req.header('anthropic-version') !== undefined;
}
