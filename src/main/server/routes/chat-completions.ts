import type { Logger } from '../../base/index.ts';
import { fail, type Result } from '../../contract/index.ts';
import type { AnswerPart, Completion, CompletionService, ModelService } from '../../services/interfaces.ts';
import { readJson } from '../body.ts';
import { EventStream } from '../event-stream.ts';
import type { Handler, RouteContext } from '../exchange.ts';
import type { ServerLimits } from '../options.ts';
import { alreadySent, apiErrorBody, jsonReply, refuse, type Refusal } from '../replies.ts';
import type { Route } from '../router.ts';
import { closingChunks, deltaChunk, failureRefusal, partDelta, wholeReply, type ReplyHead } from './chat-reply.ts';
import { parseChatRequest, type ChatRequest } from './chat-request.ts';
import { isRemoteModel, unknownModel } from './models.ts';

export type ChatDeps = {
  readonly models: ModelService;
  readonly completions: CompletionService;
  readonly limits: ServerLimits;
  readonly logger: Logger;
  readonly random: (bytes: number) => Uint8Array;
};

export function chatRoutes(deps: ChatDeps): readonly Route[] {
  return [{ method: 'POST', path: '/v1/chat/completions', area: 'api', handler: chatCompletions(deps) }];
}

function chatCompletions(deps: ChatDeps): Handler {
  return async (context) => {
    const body = await readJson(context, 'api', deps.limits.bodyBytes);
    if (!body.ok) return body.response;
    const parsed = parseChatRequest(body.data);
    if (!parsed.ok) return refuse('api', parsed.refusal);
    const model = chooseModel(deps.models, parsed.data.model);
    if (!model.ok) return refuse('api', model.refusal);
    const head: ReplyHead = {
      id: `chatcmpl-${Buffer.from(deps.random(12)).toString('hex')}`,
      created: Math.floor(Date.now() / 1000),
      model: model.id,
    };
    return parsed.data.stream
      ? streamAnswer(deps, context, parsed.data, head)
      : wholeAnswer(deps, context, parsed.data, head);
  };
}

type Choice = { readonly ok: true; readonly id: string } | { readonly ok: false; readonly refusal: Refusal };

/** An API call never changes what is loaded: that is for the person at the screen to decide. */
function chooseModel(models: ModelService, wanted: string | null): Choice {
  if (wanted !== null && isRemoteModel(models, wanted)) return { ok: true, id: wanted };
  const { state, model: loaded } = models.status();
  // A hibernated model is woken by the request itself.
  const model = loaded ?? models.hibernated();
  if (wanted !== null && model?.id !== wanted && !models.known().some((known) => known.id === wanted)) {
    return { ok: false, refusal: unknownModel(wanted) };
  }
  if (model !== null && (wanted === null || wanted === model.id)) return { ok: true, id: model.id };
  const headers = { 'retry-after': '5' };
  if (state === 'loading') {
    const message = 'The model is being loaded; try again in a moment.';
    return { ok: false, refusal: { status: 503, code: 'model_loading', message, headers } };
  }
  const message =
    model === null ? 'No model is loaded. Load one in Dormouse first.' : `The model loaded now is "${model.id}".`;
  const code = model === null ? 'no_model' : 'model_not_loaded';
  return { ok: false, refusal: { status: 503, code, message, ...(model === null ? {} : { param: 'model' }) } };
}

async function wholeAnswer(deps: ChatDeps, context: RouteContext, request: ChatRequest, head: ReplyHead) {
  const result = await complete(deps, context, request, () => undefined);
  if (context.env.exchange.gone.aborted) return alreadySent();
  return result.ok ? jsonReply(wholeReply(head, result.data)) : refuse('api', failureRefusal(result.error));
}

async function streamAnswer(deps: ChatDeps, context: RouteContext, request: ChatRequest, head: ReplyHead) {
  const { outgoing, exchange } = context.env;
  const { answerQueueBytes: queueBytes, answerHeartbeatMs: heartbeatMs } = deps.limits;
  const stream = new EventStream(outgoing, { queueBytes, heartbeatMs });
  const send = (body: object) => stream.send(JSON.stringify(body));
  const open = () => {
    if (stream.started || exchange.gone.aborted) return;
    stream.start();
    send(deltaChunk(head, { role: 'assistant', content: '' }));
  };
  // Not opened at once: an error before the first token can then still have its own status.
  const patience = setTimeout(open, heartbeatMs);
  patience.unref();
  const result = await complete(deps, context, request, (part) => {
    open();
    send(deltaChunk(head, partDelta(part)));
  });
  clearTimeout(patience);
  if (exchange.gone.aborted) return alreadySent();
  if (!result.ok) {
    const refusal = failureRefusal(result.error);
    if (!stream.started) return refuse('api', refusal);
    send(apiErrorBody(refusal));
  } else {
    open();
    for (const chunk of closingChunks(head, result.data, request.includeUsage)) send(chunk);
    stream.send('[DONE]');
  }
  stream.end();
  return alreadySent();
}

async function complete(
  deps: ChatDeps,
  context: RouteContext,
  request: ChatRequest,
  onPart: (part: AnswerPart) => void,
): Promise<Result<Completion>> {
  const { gone, fields } = context.env.exchange;
  const { turns, sampling, stop } = request;
  const rest = {
    logitBias: new Map(),
    output: { kind: 'text' as const },
    tools: null,
    model: isRemoteModel(deps.models, request.model) ? request.model : null,
  };
  try {
    const result = await deps.completions.complete(
      { prompt: { kind: 'chat', turns }, sampling, stop, ...rest },
      onPart,
      gone,
    );
    if (result.ok) {
      fields['promptTokens'] = result.data.timings.promptTokens;
      fields['predictedTokens'] = result.data.timings.predictedTokens;
    } else {
      fields['error'] = result.error.code;
    }
    return result;
  } catch (error) {
    deps.logger.error('A completion threw', { error: error instanceof Error ? error.name : typeof error });
    return fail('internal', 'Something went wrong inside Dormouse; its log says what.');
  }
}
