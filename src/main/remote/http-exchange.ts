import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { ok, type Result } from '../contract/index.ts';
import { brokenAnswer, connectionFailure, statusFailure, timeFailure, wordsOf } from './remote-failures.ts';

/** Bounds of one exchange, in ms and bytes. */
export type ExchangeLimits = {
  readonly connectMs: number;
  /** Longest time without a byte. A long prompt is read in silence by servers that send no heartbeats. */
  readonly silenceMs: number;
  readonly bodyBytes: number;
};

export type ExchangeRequest = {
  readonly url: string;
  readonly key: string | null;
  /** null: GET. */
  readonly body: string | null;
  readonly limits: ExchangeLimits;
  readonly signal: AbortSignal;
};

const errorBodyBytes = 64 * 1024;

/**
 * Sends one request over a connection of its own and gives the pieces of its answer to `onText` as they come.
 * @returns once all of it has come. After an abort: at once, with whatever result.
 */
export async function exchange(request: ExchangeRequest, onText: (text: string) => void): Promise<Result<void>> {
  const opened = await open(request);
  if (!opened.ok) return opened;
  const { response } = opened.data;
  const status = response.statusCode ?? 0;
  if (status !== 200) {
    let words = '';
    await read(response, { ...request.limits, bodyBytes: errorBodyBytes }, (text) => (words += text));
    return statusFailure(status, wordsOf(words), response.headers);
  }
  return read(response, request.limits, onText);
}

function open({ url, key, body, limits, signal }: ExchangeRequest): Promise<Result<{ response: IncomingMessage }>> {
  const target = new URL(url);
  const send = target.protocol === 'https:' ? https.request : http.request;
  const headers = {
    accept: 'application/json, text/event-stream',
    'user-agent': 'dormouse',
    ...(key === null ? {} : { authorization: `Bearer ${key}` }),
    ...(body === null ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
  };
  return new Promise((resolve) => {
    // No shared agent: a kept connection that the other side has closed would fail the next request.
    const request = send(target, { method: body === null ? 'GET' : 'POST', headers, signal, agent: false });
    const timer = watchdog(limits.connectMs, () =>
      give(timeFailure(`${target.origin} did not answer`, limits.connectMs)),
    );
    const give = (result: Result<{ response: IncomingMessage }>) => {
      timer.end();
      resolve(result);
      if (!result.ok) request.destroy();
    };
    request.on('socket', (socket) => {
      socket.once(target.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
        const late = () => give(timeFailure('The remote engine did not begin to answer', limits.silenceMs));
        timer.restart(limits.silenceMs, late);
      });
    });
    request.on('response', (response) => give(ok({ response })));
    // Also what comes after the answer began; `read` tells of that.
    request.on('error', (error) => give(connectionFailure(codeOf(error), target.origin)));
    request.end(body ?? undefined);
  });
}

function read(
  response: IncomingMessage,
  limits: ExchangeLimits,
  onText: (text: string) => void,
): Promise<Result<void>> {
  return new Promise((resolve) => {
    let bytes = 0;
    const silent = () => give(timeFailure('The remote engine fell silent: nothing more came', limits.silenceMs));
    const timer = watchdog(limits.silenceMs, silent);
    const give = (result: Result<void>) => {
      timer.end();
      response.off('data', onData);
      resolve(result);
      if (!result.ok) response.destroy();
    };
    const onData = (text: string) => {
      timer.restart(limits.silenceMs, silent);
      bytes += Buffer.byteLength(text);
      if (bytes > limits.bodyBytes) return give(brokenAnswer('The remote engine sends more than an answer can be.'));
      onText(text);
    };
    response.setEncoding('utf8');
    response.on('data', onData);
    response.on('end', () => give(ok()));
    const cut = () => give(brokenAnswer('The connection to the remote engine broke in the middle of the answer.'));
    response.on('error', cut);
    response.on('close', cut);
  });
}

function watchdog(milliseconds: number, bark: () => void) {
  let timer = setTimeout(bark, milliseconds);
  return {
    restart(next: number, nextBark: () => void) {
      clearTimeout(timer);
      timer = setTimeout(nextBark, next);
    },
    end: () => clearTimeout(timer),
  };
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
