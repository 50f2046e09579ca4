import net from 'node:net';
import type { ServerResponse } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { RemoteClient, type RemoteChat } from '../../../src/main/remote/index.ts';
import type { AnswerPart } from '../../../src/main/services/interfaces.ts';
import { beginStream, chunks, json, ScriptedRemote, send, type Asked } from '../../support/scripted-remote.ts';
import { waitFor } from '../../support/wait-for.ts';
import { unwrap } from '../../support/engine.ts';

const chat: RemoteChat = {
  model: 'big',
  prompt: { kind: 'chat', turns: [{ role: 'user', text: 'Hi' }] },
  sampling: {},
  stop: [],
  logitBias: new Map(),
  output: { kind: 'text' },
  tools: null,
};
const patient = { connectMs: 60_000, silenceMs: 60_000 };
const client = new RemoteClient({ now: () => performance.now(), answerLimits: patient, shortLimits: patient });
/** Only for servers that never say anything more. */
const impatient = new RemoteClient({ now: () => 0, answerLimits: { ...patient, silenceMs: 200 } });
const never = new AbortController().signal;

async function ask(
  answer: (reply: ServerResponse, asked: Asked) => void,
  changes: Partial<RemoteChat> = {},
  key: string | null = null,
  by = client,
) {
  const remote = await ScriptedRemote.start();
  remote.answer = answer;
  const parts: AnswerPart[] = [];
  const endpoint = { baseUrl: `${remote.url}/v1`, key };
  const result = await by.answer(endpoint, { ...chat, ...changes }, (part) => parts.push(part), never);
  return { result, parts, remote };
}

