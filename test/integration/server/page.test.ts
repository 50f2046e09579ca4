import { symlinkSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ok, type AppEvent } from '../../../src/main/contract/index.ts';
import { temporaryFolder } from '../../support/temp-folder.ts';
import { waitFor } from '../../support/wait-for.ts';
import {
  openSession,
  openSocket,
  postJson,
  rawRequest,
  startServer,
  ticketOf,
  writePage,
  type Setup,
} from './fakes.ts';

describe('static files', () => {
  it('sends the page with headers that forbid framing, inline code and foreign hosts', async () => {
    const { url, rendererFolder } = await startServer();
    writePage(rendererFolder);
    const reply = await fetch(url);
    expect(await reply.text()).toContain('Dormouse');
    const headers = Object.fromEntries(reply.headers);
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
    });
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; .*frame-ancestors 'none'$/);
    expect(headers['content-security-policy']).not.toContain('unsafe');
  });

  it('keeps hashed files for ever and others never unasked, with the right types', async () => {
    const { url, rendererFolder } = await startServer();
    writePage(rendererFolder);
    const script = await fetch(`${url}/assets/index-B3xY9aQz.js`);
    expect(script.headers.get('content-type')).toContain('text/javascript');
    expect(script.headers.get('cache-control')).toContain('immutable');
    const icon = await fetch(`${url}/icon.svg`);
    expect(icon.headers.get('content-type')).toBe('image/svg+xml');
    expect(icon.headers.get('cache-control')).toBe('no-cache');
    const head = await fetch(url, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect((await fetch(url, { method: 'DELETE' })).status).toBe(405);
  });

  it.each([
    '/../secret.txt',
    '/..%2fsecret.txt',
    '/%2e%2e/secret.txt',
    '/assets/..%2f..%2fsecret.txt',
    '/..%5csecret.txt',
    '/assets/%2e%2e%5c..%5csecret.txt',
    '//secret.txt',
    '/./../secret.txt',
    '/secret.txt%00.html',
    '/link.txt',
    '/.hidden',
    '/%',
    '/assets',
    '/assets/',
    '/C:/secret.txt',
  ])('never leaves its folder: %s', async (path) => {
    const outer = temporaryFolder();
    const rendererFolder = join(outer, 'page');
    writePage(rendererFolder);
    writeFileSync(join(outer, 'secret.txt'), 'secret');
    writeFileSync(join(rendererFolder, '.hidden'), 'secret');
    symlinkSync(join(outer, 'secret.txt'), join(rendererFolder, 'link.txt'));
    const { port } = await startServer({ rendererFolder });
    const { received } = await openSocket(port, `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
    await waitFor('a refusal', () => /^HTTP\/1.1 4\d\d/.test(received()));
    expect(received()).not.toMatch(/\r\n\r\nsecret/);
  });

  it('says in a sentence that the page is not built yet', async () => {
    const { url } = await startServer();
    const reply = await fetch(url);
    expect(reply.status).toBe(503);
    expect(await reply.text()).toBe(
      'Dormouse is running, but its page has not been built yet. "npm start" builds it.\n',
    );
  });
});

describe('one-time link', () => {
  it('points at the server and works once', async () => {
    const { server, url } = await startServer();
    const link = server.createLink();
    expect(link).toMatch(new RegExp(`^${url}/#t=[A-Za-z0-9_-]{22,}$`));
    const ticket = ticketOf(link);
    const first = await postJson(`${url}/ui/session`, { ticket });
    expect(first.status).toBe(200);
    const { data } = (await first.json()) as { data: { secret: string } };
    expect(data.secret).toMatch(/^[A-Za-z0-9_-]{22,}$/);
    const second = await postJson(`${url}/ui/session`, { ticket });
    expect(second.status).toBe(401);
    expect(await second.json()).toMatchObject({ ok: false, error: { code: 'ticket_invalid' } });
  });

  it('is given to one of two pages that come at the same moment', async () => {
    const { server, url } = await startServer();
    const ticket = ticketOf(server.createLink());
    const replies = await Promise.all([1, 2, 3].map(() => postJson(`${url}/ui/session`, { ticket })));
    expect(replies.map((reply) => reply.status).sort()).toEqual([200, 401, 401]);
  });

  it('expires after a minute, and stays good until then', async () => {
    const { server, url, clock } = await startServer();
    const early = ticketOf(server.createLink());
    const late = ticketOf(server.createLink());
    clock.now = 60_000;
    expect((await postJson(`${url}/ui/session`, { ticket: early })).status).toBe(200);
    clock.now = 60_001;
    expect((await postJson(`${url}/ui/session`, { ticket: late })).status).toBe(401);
  });

  it('slows down guessing without locking out the owner of a good link', async () => {
    const { server, url } = await startServer();
    const statuses = new Set<number>();
    for (let index = 0; index < 22; index += 1) {
      statuses.add((await postJson(`${url}/ui/session`, { ticket: `guess-${index}` })).status);
    }
    expect([...statuses]).toEqual([401, 429]);
    expect((await postJson(`${url}/ui/session`, { ticket: ticketOf(server.createLink()) })).status).toBe(200);
  });

  it('does not keep unused tickets without bound: the oldest goes', async () => {
    const { server, url } = await startServer();
    const tickets = Array.from({ length: 17 }, () => ticketOf(server.createLink()));
    expect((await postJson(`${url}/ui/session`, { ticket: tickets[0] })).status).toBe(401);
    expect((await postJson(`${url}/ui/session`, { ticket: tickets[1] })).status).toBe(200);
  });

  it.each([[{}], [{ ticket: 5 }], [[]], [null], [{ ticket: '' }], [{ ticket: 'a', more: 1 }]])(
    'refuses %j as a ticket without a crash',
    async (body) => {
      const { url } = await startServer();
      expect((await postJson(`${url}/ui/session`, body)).status).toBe(400);
    },
  );
});

