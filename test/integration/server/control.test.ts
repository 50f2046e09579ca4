import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { fail, ok, type ModelInfo, type Result } from '../../../src/main/contract/index.ts';
import { waitFor } from '../../support/wait-for.ts';
import { ask, finished, openSession, postJson, rawRequest, startServer, type Setup } from './fakes.ts';

const chat = '/v1/chat/completions';
const errorCode = async (reply: Response) => ((await reply.json()) as { error: { code: string } }).error.code;

describe('load and unload', () => {
  it('load by id, alias or path and unload, each told back (bug: a script that cannot tell what is loaded)', async () => {
    const { url, models } = await startServer();
    const load = async (model: string) => (await postJson(`${url}/v1/load`, { model })).json() as Promise<unknown>;
    expect(await load('other')).toMatchObject({ status: 'loaded', model: { id: 'other', contextSize: 512 } });
    await load('gpt-4o');
    await load('/elsewhere/third.gguf');
    expect(models.loads).toEqual(['/models/other.gguf', '/models/mini-q8_0.gguf', '/elsewhere/third.gguf']);
    const unloaded = await postJson(`${url}/v1/unload`, {});
    expect([unloaded.status, await unloaded.json()]).toEqual([200, { status: 'unloaded' }]);
    expect(models.model).toBeNull();
  });

  it('refuse a name that is no model, and tell a file that cannot be loaded by its own error (bug: 500 for a typo)', async () => {
    const { url, models } = await startServer();
    const unknown = await postJson(`${url}/v1/load`, { model: 'gone' });
    expect([unknown.status, await errorCode(unknown)]).toEqual([404, 'model_not_found']);
    expect(models.loads).toEqual([]);
    models.loading = () => Promise.resolve(fail('model_not_gguf', 'This is no GGUF file.'));
    const broken = await postJson(`${url}/v1/load`, { model: '/x.gguf' });
    expect([broken.status, await errorCode(broken)]).toEqual([400, 'model_not_gguf']);
    expect((await postJson(`${url}/v1/load`, {})).status).toBe(400);
    expect((await postJson(url + chat, { ...ask, model: 'mini-q8_0', stream: 5 })).status).toBe(400);
  });

  it('need the key or our own page where a key is set (bug: whoever may chat can take the model away)', async () => {
    const setup = await startServer({ apiKey: 'right' });
    const unload = async (headers: Record<string, string>) =>
      (await postJson(`${setup.url}/v1/unload`, {}, headers)).status;
    expect(await unload({})).toBe(401);
    expect(await unload({ authorization: 'Bearer wrong' })).toBe(401);
    expect(await unload({ 'x-api-key': 'right' })).toBe(200);
    expect(await unload({ 'x-dormouse-session': await openSession(setup) })).toBe(200);
  });

  it('are not for listed web pages, with or without a key (bug: a page that chats also unloads)', async () => {
    for (const apiKey of [null, 'right']) {
      const { port } = await startServer({ apiKey, corsOrigins: ['http://good.example'] });
      const headers = {
        origin: 'http://good.example',
        authorization: 'Bearer right',
        'content-type': 'application/json',
      };
      const reply = await rawRequest(port, { method: 'POST', path: '/v1/unload', headers, body: '{}' });
      expect(reply.status).toBe(403);
      const wanted = { origin: 'http://good.example', 'access-control-request-method': 'POST' };
      const preflight = await rawRequest(port, { method: 'OPTIONS', path: '/v1/unload', headers: wanted });
      expect(preflight.status).toBe(403);
    }
  });
});

