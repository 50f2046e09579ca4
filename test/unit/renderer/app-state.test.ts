import { describe, expect, it } from 'vitest';
import type { Conversation, Message, RequestOutput, Result } from '../../../src/main/contract/index.ts';
import { AppState } from '../../../src/renderer/state/app-state.ts';
import { newChat } from '../../../src/renderer/state/conversations.ts';
import { visiblePath } from '../../../src/renderer/state/message-tree.ts';
import { FakeBridge, deferred, message, quietTab, refusal, settle, snapshot, status } from './fixtures.ts';

const summary = (id: string, updatedAt = 1) => ({ id, title: id, createdAt: 0, updatedAt });
const question = message({ id: 'q', role: 'user', text: 'Why?' });
const running = message({ id: 'a', parentId: 'q', status: 'streaming', streamId: 's1' });
const finished: Message = { ...running, status: 'done', streamId: null, text: 'Because.', stopReason: 'end' };
const conversation = (messages: readonly Message[], leafId: string | null): Conversation => ({
  ...summary('c1'),
  messages: [...messages],
  leafId,
  systemPrompt: null,
  model: null,
});
const started = { conversationId: 'c1', streamId: 's1', answerId: 'a', userMessage: question };

function build(open: string | null = null) {
  const bridge = new FakeBridge();
  const remembered: (string | null)[] = [];
  const app = new AppState({
    bridge,
    schedule: (paint) => paint(),
    now: () => 0,
    remembered: { read: () => open, write: (id) => remembered.push(id) },
    rememberedSettings: { read: () => ({}), write: () => undefined },
    rememberedView: { read: () => ({}), write: () => undefined },
    goTo: () => undefined,
    tab: quietTab,
  });
  app.start();
  bridge.answer('conversation.list', () => ({ ok: true, data: { conversations: [] } }));
  bridge.answer('conversation.get', () => ({ ok: true, data: conversation([question, running], 'a') }));
  bridge.answer('engine.status', () => ({ ok: true, data: status() }));
  bridge.answer('stream.attach', () => ({ ok: true, data: snapshot() }));
  bridge.answer('chat.send', () => ({ ok: true, data: started }));
  const state = () => app.conversations.store.getState();
  const path = (id = 'c1') => visiblePath(state().trees[id] ?? { byId: {}, leafId: null });
  return { bridge, app, state, path, remembered };
}

