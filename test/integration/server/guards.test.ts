import { describe, expect, it } from 'vitest';
import { waitFor } from '../../support/wait-for.ts';
import { ask, openSocket, postJson, rawRequest, startServer } from './fakes.ts';

const json = { 'content-type': 'application/json' };
const chat = '/v1/chat/completions';

describe('Host', () => {
  it('answers under the names of this computer at any port, so that SSH forwards work', async () => {
    const { port } = await startServer({ allowedHosts: ['Box.Local'] });
    for (const host of ['localhost:9000', '127.0.0.1', '[::1]:22', 'LOCALHOST', 'box.local:1']) {
      expect((await rawRequest(port, { path: '/health', headers: { host } })).status, host).toBe(200);
    }
  });

  it('refuses a foreign name, by which DNS rebinding would reach the GPU', async () => {
    const { port, completions } = await startServer();
    for (const host of [
      'evil.example',
      'localhost.evil.example',
      '127.0.0.1.evil.example:80',
      'a@localhost',
      '[::2]',
    ]) {
      const reply = await rawRequest(port, {
        method: 'POST',
        path: chat,
        headers: { ...json, host },
        body: JSON.stringify(ask),
      });
      expect(reply.status, host).toBe(403);
      expect(JSON.parse(reply.text)).toMatchObject({ error: { code: 'forbidden_host', type: 'permission_error' } });
    }
    expect(completions.runs).toHaveLength(0);
  });

  it.each([
    ['HTTP/1.0 without Host', 'GET /health HTTP/1.0\r\n\r\n'],
    ['HTTP/1.1 without Host', 'GET /health HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['an empty Host', 'GET /health HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n'],
    ['two Hosts', 'GET /health HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: close\r\n\r\n'],
  ])('refuses %s', async (_name, text) => {
    const { port } = await startServer();
    const { received } = await openSocket(port, text);
    await waitFor('a reply', () => received().includes('403'));
  });

  it('refuses an absolute target, which would override the Host that was checked', async () => {
    const { port } = await startServer();
    const text = 'GET http://evil.example/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';
    const { received } = await openSocket(port, text);
    await waitFor('a reply', () => received().startsWith('HTTP/1.1 400'));
  });

  it('answers HTTP/1.0 with a known Host', async () => {
    const { port } = await startServer();
    const { received } = await openSocket(port, 'GET /health HTTP/1.0\r\nHost: localhost\r\n\r\n');
    await waitFor('a reply', () => received().includes('"service":"dormouse"'));
  });
});

describe('Origin', () => {
  it.each([
    ['a foreign origin', { origin: 'http://evil.example' }],
    ['another port of this computer', { origin: 'http://localhost:1' }],
    ['the null origin of sandboxed frames', { origin: 'null' }],
    ['a cross-site request without Origin', { 'sec-fetch-site': 'cross-site' }],
  ])('refuses %s before its body is read', async (_name, headers) => {
    const { port, completions, dispatcher } = await startServer({ corsOrigins: ['http://good.example', 'null'] });
    for (const path of [chat, '/ui/session', '/ui/request/app.info']) {
      const reply = await rawRequest(port, {
        method: 'POST',
        path,
        // The body never comes: an answer proves that nobody waited for it.
        headers: { ...json, 'content-length': '1000', ...headers },
        endless: true,
      });
      expect(reply.status).toBe(403);
      expect(reply.headers['access-control-allow-origin']).toBeUndefined();
    }
    expect(completions.runs).toHaveLength(0);
    expect(dispatcher.calls).toHaveLength(0);
  });

  it('accepts our own page, whatever name it was reached by', async () => {
    const { port } = await startServer();
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, 'localhost:9000']) {
      const headers = { host, origin: `http://${host}`, 'sec-fetch-site': 'same-origin' };
      expect((await rawRequest(port, { path: '/v1/models', headers })).status).toBe(200);
    }
  });

  it('lets a listed origin use the API, but not the page or its contract', async () => {
    const { port } = await startServer({ corsOrigins: ['http://Good.example/'] });
    const headers = { origin: 'http://good.example', 'sec-fetch-site': 'cross-site' };
    const models = await rawRequest(port, { path: '/v1/models', headers });
    expect(models.status).toBe(200);
    expect(models.headers).toMatchObject({ 'access-control-allow-origin': 'http://good.example', vary: 'Origin' });
    expect((await rawRequest(port, { path: '/', headers })).status).toBe(403);
    const session = { method: 'POST', path: '/ui/session', headers: { ...headers, ...json }, body: '{}' };
    expect((await rawRequest(port, session)).status).toBe(403);
  });

  it('answers a preflight for listed origins only, and never for the contract', async () => {
    const { port } = await startServer({ corsOrigins: ['http://good.example'], apiKey: 'key' });
    const wanted = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization, x-a' };
    const preflight = (path: string, origin: string) =>
      rawRequest(port, { method: 'OPTIONS', path, headers: { origin, ...wanted } });
    const good = await preflight(chat, 'http://good.example');
    expect(good.status).toBe(204);
    expect(good.headers).toMatchObject({
      'access-control-allow-origin': 'http://good.example',
      'access-control-allow-headers': 'authorization, x-a',
    });
    expect((await preflight(chat, 'http://evil.example')).status).toBe(403);
    const contract = await preflight('/ui/request/app.info', 'http://good.example');
    expect(contract.status).toBe(403);
    expect(contract.headers['access-control-allow-origin']).toBeUndefined();
  });

  it('lets a link from another page open ours, which shows nothing without a ticket, and nothing else', async () => {
    const { port } = await startServer();
    const headers = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
    expect((await rawRequest(port, { path: '/', headers })).status).toBe(503);
    for (const path of ['/v1/models', '/health', '/ui/events']) {
      expect((await rawRequest(port, { path, headers })).status, path).toBe(403);
    }
  });
});

