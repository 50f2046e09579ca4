import { expect, it } from 'vitest';
import { silentLogger, type Logger } from '../../../src/main/base/index.ts';
import { defaultFlagValues, ok, requests, type AppEvent } from '../../../src/main/contract/index.ts';
import { Router } from '../../../src/main/ipc/index.ts';
import { Conversations, EngineModels } from '../../../src/main/services/index.ts';
import { ScriptedEngine } from '../../support/scripted-engine.ts';

function createRouter(appInfo?: () => never) {
  const engine = new ScriptedEngine();
  let ids = 0;
  const errors: string[] = [];
  const logger: Logger = {
    ...silentLogger,
    error: (message, fields) => errors.push(`${message} ${JSON.stringify(fields)}`),
  };
  const chat = new Conversations({
    engine,
    flags: defaultFlagValues,
    logger,
    createId: () => `id${++ids}`,
    now: () => 1,
  });
  const models = new EngineModels({ engine, flags: defaultFlagValues, builtinPath: '/builtin.gguf' });
  const info = { version: '1', shell: 'browser', logFile: '', dataFolder: '', serverUrl: '', notices: [] } as const;
  const router = new Router({ chat, models, logger, appInfo: appInfo ?? (() => ({ ...info, notices: [] })) });
  const events: AppEvent[] = [];
  router.subscribe((event) => events.push(event));
  return { router, engine, events, errors };
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
  const { router } = createRouter();
  expect(await router.dispatch(request, input)).toMatchObject({ ok: false, error: { code } });
});

it('turns a bug in a handler into an error value and a log entry, without the text', async () => {
  const { router, errors } = createRouter(() => {
    throw new Error('bug');
  });
  expect(await router.dispatch('app.info', {})).toMatchObject({ ok: false, error: { code: 'internal' } });
  expect(errors.join()).toContain('app.info');
});

it('streams an answer: added, chunk, end, with gapless numbers, and attach in between', async () => {
  const { router, engine, events } = createRouter();
  const sent = await router.dispatch('chat.send', { text: 'Hello' });
  if (!sent.ok) throw new Error(sent.error.message);
  const { streamId } = requests['chat.send'].output.parse(sent.data);
  engine.part(streamId, { kind: 'text', text: 'Hi' });
  expect(await router.dispatch('stream.attach', { streamId })).toEqual(
    ok({ streamId, seq: 1, text: 'Hi', thought: '', ended: false }),
  );
  engine.part(streamId, { kind: 'text', text: ' there' });
  await engine.end(streamId);
  const stream = events.filter((event) => event.type === 'stream.chunk' || event.type === 'stream.end');
  expect(stream.map((event) => [event.type, event.seq])).toEqual([
    ['stream.chunk', 1],
    ['stream.chunk', 2],
    ['stream.end', 3],
  ]);
});

it('answers every request of the contract in the shape that the contract promises', async () => {
  const { router, engine } = createRouter();
  const sent = await router.dispatch('chat.send', { text: 'Hello' });
  if (!sent.ok) throw new Error(sent.error.message);
  const { streamId, conversationId, userMessage } = requests['chat.send'].output.parse(sent.data);
  const inputs: Record<string, unknown> = {
    'conversation.get': { conversationId },
    'conversation.select': { conversationId, messageId: userMessage.id },
    'chat.regenerate': { conversationId, messageId: userMessage.id },
    'chat.stop': { streamId },
    'stream.attach': { streamId },
  };
  await engine.end(streamId);
  for (const [name, { output }] of Object.entries(requests)) {
    if (name === 'chat.send' || name === 'engine.load') continue;
    const reply = await router.dispatch(name, inputs[name] ?? {});
    expect(reply, name).toMatchObject({ ok: true });
    expect(output.safeParse(reply.ok && reply.data).success, name).toBe(true);
  }
});
