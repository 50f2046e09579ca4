import { describe, expect, it, onTestFinished } from 'vitest';
import { Emitter, silentLogger } from '../../src/main/base/index.ts';
import { defaultSettings, type AppEvent, type Bridge, type DesktopBridge } from '../../src/main/contract/index.ts';
import { Router } from '../../src/main/ipc/index.ts';
import { createServer } from '../../src/main/server/index.ts';
import { desktopBridge } from '../../src/renderer/state/bridge.ts';
import { HttpBridge } from '../../src/renderer/state/http-bridge.ts';
import { FakeCompletions } from '../integration/server/fakes.ts';
import { ChatBench } from '../support/chat-service.ts';
import { DesktopBench } from '../support/desktop-bench.ts';
import { unwrap } from '../support/engine.ts';
import { loadPreload } from '../support/preload.ts';
import { ScriptedRemote } from '../support/scripted-remote.ts';
import { realServerServices } from '../support/server-services.ts';
import { FakeLadder, FakeTelemetry } from '../support/services.ts';
import { temporaryFolder } from '../support/temp-folder.ts';
import { waitFor } from '../support/wait-for.ts';

type Pair = { readonly bridge: Bridge; readonly chat: ChatBench; readonly shell: 'desktop' | 'browser' };

/** Page's bridge, built preload script, Electron's IPC, main's router. */
async function overDesktop(): Promise<Pair> {
  const bench = await DesktopBench.open();
  return { bridge: desktopBridge(loadPreload(bench.electron).dormouse), chat: bench.chat, shell: 'desktop' };
}

/** Page's bridge, a real socket, the server, main's router. */
async function overHttp(): Promise<Pair> {
  const chat = await ChatBench.open(temporaryFolder());
  const facts = { version: '1', shell: 'browser', logFile: '', dataFolder: '', serverUrl: '', notices: [] } as const;
  const notices = new Emitter<string>();
  const ladder = new FakeLadder();
  const services = await realServerServices(temporaryFolder(), chat.settings, { flags: { port: 0 } });
  const { control, exchanges, remotes } = services;
  chat.remoteModels = () => remotes.knownModels();
  const router = new Router({
    control,
    exchanges,
    remotes,
    chat: chat.chat,
    models: chat.models,
    settings: chat.settings,
    telemetry: new FakeTelemetry(),
    ladder,
    logger: silentLogger,
    onNotice: (listener) => notices.on(listener),
    appInfo: () => ({ ...facts, notices: [] }),
  });
  const options = {
    host: '127.0.0.1',
    port: 0,
    apiKey: null,
    ownerToken: () => null,
    corsOrigins: [],
    allowedHosts: [],
  };
  const server = createServer({
    dispatcher: router,
    models: chat.models,
    completions: new FakeCompletions(),
    ladder,
    logger: silentLogger,
    onExchange: exchanges.add,
    options: { ...options, version: '1', rendererFolder: temporaryFolder() },
  });
  services.serve(server);
  unwrap(await control.begin());
  const url = control.url() ?? '';
  const stored = new Map<string, string>();
  const abort = new AbortController();
  const bridge = new HttpBridge({
    fetch: (path, init) => fetch(new URL(path, url), init),
    storage: {
      getItem: (key) => stored.get(key) ?? null,
      setItem: (key, value) => void stored.set(key, value),
      removeItem: (key) => void stored.delete(key),
    },
    readHash: () => new URL(server.createLink()).hash,
    clearHash: () => undefined,
    isVisible: () => !abort.signal.aborted,
    wait: (milliseconds, done) => {
      const timer = setTimeout(done, milliseconds);
      return () => clearTimeout(timer);
    },
    now: () => Date.now(),
  });
  bridge.start();
  onTestFinished(async () => {
    abort.abort();
    bridge.visibilityChanged();
    await server.close();
  });
  return { bridge, chat, shell: 'browser' };
}

