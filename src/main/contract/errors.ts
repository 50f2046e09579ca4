import { z } from 'zod';

/** Every error a request can answer with. One word per cause; the UI may switch on it, the text may change. */
export const errorCodes = [
  'invalid_input',
  'unknown_request',
  'forbidden',
  'session_required',
  'ticket_invalid',
  'disconnected',
  'internal',
  'model_not_found',
  'model_is_folder',
  'model_empty',
  'model_not_gguf',
  'model_truncated',
  'model_unsupported_architecture',
  'model_unsupported_format',
  'model_vocabulary_only',
  'model_unreadable',
  'model_shard_missing',
  'model_load_failed',
  'out_of_memory',
  /** Experts and layers cannot be placed as asked for. */
  'placement_impossible',
  /** The graphics backend that was asked for cannot be used here. */
  'gpu_unavailable',
  /** Takes effect only in a new process. */
  'restart_required',
  'load_cancelled',
  'no_model',
  'model_changed',
  'engine_closed',
  /** What was asked for needs the expert pool, or a worker of it. */
  'pool_not_installed',
  'prompt_empty',
  'prompt_too_long',
  'generation_failed',
  /** As many requests wait as may wait. */
  'queue_full',
  /** A JSON schema, or a tool, that no model can be held to here. */
  'schema_unsupported',
  'embedding_unsupported',
  'conversation_not_found',
  'conversation_busy',
  'message_not_found',
  'stream_not_found',
  /** The disk is full, the folder cannot be written, or it is gone. */
  'storage_failed',
  'port_taken',
  'port_forbidden',
  'address_invalid',
  'api_key_required',
  /** The engine behind a remote address: cannot be reached, refuses the key, has no such model, is busy, refuses, breaks. */
  'remote_unreachable',
  'remote_timeout',
  'remote_unauthorized',
  'remote_model_not_found',
  'remote_busy',
  'remote_refused',
  'remote_failed',
  'remote_not_found',
  'remote_invalid',
] as const;

export const errorCodeSchema = z.enum(errorCodes);
export type ErrorCode = z.infer<typeof errorCodeSchema>;

/** What went wrong (`message`) and what to do about it (`hint`), both in words for the person at the screen. */
export const appErrorSchema = z.object({
  code: errorCodeSchema,
  message: z.string(),
  hint: z.string().optional(),
  /** When the other side said so: seconds after which to try again. */
  retryAfterSeconds: z.number().optional(),
});
export type AppError = z.infer<typeof appErrorSchema>;

/** An expected failure is a value, never an exception. Also the envelope of every reply. */
export type Result<T> = { readonly ok: true; readonly data: T } | { readonly ok: false; readonly error: AppError };

export function ok(): Result<void>;
export function ok<T>(data: T): Result<T>;
export function ok<T>(data?: T): Result<T | undefined> {
  return { ok: true, data };
}

export function fail(
  code: ErrorCode,
  message: string,
  hint?: string,
): { readonly ok: false; readonly error: AppError } {
  return { ok: false, error: hint === undefined ? { code, message } : { code, message, hint } };
}
