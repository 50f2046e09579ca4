import { expect, it } from 'vitest';
import { Emitter, silentLogger, type Logger } from '../../../src/main/base/index.ts';
import { defaultSettings, ok, requests, type AppEvent } from '../../../src/main/contract/index.ts';
import { Router } from '../../../src/main/ipc/index.ts';
import { unwrap } from '../../support/engine.ts';
import { ChatBench } from '../../support/chat-service.ts';
import { ManualClock, settled } from '../../support/manual-clock.ts';
import { ScriptedRemote } from '../../support/scripted-remote.ts';
import { FakeServer, realServerServices } from '../../support/server-services.ts';
import { FakeLadder, FakeTelemetry } from '../../support/services.ts';
import { temporaryFolder } from '../../support/temp-folder.ts';

async function createRouter(appInfo?: () => never) {
  const errors: string[] = [];
  const error: Logger['error'] = (message, fields) => errors.push(`${message} ${JSON.stringify(fields)}`);
  const logger: Logger = { ...silentLogger, error };
  const bench = await ChatBench.open(temporaryFolder(), 'id', logger);
  const { chat, models, settings, engine } = bench;
  const info = { version: '1', shell: 'browser', logFile: '', dataFolder: '', serverUrl: '' } as const;
  const notices = new Emitter<string>();
  const clock = new ManualClock();
  const [telemetry, ladder] = [new FakeTelemetry(), new FakeLadder()];
  const { control, exchanges, remotes, serve } = await realServerServices(temporaryFolder(), settings);
  serve(new FakeServer());
  const router = new Router({
    control,
    exchanges,
    remotes,
    chat,
    models,
    settings,
    telemetry,
    ladder,
    logger,
    clock,
    onNotice: (listener) => notices.on(listener),
    appInfo: appInfo ?? (() => ({ ...info, notices: [] })),
  });
  const events: AppEvent[] = [];
  router.subscribe((event) => events.push(event));
  return { router, engine, events, errors, bench, notices, telemetry, ladder, remotes, clock };
}

it.each([
  ['an unknown name', 'chat.explode', {}, 'unknown_request'],
  ['a name from Object.prototype', 'constructor', {}, 'unknown_request'],
  ['a missing field', 'chat.send', {}, 'invalid_input'],
  ['a field too many', 'chat.send', { text: 'x', admin: true }, 'invalid_input'],
  ['a wrong type', 'chat.send', { text: 5 }, 'invalid_input'],
  ['null', 'chat.send', null, 'invalid_input'],
  ['an array', 'app.info', [], 'invalid_input'],
  ['a text beyond the limit', 'chat.send', { text: 'x'.repeat(4 * 1024 * 1024 + 1) }, 'invalid_input'],
  ['a stream that is not there', 'stream.attach', { streamId: 'x' }, 'stream_not_found'],
])('%s is an error value', async (_name, request, input, code) => {
  const { router } = await createRouter();
  expect(await router.dispatch(request, input)).toMatchObject({ ok: false, error: { code } });
});

it('turns a bug in a handler into an error value and a log entry, without the text', async () => {
  const { router, errors } = await createRouter(() => {
    throw new Error('bug');
  });
  expect(await router.dispatch('app.info', {})).toMatchObject({ ok: false, error: { code: 'internal' } });
  expect(errors.join()).toContain('app.info');
});

it('streams an answer: added, chunk, end, with gapless numbers, and attach in between', async () => {
  const { router, engine, events, bench } = await createRouter();
  const sent = await router.dispatch('chat.send', { text: 'Hello' });
  if (!sent.ok) throw new Error(sent.error.message);
  const { streamId } = requests['chat.send'].output.parse(sent.data);
  engine.part(streamId, { kind: 'text', text: 'Hi' });
  expect(await router.dispatch('stream.attach', { streamId })).toEqual(
    ok({ streamId, seq: 1, text: 'Hi', thought: '', ended: false }),
  );
  engine.part(streamId, { kind: 'text', text: ' there' });
  await engine.end(streamId);
  await bench.ended(streamId);
  const stream = events.filter((event) => event.type === 'stream.chunk' || event.type === 'stream.end');
  expect(stream.map((event) => [event.type, event.seq])).toEqual([
    ['stream.chunk', 1],
    ['stream.chunk', 2],
    ['stream.end', 3],
  ]);
});