describe('a request that names another model', () => {
  it('is told which one is loaded, unless requests may switch (bug: a request that changes what others get)', async () => {
    const { url, models, completions } = await startServer();
    completions.answerAtOnce();
    const refused = await postJson(url + chat, { ...ask, model: 'other' });
    expect([refused.status, await errorCode(refused)]).toEqual([503, 'model_not_loaded']);
    models.maySwitch = true;
    expect(await (await postJson(url + chat, { ...ask, model: 'other' })).json()).toMatchObject({ model: 'other' });
    expect(models.loads).toEqual(['/models/other.gguf']);
    expect(completions.runs[0]!.request.model).toBe('other');
  });

  it('waits until running answers have ended; those behind it wait for it (bug: an answer cut by a switch)', async () => {
    const { url, models, completions } = await startServer();
    models.maySwitch = true;
    const asked = (model: string | undefined) => postJson(url + chat, { ...ask, model }).then((reply) => reply.json());
    const first = asked('mini-q8_0');
    await waitFor('the first', () => completions.runs.length === 1);
    const unnamed = asked(undefined);
    await waitFor('the second, beside it', () => completions.runs.length === 2);
    const other = asked('other');
    const back = asked('gpt-4o');
    completions.runs[0]!.settle(ok(finished));
    await first;
    expect(models.loads).toEqual([]);
    completions.runs[1]!.settle(ok(finished));
    await unnamed;
    await waitFor('the switch', () => completions.runs.length === 3);
    expect(models.loads).toEqual(['/models/other.gguf']);
    completions.runs[2]!.settle(ok(finished));
    expect(await other).toMatchObject({ model: 'other' });
    await waitFor('the way back', () => completions.runs.length === 4);
    completions.runs[3]!.settle(ok(finished));
    expect(await back).toMatchObject({ model: 'mini-q8_0' });
    expect(models.loads).toEqual(['/models/other.gguf', '/models/mini-q8_0.gguf']);
  });

  it('that cannot be loaded is told why, and the next request is fine (bug: a queue that waits for ever)', async () => {
    const { url, models, completions } = await startServer();
    models.maySwitch = true;
    completions.answerAtOnce();
    models.loading = () => Promise.resolve(fail('out_of_memory', 'Too big.'));
    const refused = await postJson(url + chat, { ...ask, model: 'other' });
    expect([refused.status, await errorCode(refused)]).toEqual([503, 'out_of_memory']);
    expect((await postJson(url + chat, ask)).status).toBe(200);
  });

  it('and goes away while it waits frees its place (bug: a switch for nobody)', async () => {
    const { url, models, completions } = await startServer();
    models.maySwitch = true;
    const first = postJson(url + chat, ask);
    const run = await completions.first();
    const controller = new AbortController();
    const gone = fetch(url + chat, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...ask, model: 'other', stream: true }),
      signal: controller.signal,
    }).catch(() => 'gone');
    const behind = postJson(url + chat, ask);
    await waitFor('its place in the queue', () => models.switched.waiting === 2);
    controller.abort();
    expect(await gone).toBe('gone');
    await waitFor('the one behind it', () =>
      completions.runs.some(({ signal }) => signal !== run.signal && !signal.aborted),
    );
    for (const each of completions.runs) each.settle(ok(finished));
    expect([(await first).status, (await behind).status, models.loads]).toEqual([200, 200, []]);
  });

  it('keeps its stream alive while the model loads (bug: a client that gives up on a big model)', async () => {
    const { url, models, completions } = await startServer({}, { answerHeartbeatMs: 5 });
    models.maySwitch = true;
    completions.answerAtOnce();
    let loaded: (result: Result<ModelInfo>) => void = () => undefined;
    models.loading = () => new Promise((resolve) => (loaded = resolve));
    const reply = await postJson(url + chat, { ...ask, model: 'other', stream: true });
    expect(reply.status).toBe(200);
    loaded(ok({ ...models.model!, id: 'other' }));
    expect(await reply.text()).toContain('[DONE]');
  });
});