describe('requests', () => {
  it('needs the secret, in its header and nowhere else', async () => {
    const setup = await startServer();
    const secret = await openSession(setup);
    const call = (headers: Record<string, string>, query = '') =>
      postJson(`${setup.url}/ui/request/app.info${query}`, {}, headers);
    for (const reply of [
      await call({}),
      await call({ 'x-dormouse-session': `${secret}x` }),
      await call({ 'x-dormouse-session': '' }),
      await call({ cookie: `x-dormouse-session=${secret}` }),
      await call({}, `?x-dormouse-session=${secret}`),
    ]) {
      expect(reply.status).toBe(401);
      expect(await reply.json()).toMatchObject({ ok: false, error: { code: 'session_required' } });
    }
    expect(setup.dispatcher.calls).toHaveLength(0);
    expect((await call({ 'x-dormouse-session': secret })).status).toBe(200);
  });

  it('carries name, input, results and error values unchanged', async () => {
    const setup = await startServer();
    const headers = { 'x-dormouse-session': await openSession(setup) };
    const input = { text: 'ä \ud83d\ude34 \u0000 <|im_end|>' };
    setup.dispatcher.reply = () => ok({ echoed: true });
    const good = await postJson(`${setup.url}/ui/request/chat.send`, input, headers);
    expect(await good.json()).toEqual({ ok: true, data: { echoed: true } });
    expect(setup.dispatcher.calls).toEqual([{ name: 'chat.send', input }]);
    setup.dispatcher.reply = () => ({ ok: false, error: { code: 'no_model', message: 'None.' } });
    const bad = await postJson(`${setup.url}/ui/request/chat.send`, input, headers);
    expect([bad.status, await bad.json()]).toEqual([200, { ok: false, error: { code: 'no_model', message: 'None.' } }]);
  });

  const ownAddress = Object.values(networkInterfaces())
    .flat()
    .find((entry) => entry?.family === 'IPv4' && !entry.internal)?.address;

  it.skipIf(ownAddress === undefined)('lets no other computer choose a file of this one to open', async () => {
    const address = ownAddress ?? '';
    const setup = await startServer({ host: '0.0.0.0', apiKey: 'key', allowedHosts: [address] });
    const headers = { 'x-dormouse-session': await openSession(setup) };
    const load = (host: string, model: string) =>
      postJson(`http://${host}:${setup.port}/ui/request/engine.load`, { model }, headers);
    const far = await load(address, '/etc/passwd');
    expect([far.status, await far.json()]).toMatchObject([403, { ok: false, error: { code: 'forbidden' } }]);
    expect(setup.dispatcher.calls).toHaveLength(0);
    expect((await load(address, 'builtin')).status).toBe(200);
    expect((await load('127.0.0.1', '/models/a.gguf')).status).toBe(200);
  });

  it('answers unknown addresses and methods in the shape that the page reads', async () => {
    const setup = await startServer();
    const nowhere = await fetch(`${setup.url}/ui/nothing`);
    expect([nowhere.status, await nowhere.json()]).toMatchObject([
      404,
      { ok: false, error: { code: 'unknown_request' } },
    ]);
    const method = await fetch(`${setup.url}/ui/request/app.info`);
    expect([method.status, method.headers.get('allow')]).toEqual([405, 'POST']);
  });
});