async function opened(make: () => Promise<Pair>): Promise<Pair & { readonly events: AppEvent[] }> {
  const pair = await make();
  const events: AppEvent[] = [];
  pair.bridge.on((event) => events.push(event));
  let state = '';
  pair.bridge.onConnection((now) => (state = now));
  await waitFor('the connection', () => state === 'open');
  return { ...pair, events };
}

describe.each([
  ['preload and IPC', overDesktop],
  ['HTTP', overHttp],
])('the contract over %s', (_name, make) => {
  it('answers requests in the envelope, with the data as main gave it', async () => {
    const { bridge, shell } = await opened(make);
    expect(unwrap(await bridge.request('app.info', {})).shell).toBe(shell);
    expect(unwrap(await bridge.request('settings.get', {}))).toEqual(defaultSettings);
    expect(unwrap(await bridge.request('engine.status', {})).state).toBe('ready');
  });

  it('gives errors as values with code and hint, and never rejects (bug: a bare message, an unhandled rejection)', async () => {
    const { bridge } = await opened(make);
    const unknown = await bridge.request('chat.explode' as 'app.info', {});
    expect(unknown).toMatchObject({ ok: false, error: { code: 'unknown_request' } });
    const invalid = await bridge.request('chat.send', { text: 5 } as never);
    expect(invalid).toMatchObject({ ok: false, error: { code: 'invalid_input' } });
    const refused = await bridge.request('chat.send', { text: '  ' });
    expect(refused).toMatchObject({ ok: false, error: { code: 'prompt_empty', hint: 'Write something first.' } });
    const kept = await bridge.request('settings.set', { lastModel: '/x' } as never);
    expect(kept).toMatchObject({ ok: false, error: { code: 'invalid_input' } });
  });

  it('carries a long text in any script whole', async () => {
    const { bridge, chat } = await opened(make);
    const text = '模型 \u{1f43f}️ "quoted"\n\t\u2028'.repeat(50_000);
    const { userMessage, streamId } = unwrap(await bridge.request('chat.send', { text }));
    expect(userMessage.text).toBe(text);
    await chat.engine.asked(1);
    await chat.engine.end(streamId);
    await chat.ended(streamId);
  });

  it('streams in order and without gaps; a page that comes in the middle attaches and goes on', async () => {
    const { bridge, chat, events } = await opened(make);
    const { streamId } = unwrap(await bridge.request('chat.send', { text: 'Hello' }));
    await chat.engine.asked(1);
    chat.engine.part(streamId, { kind: 'thought', text: 'hm' });
    chat.engine.part(streamId, { kind: 'text', text: 'Once' });
    const snapshot = unwrap(await bridge.request('stream.attach', { streamId }));
    expect(snapshot).toMatchObject({ text: 'Once', thought: 'hm', ended: false });
    chat.engine.part(streamId, { kind: 'text', text: ' more' });
    await chat.engine.end(streamId);
    const end = await waitFor('the end', () => events.find((event) => event.type === 'stream.end'));
    const numbers = events.flatMap((event) =>
      event.type === 'stream.chunk' || event.type === 'stream.end' ? [event.seq] : [],
    );
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
    const later = events.flatMap((event) =>
      event.type === 'stream.chunk' && event.seq > snapshot.seq ? event.parts.map(({ text }) => text) : [],
    );
    expect(snapshot.text + later.join('')).toBe('Once more');
    expect(end.type === 'stream.end' && end.message.text).toBe('Once more');
  });

  it('stops an answer and keeps what there is', async () => {
    const { bridge, chat } = await opened(make);
    const { streamId } = unwrap(await bridge.request('chat.send', { text: 'Hello' }));
    await chat.engine.asked(1);
    chat.engine.part(streamId, { kind: 'text', text: 'Once' });
    expect(unwrap(await bridge.request('chat.stop', { streamId }))).toEqual({ stopped: true });
    expect(await chat.ended(streamId)).toMatchObject({ status: 'stopped', text: 'Once' });
  });

  it('controls the server and remote engines, and tells all pages (bug: a second page shows the old address)', async () => {
    const { bridge, events, shell } = await opened(make);
    const before = unwrap(await bridge.request('server.status', {}));
    expect(before).toMatchObject({ on: true, pageOverServer: shell === 'browser', apiKey: 'none' });
    expect(unwrap(await bridge.request('server.stop', {}))).toMatchObject({ on: false });
    expect(unwrap(await bridge.request('server.start', {}))).toMatchObject({ on: true });
    const refused = await bridge.request('server.configure', { host: '0.0.0.0' });
    expect(refused).toMatchObject({ ok: false, error: { code: 'api_key_required' } });
    const { key } = unwrap(await bridge.request('server.generateKey', {}));
    expect(unwrap(await bridge.request('server.key', {}))).toEqual({ key });
    const baseUrl = (await ScriptedRemote.start()).url;
    const added = unwrap(await bridge.request('remotes.add', { name: 'box', baseUrl, key: 'sesame' }));
    const { models } = unwrap(await bridge.request('models.list', {}));
    expect(models.filter(({ remote }) => remote).map(({ id }) => id)).toEqual(['box/big', 'box/org/small']);
    unwrap(await bridge.request('remotes.remove', { id: added.id }));
    await waitFor('all events', () => events.filter(({ type }) => type === 'remotes.changed').length === 2);
    const told = events.flatMap((event) => (event.type === 'server.changed' ? [event.status.on] : []));
    expect(told).toEqual([false, true, true, true]);
    expect(JSON.stringify(events)).not.toMatch(new RegExp(`sesame|${key ?? ''}`));
  });

  it('tells every listener until it leaves (bug: a page that was left still hears)', async () => {
    const { bridge, events } = await opened(make);
    const others: AppEvent[] = [];
    const leave = bridge.on((event) => others.push(event));
    await bridge.request('settings.set', { theme: 'dark' });
    await waitFor('both to hear', () => others.length === 1 && events.length === 1);
    leave();
    await bridge.request('settings.set', { theme: 'light' });
    await waitFor('one to hear', () => events.length === 2);
    expect(others).toHaveLength(1);
  });
});

