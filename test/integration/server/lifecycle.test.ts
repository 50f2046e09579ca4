import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { waitFor } from '../../support/wait-for.ts';
import { ask, buildServer, openSession, openSocket, postJson, startServer } from './fakes.ts';

async function occupy(server: net.Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

describe('start', () => {
  it('says that the port belongs to another Dormouse, and where that one is', async () => {
    const { port } = await startServer();
    const started = await buildServer({ port }).server.start();
    expect(started).toMatchObject({ ok: false, error: { code: 'port_taken' } });
    expect(JSON.stringify(started)).toContain(
      `Another Dormouse (version 1.2.3) is running at http://127.0.0.1:${port}`,
    );
  });

  it.each([
    ['a web server', http.createServer((_, reply) => reply.end('{"service":"other","version":"1"}'))],
    ['one that never answers', net.createServer()],
    ['one that hangs up', net.createServer((socket) => socket.destroy())],
    [
      'one that talks without end',
      net.createServer((socket) => {
        socket.on('error', () => undefined);
        socket.write(`HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(100_000)}`);
      }),
    ],
    [
      'one that writes terminal codes',
      http.createServer((_, reply) => reply.end('{"service":"dormouse","version":"\\u001b[2J"}')),
    ],
  ])('says that the port belongs to another program: %s', async (_name, other) => {
    const port = await occupy(other);
    const started = await buildServer({ port }).server.start();
    const message = `Port ${port} is used by another program.`;
    expect(started).toMatchObject({ ok: false, error: { code: 'port_taken', message } });
    expect(JSON.stringify(started)).toContain('--port');
  });

  it('can be tried again after a failure', async () => {
    const other = net.createServer((socket) => socket.destroy());
    const port = await occupy(other);
    const { server } = buildServer({ port });
    expect((await server.start()).ok).toBe(false);
    await new Promise((resolve) => other.close(resolve));
    expect(await server.start()).toMatchObject({ ok: true, data: { port } });
  });

  it.each(['203.0.113.7', 'no-such-host.invalid'])('says that %s is no address of this computer', async (host) => {
    const started = await buildServer({ host, apiKey: 'key' }).server.start();
    expect(started).toMatchObject({ ok: false, error: { code: 'address_invalid' } });
  });

  it.each(['0.0.0.0', '::', '192.168.1.5', 'example.org'])('refuses %s without an API key', async (host) => {
    const started = await buildServer({ host }).server.start();
    expect(started).toMatchObject({ ok: false, error: { code: 'api_key_required' } });
    expect(JSON.stringify(started)).toContain('--api-key');
  });

  it('gives a link for this computer when it listens everywhere', async () => {
    const { url, server } = await startServer({ host: '0.0.0.0', apiKey: 'key' });
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(server.createLink().startsWith(`${url}/#t=`)).toBe(true);
    expect((await fetch(`${url}/health`)).status).toBe(200);
  });

  it('answers /health with what another Dormouse looks for', async () => {
    const { url } = await startServer();
    expect(await (await fetch(`${url}/health`)).json()).toEqual({
      status: 'ok',
      service: 'dormouse',
      version: '1.2.3',
    });
  });
});

describe('close', () => {
  it('ends event streams, running answers, idle and half-open connections', async () => {
    const setup = await startServer();
    const { port, server, completions, dispatcher } = setup;
    const secret = await openSession(setup);
    const head = 'HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
    const body = JSON.stringify({ ...ask, stream: true });
    const sockets = [
      await openSocket(port),
      await openSocket(port, 'GET /health HT'),
      await openSocket(port, `POST /v1/chat/completions ${head}Content-Length: 100\r\n\r\n{`),
      await openSocket(port, `POST /v1/chat/completions ${head}Content-Length: ${body.length}\r\n\r\n${body}`),
      await openSocket(port, `GET /ui/events ${head}X-Dormouse-Session: ${secret}\r\n\r\n`),
    ];
    await waitFor('the stream', () => dispatcher.events.size === 1);
    (await completions.first()).part('Hello');
    await server.close();
    expect(completions.runs[0]!.signal.aborted).toBe(true);
    expect(dispatcher.events.size).toBe(0);
    for (const { socket } of sockets)
      await waitFor('the end of the socket', () => socket.readableEnded || socket.destroyed);
    // The page sees an orderly end, which it tells apart from a broken line.
    expect(sockets[4]!.received().endsWith('0\r\n\r\n')).toBe(true);
    await expect(fetch(`${setup.url}/health`)).rejects.toThrow();
  });

  it('does not wait for a reader that has stopped reading', async () => {
    const setup = await startServer();
    const secret = await openSession(setup);
    const head = `GET /ui/events HTTP/1.1\r\nHost: localhost\r\nX-Dormouse-Session: ${secret}\r\n\r\n`;
    const { socket } = await openSocket(setup.port, head);
    await waitFor('the stream', () => setup.dispatcher.events.size === 1);
    socket.pause();
    setup.dispatcher.events.emit({ type: 'conversation.removed', conversationId: 'x'.repeat(16 * 1024 * 1024) });
    await setup.server.close();
    expect(setup.dispatcher.events.size).toBe(0);
  });

  it('is harmless before start and twice', async () => {
    await buildServer().server.close();
    const { server, url } = await startServer();
    await postJson(`${url}/v1/nothing`, {});
    await Promise.all([server.close(), server.close()]);
    await server.close();
  });
});
