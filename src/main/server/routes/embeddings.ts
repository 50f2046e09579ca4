import { readJson } from '../body.ts';
import { chooseModel } from '../choose-model.ts';
import { failureRefusal } from '../dialects/failures.ts';
import { embeddingsReply, readEmbeddingsRequest } from '../dialects/openai-embeddings.ts';
import { withModel, type AnswerDeps } from '../dialects/run-answer.ts';
import type { Handler } from '../exchange.ts';
import { alreadySent, jsonReply, refuse } from '../replies.ts';
import type { Route } from '../router.ts';

export function embeddingsRoutes(deps: AnswerDeps): readonly Route[] {
  return [{ method: 'POST', path: '/v1/embeddings', area: 'api', handler: embed(deps) }];
}

function embed(deps: AnswerDeps): Handler {
  return async (context) => {
    const { gone, fields } = context.env.exchange;
    const body = await readJson(context, 'api', deps.limits.bodyBytes);
    if (!body.ok) return body.response;
    const read = readEmbeddingsRequest(body.data);
    if (!read.ok) return refuse('api', read.refusal);
    const model = chooseModel(deps.models, read.data.model);
    if (!model.ok) return refuse('api', model.refusal);
    const { inputs, base64 } = read.data;
    const { id, shown } = model.data;
    fields['model'] = shown;
    const result = await withModel(deps, model.data, gone, () => deps.completions.embed({ inputs, model: id }, gone));
    if (gone.aborted) return alreadySent();
    if (!result.ok) {
      fields['error'] = result.error.code;
      const params = { prompt: 'input', schema: 'input' };
      return refuse(
        'api',
        failureRefusal(result.error, params, () => deps.completions.retryAfterSeconds()),
      );
    }
    fields['promptTokens'] = result.data.promptTokens;
    fields['predictedTokens'] = 0;
    return jsonReply(embeddingsReply(shown, result.data, base64));
  };
}