describe('the built preload script', () => {
  it('gives the page two functions and asks for nothing but Electron (bug: a page that reaches further)', async () => {
    const bench = await DesktopBench.open();
    const { exposed, dormouse, required } = loadPreload(bench.electron);
    expect(Object.keys(exposed)).toEqual(['dormouse']);
    expect(Object.keys(dormouse).sort()).toEqual(['on', 'request']);
    expect([...new Set(required)]).toEqual(['electron']);
  });

  it('loads a GGUF file that is dropped, and leaves every other drop alone (bug: the window shows the file)', async () => {
    const bench = await DesktopBench.open();
    const loads: string[] = [];
    bench.chat.engine.onLoad = (path) => loads.push(path);
    const { pageListeners } = loadPreload(bench.electron);
    const drop = (types: string[], files: { name: string }[]) => {
      let prevented = false;
      pageListeners.get('drop')?.({ dataTransfer: { types, files }, preventDefault: () => (prevented = true) });
      return prevented;
    };
    expect(drop(['text/plain'], [])).toBe(false);
    expect(drop(['Files'], [{ name: 'notes.txt' }])).toBe(true);
    expect(drop(['Files'], [{ name: 'notes.txt' }, { name: 'Model.GGUF' }])).toBe(true);
    await waitFor('the load', () => loads.includes('/dropped/Model.GGUF'));
    expect(loads).toHaveLength(1);
  });

  it('a main that does not answer is an error value for the page (bug: an unhandled rejection)', async () => {
    const broken: DesktopBridge = { request: () => Promise.reject(new Error('gone')), on: () => () => undefined };
    expect(await desktopBridge(broken).request('app.info', {})).toMatchObject({ error: { code: 'disconnected' } });
  });
});
