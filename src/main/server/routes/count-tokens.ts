import { readJson } from '../body.ts';
import { chooseModel } from '../choose-model.ts';
import { readCountRequest } from '../dialects/anthropic-request.ts';
import { failureRefusal } from '../dialects/failures.ts';
import { withModel, type AnswerDeps } from '../dialects/run-answer.ts';
import type { Handler } from '../exchange.ts';
import { alreadySent, jsonReply, refuse } from '../replies.ts';
import type { Route } from '../router.ts';

/** `POST /v1/messages/count_tokens`, in Anthropic's shape. */
export function countTokensRoutes(deps: AnswerDeps): readonly Route[] {
  return [{ method: 'POST', path: '/v1/messages/count_tokens', area: 'messages', handler: countTokens(deps) }];
}

function countTokens(deps: AnswerDeps): Handler {
  return async (context) => {
    const { gone, fields } = context.env.exchange;
    const body = await readJson(context, 'messages', deps.limits.bodyBytes);
    if (!body.ok) return body.response;
    const read = readCountRequest(body.data);
    if (!read.ok) return refuse('messages', read.refusal);
    const model = chooseModel(deps.models, read.data.model);
    if (!model.ok) return refuse('messages', model.refusal);
    const { prompt, tools } = read.data;
    fields['model'] = model.data.shown;
    const result = await withModel(deps, model.data, gone, () =>
      deps.completions.countTokens({ prompt, tools, model: model.data.id }),
    );
    if (gone.aborted) return alreadySent();
    if (!result.ok) {
      fields['error'] = result.error.code;
      const params = { prompt: 'messages', schema: 'tools' };
      return refuse(
        'messages',
        failureRefusal(result.error, params, () => deps.completions.retryAfterSeconds()),
      );
    }
    fields['promptTokens'] = result.data;
    fields['predictedTokens'] = 0;
    return jsonReply({ input_tokens: result.data });
  };
}