describe('sending', () => {
  it('keeps the text and shows why when sending fails (bug: a long message lost)', async () => {
    const { bridge, app, state } = build();
    bridge.answer('chat.send', () => refusal('no_model', 'No model'));
    app.conversations.setDraft(newChat, 'my long message');
    await app.chat.send('my long message');
    expect(state().drafts[newChat]).toBe('my long message');
    expect(state().errors[newChat]?.code).toBe('no_model');
    expect(state().sending[newChat]).toBeUndefined();
  });

  it('empties the composer once main has the message, but not what was typed meanwhile (bug: new text wiped)', async () => {
    const { bridge, app, state } = build();
    const reply = deferred<Result<RequestOutput<'chat.send'>>>();
    bridge.answer('chat.send', () => reply.promise);
    app.conversations.setDraft(newChat, 'one');
    const sent = app.chat.send('one');
    app.conversations.setDraft(newChat, 'one and more');
    reply.resolve({ ok: true, data: started });
    await sent;
    expect(state().drafts[newChat]).toBe('one and more');
  });

  it('sends nothing for white space and nothing twice at once (bug: empty or doubled messages)', async () => {
    const { bridge, app } = build();
    await app.chat.send(' \n\t ');
    await Promise.all([app.chat.send('hi'), app.chat.send('hi')]);
    expect(bridge.count('chat.send')).toBe(1);
  });

  it('opens the new conversation and shows the answer at once (bug: an empty screen until the first event)', async () => {
    const { app, state, path, remembered } = build();
    await app.chat.send('Why?');
    expect(state().currentId).toBe('c1');
    expect(path().map(({ id, status: is }) => [id, is])).toEqual([
      ['q', 'done'],
      ['a', 'streaming'],
    ]);
    expect(remembered).toEqual(['c1']);
  });

  it('does not pull the reader back who left for another chat meanwhile (bug: the screen jumps)', async () => {
    const { bridge, app, state } = build();
    const reply = deferred<Result<RequestOutput<'chat.send'>>>();
    bridge.answer('chat.send', () => reply.promise);
    const sent = app.chat.send('Why?');
    app.conversations.open('c2');
    reply.resolve({ ok: true, data: started });
    await sent;
    expect(state().currentId).toBe('c2');
  });

  it('shows an answer that was over before the reply came (bug: it streams for ever)', async () => {
    const { bridge, app, path } = build();
    bridge.answer('chat.send', () => {
      bridge.emit(
        { type: 'message.added', message: question, leafId: 'q' },
        { type: 'message.added', message: running, leafId: 'a' },
        { type: 'stream.end', streamId: 's1', seq: 1, message: finished },
      );
      return { ok: true, data: started };
    });
    bridge.answer('conversation.get', () => ({ ok: true, data: conversation([question, finished], 'a') }));
    await app.chat.send('Why?');
    expect(path().at(-1)).toEqual(finished);
  });

  it('continues the branch on screen (bug: the message lands on another branch)', async () => {
    const { bridge, app } = build('c1');
    await app.conversations.refresh('c1');
    await app.chat.send('And then?');
    expect(bridge.calls.find(({ name }) => name === 'chat.send')?.input).toEqual({
      text: 'And then?',
      conversationId: 'c1',
      parentId: 'a',
    });
  });
});

describe('events and replies that overtake each other', () => {
  it('does not take a finished answer back to streaming by a late reply (bug: Stop stays for ever)', async () => {
    const { bridge, app, path } = build('c1');
    await app.conversations.refresh('c1');
    const reply = deferred<Result<Conversation>>();
    bridge.answer('conversation.get', () => reply.promise);
    const refreshed = app.conversations.refresh('c1');
    bridge.emit({ type: 'stream.end', streamId: 's1', seq: 1, message: finished });
    reply.resolve({ ok: true, data: conversation([question, running], 'a') });
    await refreshed;
    expect(path().at(-1)?.status).toBe('done');
  });

  it('keeps the branch chosen while a reply was on its way (bug: the screen switches back)', async () => {
    const { bridge, app, path } = build('c1');
    const other = message({ id: 'b', parentId: 'q', text: 'Other' });
    bridge.answer('conversation.get', () => ({ ok: true, data: conversation([question, finished, other], 'a') }));
    await app.conversations.refresh('c1');
    const reply = deferred<Result<Conversation>>();
    bridge.answer('conversation.get', () => reply.promise);
    const refreshed = app.conversations.refresh('c1');
    bridge.emit({ type: 'leaf.changed', conversationId: 'c1', leafId: 'b' });
    reply.resolve({ ok: true, data: conversation([question, finished, other], 'a') });
    await refreshed;
    expect(path().at(-1)?.id).toBe('b');
  });

  it('keeps an engine event that came after the question for the status (bug: the pill goes back to Loading)', async () => {
    const { bridge, app } = build();
    const reply = deferred<Result<RequestOutput<'engine.status'>>>();
    bridge.answer('engine.status', () => reply.promise);
    const refreshed = app.engine.refresh();
    bridge.emit({ type: 'engine.status', status: status({ state: 'ready' }) });
    reply.resolve({ ok: true, data: status({ state: 'loading' }) });
    await refreshed;
    expect(app.engine.store.getState().status?.state).toBe('ready');
  });

  it('asks for the list again when it changed meanwhile (bug: a new chat missing in the list)', async () => {
    const { bridge, app, state } = build();
    const first = deferred<Result<RequestOutput<'conversation.list'>>>();
    bridge.answer('conversation.list', () => first.promise);
    const refreshed = app.conversations.refreshList();
    bridge.emit({ type: 'conversation.changed', conversation: summary('new', 9) });
    bridge.answer('conversation.list', () => ({
      ok: true,
      data: { conversations: [summary('old', 1), summary('new', 9)] },
    }));
    first.resolve({ ok: true, data: { conversations: [summary('old', 1)] } });
    await refreshed;
    expect(state().list?.map(({ id }) => id)).toEqual(['new', 'old']);
  });
});

