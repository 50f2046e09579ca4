import { describe, expect, it } from 'vitest';
import type { AppEvent, ConnectionState } from '../../../src/main/contract/index.ts';
import { HttpBridge } from '../../../src/renderer/state/http-bridge.ts';
import { deferred, settle } from './fixtures.ts';

const ticket = 'T'.repeat(24);
const changed = (id: string): AppEvent => ({ type: 'conversation.removed', conversationId: id });

interface Call {
  readonly path: string;
  readonly init: RequestInit;
}

/** A server and a browser as far as the bridge sees them. */
function build(options: { readonly hash?: string; readonly secret?: string } = {}) {
  const stored = new Map(options.secret === undefined ? [] : [['dormouse-session', options.secret]]);
  const world = { hash: options.hash ?? '', visible: true, now: 0, offline: false };
  const calls: Call[] = [];
  const waits: { readonly ms: number; readonly done: () => void }[] = [];
  const watches: { readonly ms: number; readonly done: () => void }[] = [];
  const streams: ReadableStreamDefaultController<Uint8Array>[] = [];
  const replies = new Map<string, (secret: string | null) => Response | Promise<Response>>();
  const json = (value: unknown, status = 200) => new Response(JSON.stringify(value), { status });
  replies.set('/ui/session', () => json({ ok: true, data: { secret: 'fresh' } }));
  replies.set('/ui/request/app.info', () => json({ ok: true, data: { version: '1' } }));
  const openStream = (signal: AbortSignal | null | undefined) =>
    new ReadableStream<Uint8Array>({
      start: (controller) => {
        streams.push(controller);
        signal?.addEventListener('abort', () => controller.error(new DOMException('aborted', 'AbortError')));
      },
    });
  const bridge = new HttpBridge({
    fetch: async (path, init) => {
      calls.push({ path, init });
      if (world.offline) throw new TypeError('Failed to fetch');
      const reply = replies.get(path);
      if (reply !== undefined) return reply(new Headers(init.headers).get('x-dormouse-session'));
      return path === '/ui/events' ? new Response(openStream(init.signal)) : json({ ok: false }, 404);
    },
    storage: {
      getItem: (key) => stored.get(key) ?? null,
      setItem: (key, value) => void stored.set(key, value),
      removeItem: (key) => void stored.delete(key),
    },
    readHash: () => world.hash,
    clearHash: () => (world.hash = ''),
    isVisible: () => world.visible,
    wait: (ms, done) => {
      const entry = { ms, done };
      // Retries take 5 s at most; longer is the watch over a silent stream.
      const list = ms > 5000 ? watches : waits;
      list.push(entry);
      return () => void (list.includes(entry) && list.splice(list.indexOf(entry), 1));
    },
    now: () => world.now,
  });
  const states: ConnectionState[] = [];
  const events: AppEvent[] = [];
  bridge.onConnection((state) => states.push(state));
  bridge.on((event) => events.push(event));
  const start = async () => {
    bridge.start();
    await settle();
  };
  const paths = () => calls.map(({ path }) => path);
  const send = async (...sent: readonly AppEvent[]) => {
    for (const event of sent) streams.at(-1)?.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(event)}\n\n`));
    await settle();
  };
  const runWait = async () => {
    waits.shift()?.done();
    await settle();
  };
  return {
    bridge,
    world,
    calls,
    waits,
    watches,
    streams,
    replies,
    stored,
    states,
    events,
    start,
    paths,
    send,
    runWait,
    json,
  };
}

describe('HttpBridge', () => {
  it('trades the ticket once, takes it out of the address and keeps the secret (bug: a ticket left in the history)', async () => {
    const { start, world, calls, stored, states, paths } = build({ hash: `#t=${ticket}` });
    await start();
    expect(world.hash).toBe('');
    expect(paths()).toEqual(['/ui/session', '/ui/events']);
    expect(calls[0]?.init.body).toBe(JSON.stringify({ ticket }));
    expect(new Headers(calls[1]?.init.headers).get('x-dormouse-session')).toBe('fresh');
    expect([stored.get('dormouse-session'), states]).toEqual(['fresh', ['connecting', 'open']]);
  });

  it('uses the kept secret after a reload (bug: every reload needs a new link)', async () => {
    const { start, paths, states } = build({ secret: 'kept' });
    await start();
    expect([paths(), states]).toEqual([['/ui/events'], ['connecting', 'open']]);
  });

  it('is refused without ticket and secret, and answers requests at once (bug: requests that hang for ever)', async () => {
    const { bridge, start, states, paths } = build();
    const early = bridge.request('app.info', {});
    await start();
    expect(states).toEqual(['connecting', 'refused']);
    expect(await early).toMatchObject({ ok: false, error: { code: 'session_required' } });
    expect(await bridge.request('app.info', {})).toMatchObject({ ok: false, error: { code: 'session_required' } });
    expect(paths()).toEqual([]);
  });

  it('falls back to the kept secret when the link was used up (bug: pressing the same link twice locks the page out)', async () => {
    const used = build({ hash: `#t=${ticket}`, secret: 'kept' });
    used.replies.set('/ui/session', () =>
      used.json({ ok: false, error: { code: 'ticket_invalid', message: 'used' } }, 401),
    );
    await used.start();
    expect(used.states).toEqual(['connecting', 'open']);
    const fresh = build({ hash: `#t=${ticket}` });
    fresh.replies.set('/ui/session', () =>
      fresh.json({ ok: false, error: { code: 'ticket_invalid', message: 'used' } }, 401),
    );
    await fresh.start();
    expect(fresh.states).toEqual(['connecting', 'refused']);
  });

  it('takes a fresh link in the same tab after a refusal (bug: only a new tab helps)', async () => {
    const { bridge, start, states, world } = build();
    await start();
    world.hash = `#t=${ticket}`;
    bridge.hashChanged();
    await settle();
    expect(states).toEqual(['connecting', 'refused', 'connecting', 'open']);
  });

  it('holds requests until the ticket is traded (bug: the first requests of a page are refused)', async () => {
    const { bridge, replies, json, start } = build({ hash: `#t=${ticket}` });
    const trade = deferred<Response>();
    replies.set('/ui/session', () => trade.promise);
    replies.set('/ui/request/app.info', (secret) => json({ ok: true, data: { version: secret } }));
    const info = bridge.request('app.info', {});
    await start();
    trade.resolve(json({ ok: true, data: { secret: 'fresh' } }));
    expect(await info).toMatchObject({ ok: true, data: { version: 'fresh' } });
  });

  it('passes events on in order (bug: events of one piece reversed or dropped)', async () => {
    const { start, send, events } = build({ secret: 'kept' });
    await start();
    await send(changed('a'), changed('b'));
    await send(changed('c'));
    expect(events).toEqual([changed('a'), changed('b'), changed('c')]);
  });

  it('survives an event that is no JSON (bug: one bad line ends the stream)', async () => {
    const { start, send, events, streams, states } = build({ secret: 'kept' });
    await start();
    streams[0]?.enqueue(new TextEncoder().encode('data: {oops\n\n'));
    await send(changed('a'));
    expect([events, states.at(-1)]).toEqual([[changed('a')], 'open']);
  });

  it('waits longer after each failure, at most 5 s, and starts over after a stable time (bug: a busy loop against a dead server)', async () => {
    const { start, world, waits, runWait, states, streams } = build({ secret: 'kept' });
    world.offline = true;
    await start();
    const delays: number[] = [];
    for (let turn = 0; turn < 7; turn += 1) {
      delays.push(waits[0]?.ms ?? 0);
      await runWait();
    }
    expect(delays).toEqual([250, 500, 1000, 2000, 4000, 5000, 5000]);
    expect(states).toEqual(['connecting', 'lost']);
    world.offline = false;
    await runWait();
    expect(states.at(-1)).toBe('open');
    world.now = 60_000;
    streams.at(-1)?.close();
    await settle();
    expect([states.at(-1), waits[0]?.ms]).toEqual(['lost', 250]);
  });

  it('does not retry at full speed when the server opens and closes at once (bug: four connections a second for ever)', async () => {
    const { start, waits, runWait, streams } = build({ secret: 'kept' });
    await start();
    const delays: number[] = [];
    for (let turn = 0; turn < 3; turn += 1) {
      streams.at(-1)?.close();
      await settle();
      delays.push(waits[0]?.ms ?? 0);
      await runWait();
    }
    expect(delays).toEqual([250, 500, 1000]);
  });

  it('closes the stream of a hidden tab and says open again when it is seen (bug: six hidden tabs block the browser; stale state after a return)', async () => {
    const { bridge, start, world, calls, waits, states } = build({ secret: 'kept' });
    await start();
    world.visible = false;
    bridge.visibilityChanged();
    await settle();
    expect([calls[0]?.init.signal?.aborted, waits.length]).toEqual([true, 0]);
    world.visible = true;
    bridge.visibilityChanged();
    await settle();
    expect(states).toEqual(['connecting', 'open', 'connecting', 'open']);
  });

  it('opens no stream for a tab that starts hidden, but answers its requests (bug: a background tab takes a connection)', async () => {
    const { bridge, start, world, paths } = build({ secret: 'kept' });
    world.visible = false;
    await start();
    expect(paths()).toEqual([]);
    expect(await bridge.request('app.info', {})).toMatchObject({ ok: true });
    world.visible = true;
    bridge.visibilityChanged();
    await settle();
    expect(paths()).toContain('/ui/events');
  });

  it('takes a stream without heartbeats as lost (bug: after a suspended laptop the page looks alive for ever)', async () => {
    const { start, world, watches, waits, states, send } = build({ secret: 'kept' });
    await start();
    world.now = 50_000;
    await send(changed('a'));
    world.now = 60_000;
    watches.shift()?.done();
    await settle();
    expect([states.at(-1), watches[0]?.ms]).toEqual(['open', 50_000]);
    world.now = 110_000;
    watches.shift()?.done();
    await settle();
    expect([states.at(-1), waits.length, watches.length]).toEqual(['lost', 1, 0]);
  });

  it('gives up its secret on 401, from the stream or a request (bug: endless retries without a right)', async () => {
    const stream = build({ secret: 'old' });
    stream.replies.set('/ui/events', () => new Response('', { status: 401 }));
    await stream.start();
    expect([stream.states, stream.stored.size, stream.waits.length]).toEqual([['connecting', 'refused'], 0, 0]);
    const request = build({ secret: 'old' });
    request.replies.set('/ui/request/app.info', () =>
      request.json({ ok: false, error: { code: 'session_required', message: 'no' } }, 401),
    );
    await request.start();
    expect(await request.bridge.request('app.info', {})).toMatchObject({
      ok: false,
      error: { code: 'session_required' },
    });
    expect(request.states).toEqual(['connecting', 'open', 'refused']);
  });

  it('answers with error values when the network or the body fails (bug: an exception out of request)', async () => {
    const { bridge, start, world, replies } = build({ secret: 'kept' });
    await start();
    replies.set('/ui/request/app.info', () => new Response('<html>Bad gateway</html>', { status: 502 }));
    expect(await bridge.request('app.info', {})).toMatchObject({ ok: false, error: { code: 'internal' } });
    world.offline = true;
    expect(await bridge.request('app.info', {})).toMatchObject({ ok: false, error: { code: 'disconnected' } });
  });
});