describe('API key', () => {
  it('opens /v1 alone: not the contract, and a page session does not open /v1', async () => {
    const setup = await startServer({ apiKey: 'correct horse' });
    const { url } = setup;
    const status = async (path: string, headers: Record<string, string>) =>
      (await fetch(url + path, { headers })).status;
    expect(await status('/v1/models', {})).toBe(401);
    expect(await status('/v1/models', { authorization: 'Bearer correct horsf' })).toBe(401);
    expect(await status('/v1/models', { authorization: 'correct horse' })).toBe(401);
    expect(await status('/v1/models', { authorization: 'bearer correct horse' })).toBe(200);
    expect(await status('/v1/nothing', {})).toBe(401);
    expect(await status('/health', {})).toBe(200);
    const key = { authorization: 'Bearer correct horse' };
    expect((await postJson(`${url}/ui/request/app.info`, {}, key)).status).toBe(401);
    expect(await status('/ui/events', { ...key, 'x-dormouse-session': 'correct horse' })).toBe(401);
    const reply = await postJson(`${url}/ui/session`, { ticket: setup.server.createLink().split('#t=')[1] });
    const { data } = (await reply.json()) as { data: { secret: string } };
    const secret = { 'x-dormouse-session': data.secret, authorization: `Bearer ${data.secret}` };
    expect(await status('/v1/models', secret)).toBe(401);
    expect((await postJson(`${url}/ui/request/app.info`, {}, secret)).status).toBe(200);
  });

  it.each([
    '//v1/models',
    '/v1/./models',
    '/x/../v1/models',
    '/%76%31/models',
    '/v1%2fmodels',
    '/v1/models/',
    '/V1/models',
  ])('cannot be walked around by writing the path as %s', async (path) => {
    const { port } = await startServer({ apiKey: 'key' });
    const reply = await rawRequest(port, { path });
    expect([401, 404]).toContain(reply.status);
    expect(reply.text).not.toContain('mini-q8_0');
  });
});