describe('an answer', () => {
  it('comes piece by piece, thought apart from text, with the tokens that the server counted', async () => {
    const { result, parts, remote } = await ask(
      (reply) => {
        beginStream(reply);
        send(reply, { role: 'assistant', content: null, reasoning_content: 'hm' });
        send(reply, { content: 'Once' });
        send(reply, { content: ' more' });
        send(reply, {}, 'length');
        const details = { prompt_tokens_details: { cached_tokens: 5 } };
        reply.write(
          `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 12, completion_tokens: 7, ...details } })}\n\n`,
        );
        reply.end('data: [DONE]\n\n');
      },
      { sampling: { temperature: 0.2, maxTokens: 7 }, stop: ['END'] },
      'sesame',
    );
    expect(parts).toEqual([
      { kind: 'thought', text: 'hm' },
      { kind: 'text', text: 'Once' },
      { kind: 'text', text: ' more' },
    ]);
    expect(unwrap(result)).toMatchObject({ text: 'Once more', thought: 'hm', end: 'max_tokens' });
    expect(unwrap(result).timings).toMatchObject({ promptTokens: 12, promptTokensEvaluated: 7, predictedTokens: 7 });
    expect(remote.asked[0]?.headers.authorization).toBe('Bearer sesame');
    expect(remote.asked[0]?.body).toEqual({
      model: 'big',
      messages: [{ role: 'user', content: 'Hi' }],
      temperature: 0.2,
      max_tokens: 7,
      stop: ['END'],
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it('carries tools there and calls back, each with its own id (bug: pieces of two calls in one)', async () => {
    const tools = {
      tools: [{ name: 'add', description: null, parameters: { type: 'object' } }],
      choice: { name: 'add' },
      parallel: false,
    };
    const turns = [
      { role: 'user', text: 'Add' },
      { role: 'assistant', text: '', toolCalls: [{ id: 'c0', name: 'add', arguments: '{}' }] },
      { role: 'tool', callId: 'c0', text: '3' },
    ] as const;
    const call = (index: number, more: object) => ({ tool_calls: [{ index, ...more }] });
    const { result, parts, remote } = await ask(
      (reply) => {
        beginStream(reply);
        send(reply, call(0, { id: 'a', function: { name: 'add', arguments: '' } }));
        send(reply, call(0, { function: { arguments: '{"x":' } }));
        send(reply, call(1, { id: 'b', function: { name: 'add', arguments: '{}' } }));
        send(reply, call(0, { function: { arguments: '1}' } }));
        send(reply, {}, 'tool_calls');
        reply.end('data: [DONE]\n\n');
      },
      { tools, prompt: { kind: 'chat', turns } },
    );
    expect(unwrap(result)).toMatchObject({
      end: 'tool_calls',
      toolCalls: [
        { id: 'a', name: 'add', arguments: '{"x":1}' },
        { id: 'b', name: 'add', arguments: '{}' },
      ],
    });
    expect(parts.at(-1)).toEqual({ kind: 'tool_call', index: 0, id: 'a', name: 'add', text: '1}' });
    expect(remote.asked[0]?.body).toMatchObject({
      tools: [{ type: 'function', function: { name: 'add', parameters: { type: 'object' } } }],
      tool_choice: { type: 'function', function: { name: 'add' } },
      parallel_tool_calls: false,
      messages: [
        { role: 'user', content: 'Add' },
        { role: 'assistant', content: null, tool_calls: [{ id: 'c0', type: 'function' }] },
        { role: 'tool', tool_call_id: 'c0', content: '3' },
      ],
    });
  });

  it('letters cut in two by the network stay whole, and a body that is not streamed counts too', async () => {
    const bytes = Buffer.from(
      `data: ${JSON.stringify({ choices: [{ delta: { content: 'Grün 🐿' }, finish_reason: 'stop' }] })}\n\n`,
    );
    const cut = bytes.indexOf(Buffer.from('🐿')) + 2;
    const { result } = await ask((reply) => {
      beginStream(reply);
      reply.write(bytes.subarray(0, cut), () => setImmediate(() => reply.end(bytes.subarray(cut))));
    });
    expect(unwrap(result).text).toBe('Grün 🐿');
    const message = { role: 'assistant', content: 'All at\nonce' };
    const whole = await ask((reply) => json(reply, { choices: [{ message, finish_reason: 'stop' }] }));
    expect(unwrap(whole.result)).toMatchObject({ text: 'All at\nonce', end: 'end' });
  });

  it('a stop reaches the server within one piece and keeps what had come (bug: it writes on to its end)', async () => {
    const remote = await ScriptedRemote.start();
    const asked: Asked[] = [];
    let writing: ServerResponse | null = null;
    remote.answer = (reply, request) => {
      asked.push(request);
      writing = reply;
      beginStream(reply);
      send(reply, { content: 'Once' });
    };
    const stop = new AbortController();
    const parts: AnswerPart[] = [];
    const running = client.answer(
      { baseUrl: `${remote.url}/v1`, key: null },
      chat,
      (part) => {
        parts.push(part);
        stop.abort();
      },
      stop.signal,
    );
    expect(unwrap(await running)).toMatchObject({ text: 'Once', end: 'stopped' });
    await asked[0]?.gone;
    expect((writing as ServerResponse | null)?.destroyed).toBe(true);
    expect(parts).toHaveLength(1);
  });
});

const failing = (status: number, body: unknown, headers?: Record<string, string>) => (reply: ServerResponse) =>
  json(reply, body, status, headers);

describe('what goes wrong is a sentence', () => {
  it.each<[string, (reply: ServerResponse) => void, string, RegExp]>([
    [
      '401',
      failing(401, { error: { message: 'No such key' } }),
      'remote_unauthorized',
      /does not accept the key.*No such key/,
    ],
    ['404', failing(404, { error: { message: 'no model "big"' } }), 'remote_model_not_found', /no model "big"/],
    ['400', failing(400, { detail: 'too long' }), 'remote_refused', /refuses the request \(HTTP 400\).*too long/],
    [
      '500 in HTML',
      (reply) => reply.writeHead(500).end('<html>oops</html>'),
      'remote_failed',
      /failed \(HTTP 500\)\.$/,
    ],
    [
      'a redirect',
      failing(302, {}, { location: 'http://elsewhere.invalid/v1' }),
      'remote_failed',
      /redirects to http:\/\/elsewhere/,
    ],
    ['garbage', (reply) => chunksOf(reply, '<html>\n'), 'remote_failed', /no answer/],
    ['broken JSON', (reply) => chunksOf(reply, 'data: {"choices"\n\n'), 'remote_failed', /cannot be read/],
    [
      'an error in the stream',
      (reply) => chunksOf(reply, 'data: {"error":{"message":"out of memory"}}\n\n'),
      'remote_failed',
      /out of memory/,
    ],
    ['an end without an end', (reply) => cleanCut(reply), 'remote_failed', /middle of the answer/],
    ['a cut line', (reply) => hardCut(reply), 'remote_failed', /broke in the middle/],
    ['an empty body', (reply) => chunksOf(reply, ''), 'remote_failed', /no answer/],
  ])('%s', async (_name, answer, code, message) => {
    const { result } = await ask(answer);
    expect(result).toMatchObject({ ok: false, error: { code } });
    expect(!result.ok && result.error.message).toMatch(message);
  });

  it.each<[string, (reply: ServerResponse) => void, RegExp]>([
    ['before the head', () => undefined, /did not begin to answer within/],
    ['in the middle', (reply) => slow(reply), /fell silent/],
  ])('silence %s', async (_name, answer, message) => {
    const { result } = await ask(answer, {}, null, impatient);
    expect(result).toMatchObject({ ok: false, error: { code: 'remote_timeout' } });
    expect(!result.ok && result.error.message).toMatch(message);
  });

  it('429 carries when to try again', async () => {
    const { result } = await ask(failing(429, { error: { message: 'full' } }, { 'retry-after': '7' }));
    expect(result).toMatchObject({ error: { code: 'remote_busy', retryAfterSeconds: 7 } });
  });

  it('more bytes than an answer can have end it (bug: memory filled by a server gone mad)', async () => {
    const small = new RemoteClient({ now: () => 0, answerLimits: { ...patient, bodyBytes: 10_000 } });
    const remote = await ScriptedRemote.start();
    remote.answer = (reply, { gone }) => {
      beginStream(reply);
      const more = () => {
        send(reply, { content: 'x'.repeat(1000) });
        if (!reply.destroyed) setImmediate(more);
      };
      more();
      void gone;
    };
    const result = await small.answer({ baseUrl: `${remote.url}/v1`, key: null }, chat, () => undefined, never);
    expect(result).toMatchObject({ error: { code: 'remote_failed' } });
  });

  it.each<[string, (address: string) => string, string, RegExp]>([
    ['nobody there', () => 'http://127.0.0.1:9/v1', 'remote_unreachable', /Nothing listens at http:\/\/127\.0\.0\.1:9/],
    ['no such name', () => 'http://no-such-host.invalid/v1', 'remote_unreachable', /no computer of the name/],
    ['https to a server without', (address) => address.replace('http:', 'https:'), 'remote_unreachable', /https/],
  ])('%s', async (_name, address, code, message) => {
    const remote = await ScriptedRemote.start();
    const result = await client.models({ baseUrl: address(`${remote.url}/v1`), key: null }, never);
    expect(result).toMatchObject({ error: { code } });
    expect(!result.ok && result.error.message).toMatch(message);
  });

  it('a program that speaks no HTTP is told apart', async () => {
    const other = net.createServer((socket) => {
      socket.on('error', () => undefined);
      socket.write('220 mail.example ESMTP\r\n');
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void other.close());
    const { port } = other.address() as net.AddressInfo;
    const result = await client.models({ baseUrl: `http://127.0.0.1:${port}/v1`, key: null }, never);
    expect(!result.ok && result.error.message).toMatch(/does not speak HTTP/);
  });

  it('a page instead of a list of models says where the mistake probably is', async () => {
    const remote = await ScriptedRemote.start();
    remote.list = (reply) => reply.writeHead(200).end('<!doctype html>');
    expect(await client.models({ baseUrl: remote.url, key: null }, never)).toMatchObject({
      error: { code: 'remote_failed', hint: expect.stringContaining('/v1') as string },
    });
    remote.list = failing(404, {});
    const missing = await client.models({ baseUrl: remote.url, key: null }, never);
    expect(!missing.ok && missing.error.message).toMatch(/no list of models/);
    remote.list = failing(401, {});
    expect(await client.models({ baseUrl: remote.url, key: null }, never)).toMatchObject({
      error: { code: 'remote_unauthorized' },
    });
    remote.list = (reply) => chunks(reply, []);
    await waitFor('all to have asked', () => remote.asked.length === 3);
  });
});

function chunksOf(reply: ServerResponse, text: string): void {
  beginStream(reply);
  reply.end(text);
}

function cleanCut(reply: ServerResponse): void {
  beginStream(reply);
  send(reply, { content: 'Once' });
  reply.end();
}

function hardCut(reply: ServerResponse): void {
  beginStream(reply);
  send(reply, { content: 'Once' });
  setImmediate(() => reply.destroy());
}

function slow(reply: ServerResponse): void {
  beginStream(reply);
  send(reply, { content: 'Once' });
}