it('answers every request of the contract in the shape that the contract promises', async () => {
  const { router, engine, bench, remotes } = await createRouter();
  const elsewhere = { name: 'box', baseUrl: (await ScriptedRemote.start()).url, key: null };
  const { id } = unwrap(await remotes.add(elsewhere));
  const sent = await router.dispatch('chat.send', { text: 'Hello' });
  if (!sent.ok) throw new Error(sent.error.message);
  const { streamId, conversationId, userMessage } = requests['chat.send'].output.parse(sent.data);
  const inputs: Record<string, unknown> = {
    'conversation.get': { conversationId },
    'conversation.rename': { conversationId, title: 'Other' },
    'conversation.configure': { conversationId, systemPrompt: 'x' },
    'conversation.delete': { conversationId },
    'conversation.restore': { conversationId },
    'settings.set': { theme: 'dark' },
    'conversation.select': { conversationId, messageId: userMessage.id },
    'chat.regenerate': { conversationId, messageId: userMessage.id },
    'chat.stop': { streamId },
    'engine.load': { model: '/x.gguf' },
    'stream.attach': { streamId },
    'server.configure': { port: 8090 },
    'server.setKey': { key: 'secret' },
    'remotes.add': { ...elsewhere, name: 'other' },
    'remotes.change': { id, name: 'renamed' },
    'remotes.test': { id },
    'remotes.remove': { id },
  };
  await engine.end(streamId);
  await bench.ended(streamId);
  for (const [name, { output }] of Object.entries(requests)) {
    if (name === 'chat.send') continue;
    const reply = await router.dispatch(name, inputs[name] ?? {});
    expect(reply, name).toMatchObject({ ok: true });
    expect(output.safeParse(reply.ok && reply.data).success, name).toBe(true);
  }
});

it('tells pages about notices and changed settings', async () => {
  const { router, events, notices } = await createRouter();
  notices.emit('Disk is nearly full');
  await router.dispatch('settings.set', { theme: 'dark' });
  expect(events).toEqual([
    { type: 'notice', text: 'Disk is nearly full' },
    { type: 'settings.changed', settings: { ...defaultSettings, theme: 'dark' } },
  ]);
});

it('a program that asks many times a second does not have every page drawn as often, and the last state is told (bug: half a core for the pill)', async () => {
  const { engine, events, clock, ladder } = await createRouter();
  const steps = () => events.filter(({ type }) => type === 'ladder.changed').length;
  const states = () =>
    events.splice(0).flatMap((event) => (event.type === 'engine.status' ? [event.status.state] : []));
  for (let answer = 0; answer < 100; answer += 1) {
    for (const state of ['prefill', 'generating', 'ready'] as const) engine.become({ state });
    for (const step of ['computing', 'spinning', 'asleep'] as const) ladder.events.emit({ ...ladder.status(), step });
    clock.advance(10);
  }
  expect(steps()).toBeLessThanOrEqual(5);
  expect(states().length).toBeLessThanOrEqual(5);
  engine.become({ state: 'prefill' });
  engine.become({ state: 'ready' });
  clock.advance(250);
  expect(states().at(-1)).toBe('ready');
  engine.become({ state: 'unloading' });
  engine.become({ state: 'empty' });
  expect(states(), 'anything but answers is told at once').toEqual(['unloading', 'empty']);
});

it('tells the ladder how many pages are seen, so that a hidden window lets the engine rest', async () => {
  const { router, ladder, events } = await createRouter();
  const off = router.subscribe(() => undefined);
  await settled();
  off();
  off();
  await settled();
  expect(ladder.pages).toEqual([1, 2, 1, 1]);
  ladder.events.emit(ladder.status());
  expect(events.at(-1)).toEqual({ type: 'ladder.changed', ladder: ladder.status() });
});

it('tells a new page nothing before its subscription is made: a transport has not sent its head yet', async () => {
  const { router, ladder } = await createRouter();
  await settled();
  ladder.pagesSeen = () => ladder.events.emit(ladder.status());
  const heard: string[] = [];
  router.subscribe(({ type }) => heard.push(type));
  expect(heard).toEqual([]);
  await settled();
  expect(heard).toEqual(['ladder.changed']);
});

it('one of two pages that stops watching does not end the samples of the other: the number of pages goes along', async () => {
  const { router, telemetry } = await createRouter();
  const off = router.subscribe(() => undefined);
  await router.dispatch('telemetry.unwatch', {});
  off();
  await router.dispatch('telemetry.unwatch', {});
  expect(telemetry.unwatched).toEqual([2, 1]);
});
