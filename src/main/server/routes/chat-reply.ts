import type { AppError, ErrorCode, Timings } from '../../contract/index.ts';
import type { AnswerPart, Completion } from '../../services/interfaces.ts';
import type { Refusal } from '../replies.ts';
import { remoteFailures } from './remote-failures.ts';

/** What every piece of one answer repeats. */
export type ReplyHead = { readonly id: string; readonly created: number; readonly model: string };

type Delta = { readonly role?: 'assistant'; readonly content?: string; readonly reasoning_content?: string };

/** The answer in one piece, as `chat.completion`. */
export function wholeReply(head: ReplyHead, completion: Completion) {
  const thought = completion.thought === '' ? {} : { reasoning_content: completion.thought };
  const message = { role: 'assistant', content: completion.text, refusal: null, ...thought };
  return {
    ...head,
    object: 'chat.completion',
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReason(completion.end) }],
    usage: usageOf(completion.timings),
    timings: llamaTimings(completion.timings),
  };
}

export function partDelta(part: AnswerPart): Delta {
  switch (part.kind) {
    case 'text':
      return { content: part.text };
    case 'thought':
      return { reasoning_content: part.text };
    case 'tool_call':
      return {};
  }
}

/** A `chat.completion.chunk` that carries text. */
export function deltaChunk(head: ReplyHead, delta: Delta) {
  return chunk(head, [{ index: 0, delta, logprobs: null, finish_reason: null }]);
}

/** The chunks behind the last text: the reason, and usage when it was asked for. Timings ride on the last one. */
export function closingChunks(head: ReplyHead, completion: Completion, includeUsage: boolean): readonly object[] {
  const reason = finishReason(completion.end);
  const finish = chunk(head, [{ index: 0, delta: {}, logprobs: null, finish_reason: reason }]);
  const timings = llamaTimings(completion.timings);
  if (!includeUsage) return [{ ...finish, timings }];
  return [finish, { ...chunk(head, []), usage: usageOf(completion.timings), timings }];
}

function chunk(head: ReplyHead, choices: readonly object[]) {
  return { ...head, object: 'chat.completion.chunk', choices };
}

function finishReason(reason: Completion['end']): 'stop' | 'length' {
  switch (reason) {
    case 'end':
    case 'stop_string':
    case 'stopped':
    case 'tool_calls':
      return 'stop';
    case 'max_tokens':
    case 'context_full':
      return 'length';
  }
}

function usageOf(timings: Timings) {
  return {
    prompt_tokens: timings.promptTokens,
    completion_tokens: timings.predictedTokens,
    total_tokens: timings.promptTokens + timings.predictedTokens,
    prompt_tokens_details: { cached_tokens: timings.promptTokens - timings.promptTokensEvaluated },
  };
}

/** llama.cpp's names; `prompt_n` counts evaluated tokens only, as there. */
export function llamaTimings(timings: Timings) {
  return {
    cache_n: timings.promptTokens - timings.promptTokensEvaluated,
    prompt_n: timings.promptTokensEvaluated,
    prompt_ms: timings.prefillMs,
    predicted_n: timings.predictedTokens,
    predicted_ms: timings.predictedMs,
    predicted_per_second: timings.tokensPerSecond,
  };
}

const knownFailures: Partial<
  Record<ErrorCode, { readonly status: number; readonly code: string; readonly param?: string }>
> = {
  prompt_too_long: { status: 400, code: 'context_length_exceeded', param: 'messages' },
  prompt_empty: { status: 400, code: 'prompt_empty', param: 'messages' },
  invalid_input: { status: 400, code: 'invalid_value' },
  no_model: { status: 503, code: 'no_model' },
  // Of a hibernated model that could not be woken.
  load_cancelled: { status: 503, code: 'load_cancelled' },
  model_not_found: { status: 503, code: 'model_not_found' },
  model_load_failed: { status: 503, code: 'model_load_failed' },
  out_of_memory: { status: 503, code: 'out_of_memory' },
  engine_closed: { status: 503, code: 'engine_closed' },
  ...remoteFailures,
};

/** An error value of the service as a reply of the API. */
export function failureRefusal(error: AppError): Refusal {
  const known = knownFailures[error.code] ?? { status: 500, code: error.code };
  const message = error.hint === undefined ? error.message : `${error.message} ${error.hint}`;
  const { retryAfterSeconds } = error;
  return {
    ...known,
    message,
    ...(retryAfterSeconds === undefined ? {} : { headers: { 'retry-after': String(retryAfterSeconds) } }),
  };
}