describe('Body', () => {
  const big = 'x'.repeat(3000);

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', ''])(
    'refuses content type "%s", which any web page may send without asking',
    async (type) => {
      const { port, completions } = await startServer();
      const headers: Record<string, string> = {
        'content-length': '100',
        ...(type === '' ? {} : { 'content-type': type }),
      };
      expect((await rawRequest(port, { method: 'POST', path: chat, headers, endless: true })).status).toBe(415);
      expect(completions.runs).toHaveLength(0);
    },
  );

  it('takes a content type with a charset', async () => {
    const { url, completions } = await startServer();
    completions.answerAtOnce();
    const headers = { 'content-type': 'Application/JSON; charset=utf-8' };
    expect((await postJson(url + chat, ask, headers)).status).toBe(200);
  });

  it('refuses compressed bodies instead of calling them bad JSON', async () => {
    const { url } = await startServer();
    expect((await postJson(url + chat, ask, { 'content-encoding': 'gzip' })).status).toBe(415);
  });

  it('refuses a large body by its announced length, without reading it', async () => {
    const { port } = await startServer({}, { bodyBytes: 2000 });
    const headers = { ...json, 'content-length': '3000' };
    const reply = await rawRequest(port, { method: 'POST', path: chat, headers, endless: true });
    expect(reply.status).toBe(413);
    expect(JSON.parse(reply.text)).toMatchObject({ error: { code: 'request_too_large' } });
  });

  it('refuses a large body that comes in chunks without a length', async () => {
    const { port, completions } = await startServer({}, { bodyBytes: 2000 });
    const headers = { ...json, 'transfer-encoding': 'chunked' };
    const body = JSON.stringify({ messages: [{ role: 'user', content: big }] });
    expect((await rawRequest(port, { method: 'POST', path: chat, headers, body })).status).toBe(413);
    expect(completions.runs).toHaveLength(0);
  });

  it('does not invite the body of a request that it refuses', async () => {
    const { port } = await startServer();
    const head = `POST ${chat} HTTP/1.1\r\nHost: evil.example\r\nContent-Type: application/json\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n`;
    const { received } = await openSocket(port, head);
    await waitFor('a reply', () => received().startsWith('HTTP/1.1 403'));
    const good = await openSocket(port, head.replace('evil.example', 'localhost'));
    await waitFor('an invitation', () => good.received().startsWith('HTTP/1.1 100'));
    good.socket.write('not json!');
    await waitFor('a reply', () => good.received().includes('HTTP/1.1 400'));
  });

  it.each([
    ['broken JSON', '{"messages": ['],
    ['an empty body', ''],
    ['bytes that are not UTF-8', Buffer.from([0x22, 0xff, 0x22]).toString('latin1')],
  ])('answers %s with 400 in the shape of the caller', async (name, body) => {
    const setup = await startServer();
    const send = (path: string) =>
      fetch(setup.url + path, {
        method: 'POST',
        headers: json,
        body: name.includes('UTF-8') ? Buffer.from(body, 'latin1') : body,
      });
    const api = await send(chat);
    expect(api.status).toBe(400);
    expect(await api.json()).toMatchObject({
      error: { code: 'invalid_json', type: 'invalid_request_error', param: null },
    });
    const ui = await send('/ui/session');
    expect(ui.status).toBe(400);
    expect(await ui.json()).toMatchObject({ ok: false, error: { code: 'invalid_input' } });
  });
});

it('logs routes and counts, but no text, key, ticket, path or query', async () => {
  const setup = await startServer({ apiKey: 'sk-secret-key' });
  setup.completions.answerAtOnce();
  const ticket = setup.server.createLink().split('#t=')[1];
  await postJson(`${setup.url}/ui/session?q=hush-query`, { ticket });
  await fetch(`${setup.url}/hush-path?q=hush-query`);
  await setup.client.chat.completions.create({ model: 'default', messages: [{ role: 'user', content: 'hush-text' }] });
  const lines = () => setup.logger.lines.join('\n');
  await waitFor('the log line', () => lines().includes('/v1/chat/completions'));
  expect(lines()).toMatch(/"status":200.*"promptTokens":20,"predictedTokens":2/);
  for (const hidden of ['hush', 'sk-secret', 'Hello', String(ticket)]) expect(lines()).not.toContain(hidden);
});
