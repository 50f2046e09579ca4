import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ExchangeEntry } from '../contract/index.ts';
import type { Exchange } from './exchange.ts';
import { isLoopbackPeer } from './hosts.ts';

/** What the request log shows of an exchange. @param totalMs null while it runs. */
export function exchangeEntry(
  exchange: Exchange,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  totalMs: number | null,
): ExchangeEntry {
  const { id, startedAt, route, timings, fields, gone } = exchange;
  const { model } = fields;
  return {
    id,
    startedAt,
    method: methodName(incoming.method),
    route,
    model: typeof model === 'string' ? model : null,
    client: clientKind(incoming.socket.remoteAddress),
    // Nobody saw a status before the head was sent.
    status: totalMs !== null && outgoing.headersSent ? outgoing.statusCode : null,
    running: totalMs === null,
    aborted: gone.aborted,
    promptTokens: count(fields['promptTokens']),
    answerTokens: count(fields['predictedTokens']),
    queuedMs: timings?.queuedMs ?? null,
    prefillMs: timings?.prefillMs ?? null,
    decodeMs: timings?.predictedMs ?? null,
    totalMs,
  };
}

/** A client may send any word as its method; the log shows those that mean something. */
function methodName(method: string | undefined): string {
  return method !== undefined && /^[A-Z]{1,10}$/.test(method) ? method : '?';
}

function count(value: string | number | boolean | undefined): number | null {
  return typeof value === 'number' ? Math.round(value) : null;
}

const privatePeer =
  /^(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|169\.254\.|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|f[cd]|fe[89ab])/i;

/** How far away a peer is, by its address alone. */
export function clientKind(address: string | undefined): ExchangeEntry['client'] {
  if (isLoopbackPeer(address)) return 'this';
  return privatePeer.test((address ?? '').replace(/^::ffff:/i, '')) ? 'network' : 'internet';
}
