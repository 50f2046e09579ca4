import { fail, ok, type Result } from '../contract/index.ts';
import type { AnswerPart, WholeAnswer } from '../engine/index.ts';
import { exchange, type ExchangeLimits } from './http-exchange.ts';
import { AnswerReader } from './remote-answer.ts';
import { chatRequest, type RemoteChat } from './remote-request.ts';

export type RemoteEndpoint = { readonly baseUrl: string; readonly key: string | null };

export type RemoteClientOptions = {
  /** Monotonic clock in ms. */
  readonly now: () => number;
  readonly answerLimits?: Partial<ExchangeLimits>;
  /** For lists of models and for embeddings. */
  readonly shortLimits?: Partial<ExchangeLimits>;
};

/** Nobody writes answers this long; a server that does is broken. */
const answerLimits: ExchangeLimits = { connectMs: 10_000, silenceMs: 300_000, bodyBytes: 256 * 1024 * 1024 };
const shortLimits: ExchangeLimits = { connectMs: 10_000, silenceMs: 15_000, bodyBytes: 16 * 1024 * 1024 };
const mostModels = 500;
const longestModelId = 200;

/** Requests to OpenAI-compatible servers. Holds nothing between two of them. */
export class RemoteClient {
  readonly #now: () => number;
  readonly #answerLimits: ExchangeLimits;
  readonly #shortLimits: ExchangeLimits;

  constructor(options: RemoteClientOptions) {
    this.#now = options.now;
    this.#answerLimits = { ...answerLimits, ...options.answerLimits };
    this.#shortLimits = { ...shortLimits, ...options.shortLimits };
  }

  /** Ids of the models there: `GET /models`. */
  async models(endpoint: RemoteEndpoint, signal: AbortSignal): Promise<Result<readonly string[]>> {
    const reply = await this.#json(endpoint, '/models', null, signal);
    if (!reply.ok) {
      if (reply.error.code !== 'remote_model_not_found') return reply;
      const message = `There is no list of models at ${endpoint.baseUrl}/models (HTTP 404).`;
      return fail('remote_failed', message, 'The base URL usually ends in /v1.');
    }
    const list = isRecord(reply.data) && Array.isArray(reply.data['data']) ? reply.data['data'] : null;
    if (list === null) {
      const message = `What ${endpoint.baseUrl}/models answers is no list of models.`;
      return fail('remote_failed', message, 'The base URL of an OpenAI-compatible server usually ends in /v1.');
    }
    const ids = list.flatMap((model: unknown) => (isRecord(model) && isModelId(model['id']) ? [model['id']] : []));
    return ok([...new Set(ids)].slice(0, mostModels));
  }

  /**
   * Streams an answer. An abort closes the connection at once and gives what had come, with `end: 'stopped'`.
   * @param onPart called for each piece, in order, before the promise settles.
   */
  async answer(
    endpoint: RemoteEndpoint,
    chat: RemoteChat,
    onPart: (part: AnswerPart) => void,
    signal: AbortSignal,
  ): Promise<Result<WholeAnswer>> {
    const reader = new AnswerReader((part) => (signal.aborted ? undefined : onPart(part)), this.#now);
    if (signal.aborted) return ok(reader.stopped());
    const { path, body } = chatRequest(chat);
    const enough = new AbortController();
    const both = AbortSignal.any([signal, enough.signal]);
    const request = { ...endpoint, url: `${endpoint.baseUrl}${path}`, body, limits: this.#answerLimits, signal: both };
    const result = await exchange(request, (text) => {
      if (!reader.push(text)) enough.abort();
    });
    if (signal.aborted) return ok(reader.stopped());
    // Cut off by us, since nothing more need be read.
    if (enough.signal.aborted) return reader.finish();
    return result.ok ? reader.finish() : result;
  }

  /** @param inputs texts, or lists of token ids. */
  async embed(
    endpoint: RemoteEndpoint,
    model: string,
    inputs: readonly (string | readonly number[])[],
    signal: AbortSignal,
  ): Promise<Result<{ readonly vectors: readonly (readonly number[])[]; readonly promptTokens: number }>> {
    const body = JSON.stringify({ model, input: inputs, encoding_format: 'float' });
    const reply = await this.#json(endpoint, '/embeddings', body, signal, this.#answerLimits);
    if (!reply.ok) return reply;
    const list = isRecord(reply.data) && Array.isArray(reply.data['data']) ? reply.data['data'] : [];
    const vectors = list.flatMap((entry: unknown) =>
      isRecord(entry) && isVector(entry['embedding']) ? [entry['embedding']] : [],
    );
    if (vectors.length !== inputs.length)
      return fail('remote_failed', 'The remote engine did not answer with embeddings.');
    const usage = isRecord(reply.data) && isRecord(reply.data['usage']) ? reply.data['usage'] : {};
    const tokens = usage['prompt_tokens'];
    return ok({ vectors, promptTokens: typeof tokens === 'number' ? tokens : 0 });
  }

  async #json(
    { baseUrl, key }: RemoteEndpoint,
    path: string,
    body: string | null,
    signal: AbortSignal,
    limits = this.#shortLimits,
  ): Promise<Result<unknown>> {
    let text = '';
    const result = await exchange({ url: `${baseUrl}${path}`, key, body, limits, signal }, (piece) => (text += piece));
    if (!result.ok) return result;
    try {
      return ok(JSON.parse(text) as unknown);
    } catch {
      const message = `What answers at ${baseUrl}${path} sends no JSON.`;
      return fail('remote_failed', message, 'The base URL of an OpenAI-compatible server usually ends in /v1.');
    }
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isModelId(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= longestModelId && !/\p{Cc}/u.test(value);
}

function isVector(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === 'number');
}
