import { beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../../src/main/base/index.ts';
import { defaultFlagValues, fail, type Message } from '../../../src/main/contract/index.ts';
import { titleOf } from '../../../src/main/services/conversation.ts';
import { Conversations, type ChatEvent } from '../../../src/main/services/index.ts';
import { unwrap } from '../../support/engine.ts';
import { ScriptedEngine } from '../../support/scripted-engine.ts';

let engine: ScriptedEngine;
let chat: Conversations;
let events: ChatEvent[];
beforeEach(() => {
  engine = new ScriptedEngine();
  let ids = 0;
  let now = 0;
  chat = new Conversations({
    engine,
    flags: defaultFlagValues,
    logger: silentLogger,
    createId: () => `id${++ids}`,
    now: () => ++now,
  });
  events = [];
  chat.on((event) => events.push(event));
});

const messagesOf = (id: string): readonly Message[] => unwrap(chat.get(id)).messages;

async function exchange(text: string, answer: string, conversationId?: string) {
  const started = unwrap(chat.send({ text, conversationId }));
  engine.part(started.streamId, { kind: 'text', text: answer });
  await engine.end(started.streamId);
  return started;
}

describe('Conversations', () => {
  it('keeps the user message before the engine is asked, and tells pages in order', () => {
    const { conversationId } = unwrap(chat.send({ text: 'Hello' }));
    expect(events.map((event) => event.type)).toEqual([
      'conversation.changed',
      'message.added',
      'conversation.changed',
      'message.added',
    ]);
    expect(messagesOf(conversationId).map(({ role, status }) => [role, status])).toEqual([
      ['user', 'done'],
      ['assistant', 'streaming'],
    ]);
    expect(engine.requests[0]?.turns).toEqual([{ role: 'user', text: 'Hello' }]);
  });

  it('gathers answer and thinking apart and ends with both', async () => {
    const { conversationId, streamId } = unwrap(chat.send({ text: 'Hello' }));
    engine.part(streamId, { kind: 'thought', text: 'hm ' });
    engine.part(streamId, { kind: 'text', text: 'Hi' });
    engine.part('another', { kind: 'text', text: 'not mine' });
    await engine.end(streamId);
    expect(messagesOf(conversationId).at(-1)).toMatchObject({
      text: 'Hi',
      thought: 'hm ',
      status: 'done',
      streamId: null,
    });
    expect(events.at(-1)).toMatchObject({ type: 'stream.end', message: { text: 'Hi' } });
  });

  it('sends earlier turns without their thinking', async () => {
    const { conversationId } = await exchange('One', 'First');
    unwrap(chat.send({ conversationId, text: 'Two' }));
    expect(engine.requests[1]?.turns).toEqual([
      { role: 'user', text: 'One' },
      { role: 'assistant', text: 'First' },
      { role: 'user', text: 'Two' },
    ]);
  });

  it('keeps a stopped answer, and a failed one with its error and what had come', async () => {
    const stopped = unwrap(chat.send({ text: 'Hello' }));
    engine.part(stopped.streamId, { kind: 'text', text: 'Hi th' });
    expect(chat.stop(stopped.streamId)).toBe(true);
    await engine.end(stopped.streamId);
    expect(messagesOf(stopped.conversationId).at(-1)).toMatchObject({
      status: 'stopped',
      text: 'Hi th',
      stopReason: 'stopped',
    });
    expect(chat.stop(stopped.streamId)).toBe(false);

    const failed = unwrap(chat.send({ conversationId: stopped.conversationId, text: 'Again' }));
    engine.part(failed.streamId, { kind: 'text', text: 'par' });
    await engine.end(failed.streamId, fail('generation_failed', 'no'));
    expect(messagesOf(stopped.conversationId).at(-1)).toMatchObject({
      status: 'failed',
      text: 'par',
      error: { code: 'generation_failed' },
    });
  });

  it('regenerates as a sibling, from the answer or from the question, and switches branches to their end', async () => {
    const { conversationId, answerId, userMessage } = await exchange('One', 'First');
    const follow = await exchange('Two', 'Second', conversationId);
    const again = unwrap(chat.regenerate(conversationId, answerId));
    expect(engine.requests[2]?.turns).toEqual([{ role: 'user', text: 'One' }]);
    await engine.end(again.streamId);
    expect(unwrap(chat.get(conversationId)).leafId).toBe(again.answerId);
    expect(messagesOf(conversationId).filter(({ parentId }) => parentId === userMessage.id)).toHaveLength(2);
    expect(unwrap(chat.select(conversationId, answerId)).leafId).toBe(follow.answerId);
    expect(unwrap(chat.regenerate(conversationId, userMessage.id)).conversationId).toBe(conversationId);
  });

  it('refuses a second answer in a conversation while one is written (two would share one branch)', async () => {
    const { conversationId, streamId, answerId } = unwrap(chat.send({ text: 'Hello' }));
    expect(chat.send({ conversationId, text: 'More' })).toMatchObject({ error: { code: 'conversation_busy' } });
    expect(chat.regenerate(conversationId, answerId)).toMatchObject({ error: { code: 'conversation_busy' } });
    await engine.end(streamId);
    expect(chat.send({ conversationId, text: 'More' }).ok).toBe(true);
  });

  it.each([
    ['an empty message', () => chat.send({ text: ' \n\t' }), 'prompt_empty'],
    ['an unknown conversation', () => chat.send({ text: 'x', conversationId: 'nope' }), 'conversation_not_found'],
    ['an unknown conversation to read', () => chat.get('nope'), 'conversation_not_found'],
    ['an unknown conversation to regenerate', () => chat.regenerate('nope', 'x'), 'conversation_not_found'],
    ['an unknown conversation to select', () => chat.select('nope', 'x'), 'conversation_not_found'],
  ])('%s is an error value', (_name, call, code) => {
    expect(call()).toMatchObject({ ok: false, error: { code } });
  });

  it('does not begin a conversation for a refused message (the list would fill with empty chats)', () => {
    chat.send({ text: '' });
    expect(chat.list()).toEqual([]);
  });

  it('lists the latest first', async () => {
    const first = await exchange('One', 'a');
    const second = await exchange('Two', 'b');
    expect(chat.list().map(({ id }) => id)).toEqual([second.conversationId, first.conversationId]);
    await exchange('Three', 'c', first.conversationId);
    expect(chat.list().map(({ id }) => id)).toEqual([first.conversationId, second.conversationId]);
  });
});

describe('titleOf', () => {
  it.each([
    ['Short', 'Short'],
    ['  First line\nsecond', 'First line'],
    ['word '.repeat(30), `${'word '.repeat(11).trim()}…`],
    ['x'.repeat(100), `${'x'.repeat(59)}…`],
    ['🐭'.repeat(80), `${'🐭'.repeat(59)}…`],
  ])('%j', (text, title) => {
    expect(titleOf(text)).toBe(title);
  });
});
