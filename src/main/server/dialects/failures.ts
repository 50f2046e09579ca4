import type { AppError, ErrorCode } from '../../contract/index.ts';
import type { Refusal } from '../replies.ts';
import type { AnswerDialect } from './dialect.ts';
import { remoteFailures } from './remote-failures.ts';

type Known = { readonly status: number; readonly code: string; readonly about?: keyof AnswerDialect['params'] };

const knownFailures: Partial<Record<ErrorCode, Known>> = {
  prompt_too_long: { status: 400, code: 'context_length_exceeded', about: 'prompt' },
  prompt_empty: { status: 400, code: 'prompt_empty', about: 'prompt' },
  invalid_input: { status: 400, code: 'invalid_value', about: 'prompt' },
  schema_unsupported: { status: 400, code: 'schema_unsupported', about: 'schema' },
  embedding_unsupported: { status: 400, code: 'embedding_unsupported' },
  queue_full: { status: 429, code: 'queue_full' },
  no_model: { status: 503, code: 'no_model' },
  model_changed: { status: 503, code: 'model_changed' },
  // Of a model that could not be woken, or switched to.
  load_cancelled: { status: 503, code: 'load_cancelled' },
  model_not_found: { status: 503, code: 'model_not_found' },
  model_load_failed: { status: 503, code: 'model_load_failed' },
  out_of_memory: { status: 503, code: 'out_of_memory' },
  engine_closed: { status: 503, code: 'engine_closed' },
  ...remoteFailures,
};

/**
 * An error value of the service as a reply of the API.
 * @param retryAfterSeconds asked only where a full queue is told; a remote engine says its own time.
 */
export function failureRefusal(
  error: AppError,
  params: AnswerDialect['params'],
  retryAfterSeconds: () => number,
): Refusal {
  const { status, code, about } = knownFailures[error.code] ?? { status: 500, code: error.code };
  const message = error.hint === undefined ? error.message : `${error.message} ${error.hint}`;
  const retryAfter = error.retryAfterSeconds ?? (status === 429 ? retryAfterSeconds() : undefined);
  return {
    status,
    code,
    message,
    ...(about === undefined ? {} : { param: params[about] }),
    ...(retryAfter === undefined ? {} : { headers: { 'retry-after': String(retryAfter) } }),
  };
}