describe('events', () => {
  const event = (conversationId: string): AppEvent => ({ type: 'conversation.removed', conversationId });

  async function openEvents(setup: Setup) {
    const secret = await openSession(setup);
    const head = `GET /ui/events HTTP/1.1\r\nHost: localhost\r\nX-Dormouse-Session: ${secret}\r\n\r\n`;
    const opened = await openSocket(setup.port, head);
    await waitFor('the head', () => opened.received().includes(': open'), { everyMs: 2 });
    return opened;
  }

  it('streams every event to every page, in order', async () => {
    const setup = await startServer();
    const pages = [await openEvents(setup), await openEvents(setup)];
    for (const id of ['a', 'b', 'c']) setup.dispatcher.events.emit(event(id));
    for (const { received } of pages) {
      await waitFor('all events', () => received().includes('"c"'));
      const data = [...received().matchAll(/^data: (.*)$/gm)].map((match) => JSON.parse(match[1]!) as unknown);
      expect(data).toEqual([event('a'), event('b'), event('c')]);
      expect(received()).toContain('content-type: text/event-stream');
    }
  });

  it('refuses a page without a secret before it subscribes', async () => {
    const { url, dispatcher } = await startServer();
    expect((await fetch(`${url}/ui/events`)).status).toBe(401);
    expect(dispatcher.events.size).toBe(0);
  });

  it('does not leave a subscription behind for HEAD', async () => {
    const setup = await startServer();
    const headers = { 'x-dormouse-session': await openSession(setup) };
    expect((await rawRequest(setup.port, { method: 'HEAD', path: '/ui/events', headers })).status).toBe(405);
    expect(setup.dispatcher.events.size).toBe(0);
  });

  it('unsubscribes a page that is gone', async () => {
    const setup = await startServer();
    const stays = await openEvents(setup);
    const goes = await openEvents(setup);
    expect(setup.dispatcher.events.size).toBe(2);
    goes.socket.destroy();
    await waitFor('one subscription', () => setup.dispatcher.events.size === 1);
    setup.dispatcher.events.emit(event('after'));
    await waitFor('the event', () => stays.received().includes('after'));
  });

  it('proves every few seconds that the line is alive', async () => {
    const setup = await startServer({}, { eventHeartbeatMs: 5 });
    const { received } = await openEvents(setup);
    await waitFor('two heartbeats', () => received().split(': waiting').length > 2);
  });

  it('cuts off a page that stops reading instead of keeping its events in memory', async () => {
    const setup = await startServer({}, { eventQueueBytes: 64 * 1024 });
    const stuck = await openEvents(setup);
    const reads = await openEvents(setup);
    stuck.socket.pause();
    let sent = 0;
    const filler = 'x'.repeat(16 * 1024);
    await waitFor(
      'the cut',
      () => {
        // Less than the bound at a time, so that only who does not read reaches it.
        for (let index = 0; index < 3; index += 1) setup.dispatcher.events.emit(event(`${(sent += 1)} ${filler}`));
        return setup.dispatcher.events.size === 1;
      },
      { everyMs: 5 },
    );
    // What the kernel buffers is some MiB; without the bound this would have gone on for ever.
    expect(sent).toBeLessThan(4000);
    await waitFor('the other page has it all', () => reads.received().includes(`"${sent} `));
  });

  it('does not cut off a page because of one long message with a short one behind it', async () => {
    const setup = await startServer({}, { eventQueueBytes: 64 * 1024 });
    const { received } = await openEvents(setup);
    setup.dispatcher.events.emit(event('x'.repeat(8 * 1024 * 1024)));
    setup.dispatcher.events.emit(event('short'));
    await waitFor('the short one', () => received().includes('"short"'));
    expect(setup.dispatcher.events.size).toBe(1);
  });
});
