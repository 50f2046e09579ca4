import { z } from 'zod';
import type { ModelService } from '../../services/interfaces.ts';
import { readJson } from '../body.ts';
import { unknownModel } from '../choose-model.ts';
import { failureRefusal } from '../dialects/failures.ts';
import { readWith } from '../dialects/read-request.ts';
import type { Handler, RouteContext } from '../exchange.ts';
import { isLoopbackHost, isLoopbackPeer } from '../hosts.ts';
import type { ServerLimits } from '../options.ts';
import { jsonReply, refuse } from '../replies.ts';
import type { Route } from '../router.ts';

export type ControlDeps = {
  readonly models: ModelService;
  readonly limits: ServerLimits;
  /** Where the server listens now. */
  readonly host: () => string;
};

/** The body of `POST /v1/load`. */
export const loadRequestSchema = z.object({
  /** A known id, an alias, `builtin`, or from this computer the path of a GGUF file. */
  model: z.string().min(1).max(4096),
});

/** `POST /v1/load` and `/v1/unload`: they change what everybody gets, so they need the key or our own page. */
export function controlRoutes(deps: ControlDeps): readonly Route[] {
  return [
    { method: 'POST', path: '/v1/load', area: 'control', handler: load(deps) },
    { method: 'POST', path: '/v1/unload', area: 'control', handler: unload(deps) },
  ];
}

function load(deps: ControlDeps): Handler {
  return async (context) => {
    const body = await readJson(context, 'control', deps.limits.bodyBytes);
    if (!body.ok) return body.response;
    const read = readWith(loadRequestSchema, body.data);
    if (!read.ok) return refuse('control', read.refusal);
    const wanted = read.data.model;
    const known = deps.models.resolve(wanted);
    const target = known === null ? wanted : deps.models.known().find(({ id }) => id === known)?.path;
    if (target === undefined || (known === null && !(looksLikePath(wanted) && isNear(context, deps.host())))) {
      return refuse('control', unknownModel(wanted));
    }
    // What a program loads is not what the next start should load.
    const result = await deps.models.load(known === 'builtin' ? 'builtin' : target, { remember: false });
    if (!result.ok) return refuse('control', failed(result.error));
    const { id, name, path, contextSize } = result.data;
    context.env.exchange.fields['model'] = id;
    return jsonReply({ status: 'loaded', model: { id, name, path, contextSize } });
  };
}

function unload(deps: ControlDeps): Handler {
  return async (context) => {
    const body = await readJson(context, 'control', deps.limits.bodyBytes);
    if (!body.ok) return body.response;
    const result = await deps.models.unload();
    return result.ok ? jsonReply({ status: 'unloaded' }) : refuse('control', failed(result.error));
  };
}

function failed(error: Parameters<typeof failureRefusal>[0]) {
  const refusal = failureRefusal(error, { prompt: 'model', schema: 'model' }, () => 1);
  // A file that cannot be loaded is the caller's mistake, not ours.
  return error.code.startsWith('model_') && refusal.status >= 500
    ? { ...refusal, status: 400, code: error.code, param: 'model' }
    : refusal;
}

/** From afar nobody may make this computer open a file of their choice. */
function isNear(context: RouteContext, host: string): boolean {
  return isLoopbackHost(host) || isLoopbackPeer(context.env.incoming.socket.remoteAddress);
}

function looksLikePath(model: string): boolean {
  return /\.gguf$/i.test(model) && !model.includes('\0');
}
