import type { ServerResponse } from 'node:http';
import { fail, type ErrorCode } from '../contract/index.ts';

/**
 * Which right a route needs and which error shape its callers understand. `messages` is the API in Anthropic's shape,
 * `control` the part of the API that changes what is loaded.
 */
export type Area = 'api' | 'messages' | 'control' | 'health' | 'ui' | 'page';

export type Refusal = {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  /** The field that is wrong, for the API. */
  readonly param?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

const json = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' };
const plain = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' };

export function jsonReply(body: unknown, status = 200): Response {
  return new Response(JSON.stringify(body), { status, headers: json });
}

/** The handler has written (or will never write) to the node response itself. */
export function alreadySent(): Response {
  return new Response(null, { headers: { 'x-hono-already-sent': 'true' } });
}

export function refuse(area: Area, refusal: Refusal): Response {
  const { body, headers } = refusalParts(area, refusal);
  return new Response(body, { status: refusal.status, headers });
}

/** The same reply for a request that never reaches a route. */
export function sendRefusal(outgoing: ServerResponse, area: Area, refusal: Refusal): void {
  const { body, headers } = refusalParts(area, refusal);
  outgoing.writeHead(refusal.status, { ...headers, 'content-length': Buffer.byteLength(body) });
  outgoing.end(body);
}

/** OpenAI's error object. */
export function apiErrorBody(refusal: Refusal) {
  const { message, code, param } = refusal;
  return { error: { message, type: errorType(refusal.status), param: param ?? null, code } };
}

/** Anthropic's error object. */
export function messagesErrorBody({ status, message }: Refusal) {
  return { type: 'error' as const, error: { type: messagesErrorType(status), message } };
}

function refusalParts(area: Area, refusal: Refusal): { body: string; headers: Record<string, string> } {
  switch (area) {
    case 'api':
    case 'control':
      return { body: JSON.stringify(apiErrorBody(refusal)), headers: { ...json, ...refusal.headers } };
    case 'messages':
      return { body: JSON.stringify(messagesErrorBody(refusal)), headers: { ...json, ...refusal.headers } };
    case 'ui':
      return {
        body: JSON.stringify(fail(contractCode(refusal.status), refusal.message)),
        headers: { ...json, ...refusal.headers },
      };
    case 'health':
    case 'page':
      return { body: `${refusal.message}\n`, headers: { ...plain, ...refusal.headers } };
  }
}

function errorType(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 403) return 'permission_error';
  if (status === 429) return 'rate_limit_error';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}

function messagesErrorType(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 403) return 'permission_error';
  if (status === 404) return 'not_found_error';
  if (status === 413) return 'request_too_large';
  if (status === 429) return 'rate_limit_error';
  if (status === 503) return 'overloaded_error';
  return status >= 500 ? 'api_error' : 'invalid_request_error';
}

function contractCode(status: number): ErrorCode {
  if (status === 401) return 'session_required';
  if (status === 403) return 'forbidden';
  if (status === 404) return 'unknown_request';
  return status >= 500 ? 'internal' : 'invalid_input';
}
