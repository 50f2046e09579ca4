import { beforeEach, describe, expect, it } from 'vitest';
import { fail } from '../../../src/main/contract/index.ts';
import { waitFor } from '../../support/wait-for.ts';
import { openSocket, postJson, rawRequest, startServer, type Setup } from './fakes.ts';

type Body = Record<string, unknown>;
type Dialect = {
  readonly path: string;
  readonly good: Body;
  /** The dialect's name of what several of them have. */
  readonly stop?: string;
  readonly maxTokens: string;
  /** How it writes a tool with this name and schema. */
  readonly tool?: (name: string, schema: unknown) => unknown;
  /** How it asks for text that follows a schema. */
  readonly format?: (schema: unknown) => Body;
};

const hi = [{ role: 'user', content: 'Hi' }];
const dialects: readonly Dialect[] = [
  {
    path: '/v1/chat/completions',
    good: { messages: hi },
    stop: 'stop',
    maxTokens: 'max_tokens',
    tool: (name, parameters) => ({ type: 'function', function: { name, parameters } }),
    format: (schema) => ({ response_format: { type: 'json_schema', json_schema: { name: 'n', schema } } }),
  },
  { path: '/v1/completions', good: { prompt: 'Hi' }, stop: 'stop', maxTokens: 'max_tokens' },
  {
    path: '/v1/responses',
    good: { input: 'Hi' },
    maxTokens: 'max_output_tokens',
    tool: (name, parameters) => ({ type: 'function', name, parameters }),
    format: (schema) => ({ text: { format: { type: 'json_schema', name: 'n', schema } } }),
  },
  {
    path: '/v1/messages',
    good: { model: 'default', max_tokens: 5, messages: hi },
    stop: 'stop_sequences',
    maxTokens: 'max_tokens',
    tool: (name, schema) => ({ name, input_schema: schema }),
  },
  { path: '/v1/embeddings', good: { input: 'Hi' }, maxTokens: '' },
];

const json = { 'content-type': 'application/json' };
const host = { host: 'localhost' };