describe('connection', () => {
  it('fetches everything anew after each opening and attaches to the running answer (bug: stale page after sleep)', async () => {
    const { bridge, app } = build('c1');
    bridge.answer('stream.attach', () => ({ ok: true, data: snapshot({ seq: 5, text: 'Beca' }) }));
    bridge.connection('open');
    await settle();
    expect(app.streams.view('s1')?.text).toBe('Beca');
    bridge.connection('lost');
    bridge.answer('stream.attach', () => ({ ok: true, data: snapshot({ seq: 8, text: 'Because.' }) }));
    bridge.connection('open');
    await settle();
    expect(app.streams.view('s1')?.text).toBe('Because.');
    for (const name of ['engine.status', 'conversation.list', 'conversation.get'] as const) {
      expect(bridge.count(name)).toBe(2);
    }
  });

  it('shows the end of an answer that ended while the page was away (bug: it streams for ever)', async () => {
    const { bridge, path } = build('c1');
    bridge.connection('open');
    await settle();
    bridge.connection('lost');
    bridge.answer('conversation.get', () => ({ ok: true, data: conversation([question, finished], 'a') }));
    bridge.connection('open');
    await settle();
    expect(path().at(-1)).toEqual(finished);
  });

  it('leaves a conversation that is gone after a restart of main (bug: an error page nobody can leave)', async () => {
    const { bridge, state, remembered } = build('c1');
    bridge.answer('conversation.get', () => refusal('conversation_not_found'));
    bridge.connection('open');
    await settle();
    expect([state().currentId, remembered]).toEqual([null, [null]]);
  });
});

describe('stopping', () => {
  it('works in the moment between sending and the reply (bug: an early Esc is lost)', async () => {
    const { bridge, app } = build();
    bridge.answer('chat.stop', () => ({ ok: true, data: { stopped: true } }));
    const sent = app.chat.send('Why?');
    app.chat.stopWhenSent(newChat);
    await sent;
    expect(bridge.calls.find(({ name }) => name === 'chat.stop')?.input).toEqual({ streamId: 's1' });
    await app.chat.send('And?');
    expect(bridge.count('chat.stop')).toBe(1);
  });

  it('fetches the conversation when the stream had already ended (bug: a Stop button that does nothing)', async () => {
    const { bridge, app, path } = build('c1');
    await app.conversations.refresh('c1');
    bridge.answer('chat.stop', () => ({ ok: true, data: { stopped: false } }));
    bridge.answer('conversation.get', () => ({ ok: true, data: conversation([question, finished], 'a') }));
    await app.chat.stop('c1', 's1');
    expect(path().at(-1)?.status).toBe('done');
  });
});

describe('regenerating', () => {
  it('shows the new branch at once and keeps the old one (bug: the first answer vanishes)', async () => {
    const { bridge, app, state, path } = build('c1');
    bridge.answer('conversation.get', () => ({ ok: true, data: conversation([question, finished], 'a') }));
    await app.conversations.refresh('c1');
    bridge.answer('chat.regenerate', () => ({
      ok: true,
      data: { conversationId: 'c1', streamId: 's2', answerId: 'a2' },
    }));
    await app.chat.regenerate(finished);
    expect(path().map(({ id }) => id)).toEqual(['q', 'a2']);
    expect(state().trees['c1']?.byId['a']).toEqual(finished);
  });
});
