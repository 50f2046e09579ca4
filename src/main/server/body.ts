import type { IncomingMessage } from 'node:http';
import type { RouteContext } from './exchange.ts';
import { alreadySent, refuse, type Area, type Refusal } from './replies.ts';

export type Body = { readonly ok: true; readonly data: unknown } | { readonly ok: false; readonly response: Response };

/** What is wrong with a body judging by the head alone; null when it may be read. */
export function checkBodyHead(incoming: IncomingMessage, limit: number): Refusal | null {
  const { headers } = incoming;
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json') {
    return {
      status: 415,
      code: 'unsupported_media_type',
      message: 'The body must be JSON with "content-type: application/json".',
    };
  }
  const encoding = headers['content-encoding']?.toLowerCase() ?? 'identity';
  if (encoding !== 'identity') {
    return { status: 415, code: 'unsupported_media_type', message: 'Compressed bodies are not accepted.' };
  }
  return Number(headers['content-length'] ?? 0) > limit ? tooLarge(limit) : null;
}

/** Reads and parses a JSON body of at most `limit` bytes, whatever its head claimed. */
export async function readJson(context: RouteContext, area: Area, limit: number): Promise<Body> {
  const { incoming, outgoing } = context.env;
  if (incoming.headers.expect?.toLowerCase() === '100-continue') outgoing.writeContinue();
  const bytes = await readBytes(incoming, limit);
  if (bytes === 'gone') return { ok: false, response: alreadySent() };
  if (bytes === 'too large') return { ok: false, response: refuse(area, tooLarge(limit)) };
  try {
    return { ok: true, data: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) };
  } catch {
    const message = 'The body is not valid JSON in UTF-8.';
    return { ok: false, response: refuse(area, { status: 400, code: 'invalid_json', message }) };
  }
}

function readBytes(incoming: IncomingMessage, limit: number): Promise<Buffer | 'gone' | 'too large'> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const finish = (result: Buffer | 'gone' | 'too large') => {
      incoming.off('data', onData).off('end', onEnd).off('close', onGone).off('error', onGone);
      incoming.pause();
      resolve(result);
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size > limit) return finish('too large');
      chunks.push(chunk);
    };
    const onEnd = () => finish(Buffer.concat(chunks));
    const onGone = () => finish('gone');
    // A late `error` (the client resets while we answer) must not become an uncaught exception.
    incoming.on('error', () => undefined);
    incoming.on('data', onData).on('end', onEnd).on('close', onGone).on('error', onGone);
    if (incoming.destroyed && !incoming.readableEnded) onGone();
  });
}

function tooLarge(limit: number): Refusal {
  return {
    status: 413,
    code: 'request_too_large',
    message: `The body is larger than the ${limit} bytes this server takes.`,
  };
}