describe.each(dialects)('$path', ({ path, good, stop, maxTokens, tool, format }) => {
  let setup: Setup;
  const answers = maxTokens !== '';
  const anthropic = path === '/v1/messages';

  beforeEach(async () => {
    setup = await startServer({ apiKey: 'right-key' }, { bodyBytes: 100_000 });
    setup.completions.answerAtOnce();
  });

  const key = { authorization: 'Bearer right-key' };
  const send = (body: unknown, headers: Record<string, string> = key) => postJson(setup.url + path, body, headers);

  /** Status and shape of a refusal, and that it broke nothing. */
  async function expectRefusal(reply: Response | { status: number; text: string }, status: number, about?: string) {
    const text = reply instanceof Response ? await reply.text() : reply.text;
    expect(reply.status, text).toBe(status);
    const body = JSON.parse(text) as { type?: string; error: { message: string; type: string; code?: string } };
    expect([body.error.message, body.error.type].every((part) => typeof part === 'string' && part !== '')).toBe(true);
    expect(Object.keys(body.error).sort()).toEqual(
      anthropic ? ['message', 'type'] : ['code', 'message', 'param', 'type'],
    );
    expect(body.type).toBe(anthropic ? 'error' : undefined);
    if (about !== undefined) expect(body.error.message).toContain(about);
    const next = await send(good);
    expect([next.status, await next.text()]).toMatchObject([200, expect.stringMatching(/./)]);
  }

  it.each([
    ['broken JSON', '{"a":'],
    ['nothing', ''],
    ['NaN, which is no JSON', '{"temperature": NaN}'],
    ['an array', '[]'],
    ['null', 'null'],
    ['a text', '"Hi"'],
    ['an empty object', '{}'],
  ])('a body that is %s: 400 (bug: 500, or an answer to nothing)', async (_name, body) => {
    await expectRefusal(await send(body), 400);
  });

  it('a body beyond the limit: 413, by its length or in chunks (bug: memory for whoever sends most)', async () => {
    const announced = { ...json, ...host, ...key, 'content-length': String(20 * 1024 * 1024) };
    await expectRefusal(await rawRequest(setup.port, { method: 'POST', path, headers: announced, endless: true }), 413);
    const chunked = { ...json, ...host, ...key, 'transfer-encoding': 'chunked' };
    const body = JSON.stringify({ ...good, user: 'x'.repeat(200_000) });
    await expectRefusal(await rawRequest(setup.port, { method: 'POST', path, headers: chunked, body }), 413);
  });

  it('another content type: 415 (bug: a web page that spends the GPU by a simple POST)', async () => {
    await expectRefusal(await send(good, { ...key, 'content-type': 'text/plain' }), 415);
  });

  it('another method: 405, and an address behind it: 404 (bug: an error in the shape of another dialect)', async () => {
    await expectRefusal(await fetch(setup.url + path, { headers: key }), 405);
    await expectRefusal(await fetch(`${setup.url}${path}/nowhere`, { headers: key }), 404);
  });

  it('a missing, wrong or foreign key: 401; one with a line end never gets that far (bug: a key that half fits)', async () => {
    await expectRefusal(await send(good, {}), 401);
    await expectRefusal(await send(good, { authorization: 'Bearer right-kez' }), 401);
    await expectRefusal(await send(good, { 'x-api-key': 'right-key2' }), 401);
    expect((await send(good, { 'x-api-key': 'right-key' })).status).toBe(200);
    const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer right\n-key\r\n\r\n`;
    const { received } = await openSocket(setup.port, head);
    await waitFor('a reply', () => received().startsWith('HTTP/1.1 400'));
  });

  it('a foreign Host or Origin: 403 (bug: DNS rebinding)', async () => {
    const body = JSON.stringify(good);
    const foreign = { ...json, ...key, host: 'evil.example' };
    await expectRefusal(await rawRequest(setup.port, { method: 'POST', path, headers: foreign, body }), 403);
    const page = { ...json, ...key, ...host, origin: 'http://evil.example' };
    await expectRefusal(await rawRequest(setup.port, { method: 'POST', path, headers: page, body }), 403);
  });

  it('an unknown model: 404; one that is not a name: 400 (bug: an answer of another model)', async () => {
    await expectRefusal(await send({ ...good, model: 'gone' }), 404, 'gone');
    await expectRefusal(await send({ ...good, model: 5 }), 400, 'model');
    await expectRefusal(await send({ ...good, model: 'other' }), 503, 'mini-q8_0');
  });

  const samplings: [string, unknown][] = [
    ['temperature', -1],
    ['temperature', '0.5'],
    ['temperature', 1e300],
    ['top_p', 1.5],
    ['top_p', -0.1],
  ];
  if (answers)
    it.each(samplings)('%s %j: 400 (bug: NaN in the sampler)', async (field, value) => {
      await expectRefusal(await send({ ...good, [field]: value }), 400, field);
    });

  if (answers)
    it('a number that JSON cannot hold: 400 (bug: Infinity in the sampler)', async () => {
      await expectRefusal(await send(JSON.stringify(good).replace(/}$/, ',"temperature":1e999}')), 400, 'temperature');
    });

  if (answers)
    it.each([0, -5, 1.5, '7', 1e300])('a longest answer of %j: 400 (bug: no end)', async (value) => {
      await expectRefusal(await send({ ...good, [maxTokens]: value }), 400, maxTokens);
    });

  if (stop !== undefined)
    it('a hundred stop texts, an empty one, a number: 400 (bug: a scan per token)', async () => {
      const field = stop ?? '';
      for (const value of [Array.from({ length: 100 }, (_, index) => `s${index}`), [''], 5, [5]]) {
        await expectRefusal(await send({ ...good, [field]: value }), 400, field);
      }
    });

  if (tool !== undefined)
    it('a bad tool name or schema: 400 (bug: a grammar from whatever was sent)', async () => {
      for (const name of ['', 'a b', 'x'.repeat(65), 'ü', 5]) {
        await expectRefusal(await send({ ...good, tools: [tool?.(name as string, {})] }), 400, 'tools[0]');
      }
      for (const schema of ['{}', [], 5]) {
        await expectRefusal(await send({ ...good, tools: [tool?.('a', schema)] }), 400, 'tools[0]');
      }
    });

  if (format !== undefined)
    it('a schema that cannot be held: 400 (bug: a recursion that never ends)', async () => {
      for (const schema of [5, 'x', []]) await expectRefusal(await send({ ...good, ...format?.(schema) }), 400);
      const recursive = { $defs: { a: { $ref: '#/$defs/a' } }, $ref: '#/$defs/a' };
      setup.completions.script = (run) => {
        run.settle(fail('schema_unsupported', 'The schema refers to itself.'));
        setup.completions.answerAtOnce();
      };
      await expectRefusal(await send({ ...good, ...format?.(recursive) }), 400, 'refers to itself');
    });

  if (answers)
    it('a prompt beyond the context: 400 with what the engine says of it (bug: 500)', async () => {
      setup.completions.script = (run) => {
        run.settle(fail('prompt_too_long', 'The prompt has 600 tokens, the context 512.'));
        setup.completions.answerAtOnce();
      };
      await expectRefusal(await send(good), 400, '600 tokens, the context 512');
    });

  it.each([false, true])(
    'a full queue: 429 with Retry-After, streamed: %s (bug: clients that hammer)',
    async (stream) => {
      if (answers) {
        setup.completions.script = (run) => {
          run.settle(fail('queue_full', '64 requests wait already.'));
          setup.completions.answerAtOnce();
        };
      } else setup.completions.failing = { code: 'queue_full', message: '64 requests wait already.' };
      const reply = await send({ ...good, ...(stream ? { stream } : {}) });
      setup.completions.failing = null;
      expect(reply.headers.get('retry-after')).toBe('3');
      await expectRefusal(reply, 429, '64 requests');
    },
  );

  if (answers)
    it('a client that is gone, whole or streamed: its answer is aborted (bug: a stuck slot)', async () => {
      for (const extra of [{}, { stream: true }]) {
        setup.completions.script = null;
        setup.completions.runs.length = 0;
        const text = JSON.stringify({ ...good, ...extra });
        const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer right-key\r\nContent-Type: application/json\r\n`;
        const { socket } = await openSocket(setup.port, `${head}Content-Length: ${text.length}\r\n\r\n${text}`);
        const run = await setup.completions.first();
        run.part('Hello');
        socket.destroy();
        await waitFor('the abort', () => run.signal.aborted);
      }
      setup.completions.answerAtOnce();
      expect((await send(good)).status).toBe(200);
    });

  if (answers)
    it('a reader that stops reading is cut off (bug: memory that grows with its sleep)', async () => {
      setup.completions.script = null;
      setup.completions.runs.length = 0;
      const text = JSON.stringify({ ...good, stream: true });
      const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer right-key\r\nContent-Type: application/json\r\n`;
      const { socket } = await openSocket(setup.port, `${head}Content-Length: ${text.length}\r\n\r\n${text}`);
      const run = await setup.completions.first();
      socket.pause();
      const piece = 'x'.repeat(256 * 1024);
      let bytes = 0;
      const flood = () => {
        for (let index = 0; index < 4 && !run.signal.aborted; index += 1, bytes += piece.length) run.part(piece);
        return run.signal.aborted;
      };
      await waitFor('the abort', flood, { everyMs: 5 });
      expect(bytes).toBeLessThan(100 * 1024 * 1024);
      socket.destroy();
      setup.completions.answerAtOnce();
      expect((await send(good)).status).toBe(200);
    });
});

it('an address that is nothing under /v1: 404 in the shape of OpenAI (bug: an HTML page for a program)', async () => {
  const { url } = await startServer();
  const reply = await postJson(`${url}/v1/audio/speech`, {});
  expect([reply.status, await reply.json()]).toMatchObject([404, { error: { code: 'unknown_url' } }]);
});

it.each(['key\n', ' key', 'schlüssel', 'a\r\nb'])(
  'a server with the key %j does not start (bug: a key that nobody can send)',
  async (apiKey) => {
    await expect(startServer({ apiKey })).rejects.toThrow('API key cannot be sent');
  },
);