describe('/metrics', () => {
  it('counts requests, tokens and time in the format of Prometheus (bug: a scraper that reads nothing)', async () => {
    const { url, completions, logger } = await startServer();
    completions.answerAtOnce();
    await (await postJson(url + chat, ask)).text();
    await (await postJson(url + chat, { ...ask, n: 2 })).text();
    await waitFor('both exchanges', () => logger.lines.filter((line) => line.includes(chat)).length === 2);
    const reply = await fetch(`${url}/metrics`);
    expect(reply.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    const text = await reply.text();
    for (const line of [
      `dormouse_http_requests_total{route="${chat}",status="200"} 1`,
      `dormouse_http_requests_total{route="${chat}",status="400"} 1`,
      `dormouse_http_request_duration_seconds_bucket{route="${chat}",le="+Inf"} 2`,
      `dormouse_http_request_duration_seconds_count{route="${chat}"} 2`,
      'dormouse_prompt_tokens_total 20',
      'dormouse_predicted_tokens_total 2',
      'dormouse_engine_state{state="ready"} 1',
      'dormouse_engine_state{state="loading"} 0',
      'dormouse_model_loaded{model="mini-q8_0"} 1',
      'dormouse_queue_waiting 0',
      'dormouse_sleep_step{step="asleep"} 1',
      'dormouse_pool_workers{state="asleep"} 0',
      'dormouse_build_info{version="1.2.3"} 1',
    ]) {
      expect(text.split('\n')).toContain(line);
    }
    expect(text).toMatch(/^process_cpu_seconds_total \d+\.\d+$/m);
    // Every value belongs to the family that was announced last.
    let family = '';
    for (const line of text.trimEnd().split('\n')) {
      const type = /^# TYPE (\S+) (?:counter|gauge|histogram)$/.exec(line)?.[1];
      if (type !== undefined) family = type;
      else if (!line.startsWith('# HELP '))
        expect(line).toMatch(new RegExp(`^${family}(_bucket|_sum|_count)?(\\{.*\\})? [-+.\\de]+$`));
    }
  });

  it('needs the key where one is set (bug: strangers who read when somebody works)', async () => {
    const { url } = await startServer({ apiKey: 'key' });
    expect((await fetch(`${url}/metrics`)).status).toBe(401);
    expect((await fetch(`${url}/openapi.json`)).status).toBe(401);
  });
});

type Schema = Parameters<typeof z.fromJSONSchema>[0];
type Content = Record<string, { schema: Schema }>;
type OperationDocument = {
  requestBody?: { content: Content };
  responses: { '200': { content: Content }; default: { content: Content } };
};
type ApiDocument = { openapi: string; paths: Record<string, { get?: OperationDocument; post?: OperationDocument }> };

/** Everything that the document has, asked for once. */
const bodies: Record<string, object> = {
  [chat]: ask,
  '/v1/completions': { prompt: 'Hi' },
  '/v1/responses': { input: 'Hi' },
  '/v1/embeddings': { input: 'Hi' },
  '/v1/messages': { max_tokens: 5, ...ask },
  '/v1/messages/count_tokens': ask,
  '/v1/load': { model: 'mini-q8_0' },
  '/v1/unload': {},
};

/** The document leaves room for further fields; what this version sends must be in it. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const inner = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  return 'properties' in inner && !('additionalProperties' in inner)
    ? { ...inner, additionalProperties: false }
    : inner;
}

function check(schema: Schema | undefined, value: unknown, what: string): void {
  const checked = z.fromJSONSchema(closed(schema) as Schema).safeParse(value);
  expect(checked.error?.issues ?? [], what).toEqual([]);
}

function answerWithAll({ completions }: Setup): void {
  completions.script = (run) => {
    run.part('hm', 'thought');
    run.part('Hello');
    run.call(0, 'a', '{}');
    const toolCalls = [{ id: 'call_0', name: 'a', arguments: '{}' }];
    run.settle(ok({ ...finished, thought: 'hm', toolCalls, end: 'tool_calls' }));
  };
}

describe('/openapi.json', () => {
  it('describes every route, and every reply, event and error is as it says (bug: a document of another program)', async () => {
    const setup = await startServer();
    answerWithAll(setup);
    const { paths, openapi } = (await (await fetch(`${setup.url}/openapi.json`)).json()) as ApiDocument;
    expect(openapi).toBe('3.1.0');
    expect(Object.keys(paths).sort()).toEqual(
      [...Object.keys(bodies), '/health', '/metrics', '/v1/models', '/v1/models/{id}', '/v1/status'].sort(),
    );
    for (const [path, { get, post }] of Object.entries(paths)) {
      if (get !== undefined && path !== '/metrics') {
        const reply = await fetch(setup.url + path.replace('{id}', 'other'));
        check(get.responses['200'].content['application/json']?.schema, await reply.json(), path);
      }
      if (post === undefined) continue;
      const { content } = post.responses['200'];
      check(post.requestBody?.content['application/json']?.schema, bodies[path], `${path} request`);
      const good = await postJson(setup.url + path, bodies[path]);
      check(content['application/json']?.schema, await good.json(), path);
      const bad = await postJson(setup.url + path, '[]');
      if (bad.status !== 200)
        check(post.responses.default.content['application/json']?.schema, await bad.json(), `${path} error`);
      if (content['text/event-stream'] === undefined) continue;
      const stream = await (await postJson(setup.url + path, { ...bodies[path], stream: true })).text();
      const events = [...stream.matchAll(/^data: (\{.*\})$/gm)].map(([, data]) => JSON.parse(data ?? '') as unknown);
      expect(events.length).toBeGreaterThan(2);
      for (const event of events) check(content['text/event-stream'].schema, event, `${path} event`);
    }
  });

  it('says no to what the server refuses (bug: schemas that allow anything)', async () => {
    const { url } = await startServer();
    const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as ApiDocument;
    const schema = z.fromJSONSchema(paths[chat]!.post!.requestBody!.content['application/json']!.schema);
    expect(schema.safeParse({ messages: [] }).success).toBe(false);
    expect(schema.safeParse({ ...ask, temperature: 9 }).success).toBe(false);
    expect(schema.safeParse({ ...ask, temperature: 1 }).success).toBe(true);
  });
});
