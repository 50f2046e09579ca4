import { describe, expect, it } from 'vitest';
import { defaultSettings, type RequestOutput, type Result } from '../../../src/main/contract/index.ts';
import { AppState } from '../../../src/renderer/state/app-state.ts';
import { newChat } from '../../../src/renderer/state/conversations.ts';
import { titleMatcher } from '../../../src/renderer/lib/match-title.ts';
import { FakeBridge, deferred, message, quietTab, refusal, settle } from './fixtures.ts';

const summary = (id: string, updatedAt = 1, title = id) => ({ id, title, createdAt: 0, updatedAt });
const question = message({ id: 'q', role: 'user', text: 'Why?' });
const answer = message({ id: 'a', parentId: 'q', text: 'Because.' });

function build() {
  const bridge = new FakeBridge();
  const saved: string[] = [];
  const app = new AppState({
    bridge,
    schedule: (paint) => paint(),
    now: () => 0,
    remembered: { read: () => null, write: () => undefined },
    rememberedSettings: { read: () => ({ theme: 'dark' }), write: ({ theme }) => saved.push(theme) },
    rememberedView: { read: () => ({}), write: () => undefined },
    goTo: () => undefined,
    tab: quietTab,
  });
  app.start();
  bridge.answer('conversation.list', () => ({
    ok: true,
    data: { conversations: [summary('c1', 3), summary('c2', 2), summary('c3', 1)] },
  }));
  bridge.answer('conversation.get', ({ conversationId }) => ({
    ok: true,
    data: { ...summary(conversationId), messages: [question, answer], leafId: 'a', systemPrompt: null, model: null },
  }));
  bridge.answer('conversation.delete', () => ({ ok: true, data: {} }));
  bridge.answer('conversation.restore', ({ conversationId }) => ({ ok: true, data: summary(conversationId, 3) }));
  const state = () => app.conversations.store.getState();
  const ids = () => state().list?.map(({ id }) => id);
  const notices = () => app.notices.store.getState().notices.map(({ text }) => text);
  const inputs = (name: string) => bridge.calls.filter((call) => call.name === name).map(({ input }) => input);
  return { bridge, app, state, ids, notices, inputs, saved };
}

describe('deleting and undoing', () => {
  it('takes the chat off the list and brings it back where it was, open again (bug: undo loses the place)', async () => {
    const { app, state, ids } = build();
    await app.conversations.refreshList();
    app.conversations.open('c1');
    await app.list.delete('c1');
    expect([ids(), state().currentId]).toEqual([['c2', 'c3'], null]);
    expect(state().deleted).toEqual([{ conversation: summary('c1', 3), wasOpen: true }]);
    await app.list.restore('c1');
    expect([ids(), state().currentId, state().deleted]).toEqual([['c1', 'c2', 'c3'], 'c1', []]);
  });

  it('stays away from the chat the person has gone to meanwhile (bug: undo pulls the reader back)', async () => {
    const { app, state } = build();
    await app.conversations.refreshList();
    app.conversations.open('c1');
    await app.list.delete('c1');
    app.conversations.open('c2');
    await app.list.restore('c1');
    expect(state().currentId).toBe('c2');
  });

  it('keeps what cannot be deleted, and says why (bug: gone here, back after a reload)', async () => {
    const { bridge, app, ids, notices, state } = build();
    await app.conversations.refreshList();
    bridge.answer('conversation.delete', () => refusal('storage_failed', 'The disk is full.'));
    await app.list.delete('c1');
    expect([ids(), state().deleted, notices()]).toEqual([['c1', 'c2', 'c3'], [], ['The disk is full.']]);
  });

  it('withdraws the offer when another page has brought it back (bug: a toast for a chat that is there)', async () => {
    const { bridge, app, state, ids } = build();
    await app.conversations.refreshList();
    await app.list.delete('c2');
    bridge.emit({ type: 'conversation.changed', conversation: summary('c2', 2) });
    expect([state().deleted, ids()]).toEqual([[], ['c1', 'c2', 'c3']]);
  });
});

describe('what other pages do', () => {
  it('shows a new name, moves a chat up, drops a deleted one (bug: two pages disagree)', async () => {
    const { bridge, app, state, ids } = build();
    await app.conversations.refreshList();
    bridge.emit({ type: 'conversation.changed', conversation: summary('c3', 9, 'Renamed') });
    expect([ids(), state().list?.[0]?.title]).toEqual([['c3', 'c1', 'c2'], 'Renamed']);
    bridge.emit({ type: 'conversation.removed', conversationId: 'c1' });
    expect(ids()).toEqual(['c3', 'c2']);
  });

  it('shows options set elsewhere (bug: a stale system prompt that is then saved over the new one)', async () => {
    const { bridge, app, state } = build();
    await app.conversations.refresh('c1');
    const options = { systemPrompt: 'Be brief.', model: 'builtin' };
    bridge.emit({ type: 'conversation.configured', conversationId: 'c1', options });
    expect(state().options['c1']).toEqual(options);
  });
});

describe('memory', () => {
  it('keeps only the conversations seen last (bug: every chat ever opened stays in memory)', async () => {
    const { app, state } = build();
    for (let turn = 0; turn < 10; turn += 1) {
      app.conversations.open(`c${turn}`);
      await settle();
    }
    expect(Object.keys(state().trees).sort()).toEqual(['c6', 'c7', 'c8', 'c9']);
    expect(Object.keys(state().options).sort()).toEqual(['c6', 'c7', 'c8', 'c9']);
  });

  it('writes no store for a streamed word (bug: the whole page is drawn for each token)', async () => {
    const { bridge, app } = build();
    const running = message({ id: 'a', parentId: 'q', status: 'streaming', streamId: 's1' });
    bridge.answer('stream.attach', () => ({
      ok: true,
      data: { streamId: 's1', seq: 0, text: '', thought: '', ended: false },
    }));
    app.conversations.open('c1');
    await settle();
    app.conversations.upsertMessage(running);
    let writes = 0;
    for (const store of [app.conversations.store, app.engine.store, app.connection, app.notices.store]) {
      store.subscribe(() => (writes += 1));
    }
    for (let seq = 1; seq <= 50; seq += 1) {
      bridge.emit({ type: 'stream.chunk', streamId: 's1', seq, parts: [{ kind: 'text', text: 'word ' }] });
    }
    expect([writes, app.streams.view('s1')?.text.length]).toEqual([0, 250]);
  });
});

describe('editing', () => {
  const started = { conversationId: 'c1', streamId: 's1', answerId: 'a9', userMessage: { ...question, id: 'q2' } };

  it('sends the change beside the first message, as a branch (bug: it follows the old answer)', async () => {
    const { bridge, app, state, inputs } = build();
    await app.conversations.refresh('c1');
    bridge.answer('chat.send', () => ({ ok: true, data: started }));
    app.conversations.setEdit('q', 'Why not?');
    expect(await app.chat.resend(question, 'Why not?')).toBe(true);
    expect(inputs('chat.send')).toEqual([{ text: 'Why not?', conversationId: 'c1', parentId: null }]);
    expect([state().edits, state().trees['c1']?.leafId]).toEqual([{}, 'a9']);
  });

  it('keeps the changed text when sending fails, and the reason beside it (bug: the edit is lost)', async () => {
    const { bridge, app, state } = build();
    await app.conversations.refresh('c1');
    bridge.answer('chat.send', () => refusal('storage_failed', 'The disk is full.'));
    app.conversations.setEdit('q', 'Why not?');
    expect(await app.chat.resend(question, 'Why not?')).toBe(false);
    expect([state().edits['q'], state().errors['q']?.code, state().errors['c1']]).toEqual([
      'Why not?',
      'storage_failed',
      undefined,
    ]);
    app.conversations.setEdit('q', null);
    expect(state().errors).toEqual({});
  });
});

describe('chat settings', () => {
  it('keeps those of a new chat until its first message takes them along, once (bug: the next chat has them too)', async () => {
    const { bridge, app, state, inputs } = build();
    bridge.answer('chat.send', () => ({
      ok: true,
      data: { conversationId: 'c1', streamId: 's1', answerId: 'a9', userMessage: question },
    }));
    expect(await app.list.configure(newChat, { systemPrompt: 'Be brief.' })).toBeNull();
    await app.chat.send('Hello');
    expect(inputs('chat.send')).toEqual([{ text: 'Hello', options: { systemPrompt: 'Be brief.' } }]);
    expect([state().options[newChat], bridge.count('conversation.configure')]).toEqual([
      { systemPrompt: null, model: null },
      0,
    ]);
  });

  it('stay as they were when they cannot be saved (bug: shown as set, but not used)', async () => {
    const { bridge, app, state } = build();
    await app.conversations.refresh('c1');
    bridge.answer('conversation.configure', () => refusal('storage_failed'));
    expect((await app.list.configure('c1', { model: 'builtin' }))?.code).toBe('storage_failed');
    expect(state().options['c1']?.model).toBeNull();
  });
});

describe('settings', () => {
  const settings = { ...defaultSettings, theme: 'light' } as const;

  it('begins with what the tab remembers, then follows main (bug: a flash in the other theme)', () => {
    const { bridge, app, saved } = build();
    expect(app.settings.store.getState().settings.theme).toBe('dark');
    bridge.emit({ type: 'settings.changed', settings });
    expect([app.settings.store.getState().settings.theme, saved]).toEqual(['light', ['light']]);
  });

  it('goes back and says why when a change cannot be saved (bug: another theme after a reload)', async () => {
    const { bridge, app, notices } = build();
    bridge.answer('settings.set', () => refusal('storage_failed', 'The folder is gone.'));
    const set = app.settings.set({ theme: 'light' });
    expect(app.settings.store.getState().settings.theme).toBe('light');
    await set;
    expect([app.settings.store.getState().settings.theme, notices()]).toEqual(['dark', ['The folder is gone.']]);
  });

  it('keeps a change made while main was answering (bug: the switch jumps back)', async () => {
    const { bridge, app } = build();
    const reply = deferred<Result<RequestOutput<'settings.get'>>>();
    bridge.answer('settings.get', () => reply.promise);
    bridge.answer('settings.set', () => ({ ok: true, data: { ...settings, sidebarOpen: false } }));
    const refreshed = app.settings.refresh();
    await app.settings.set({ sidebarOpen: false });
    reply.resolve({ ok: true, data: settings });
    await refreshed;
    expect(app.settings.store.getState().settings.sidebarOpen).toBe(false);
  });
});

describe('notices', () => {
  it('shows each once and keeps a dismissed one of the start away (bug: it is back after each reconnection)', () => {
    const { bridge, app, notices } = build();
    app.notices.addOfStart(['One file was broken.']);
    bridge.emit(
      { type: 'notice', text: 'An answer could not be saved.' },
      { type: 'notice', text: 'An answer could not be saved.' },
    );
    expect(notices()).toEqual(['One file was broken.', 'An answer could not be saved.']);
    app.notices.dismiss(1);
    app.notices.addOfStart(['One file was broken.']);
    expect(notices()).toEqual(['An answer could not be saved.']);
    app.notices.dismiss(2);
    bridge.emit({ type: 'notice', text: 'An answer could not be saved.' });
    expect(notices()).toEqual(['An answer could not be saved.']);
  });
});

describe('titleMatcher', () => {
  it('finds all words anywhere, in any case and without accents (bug: one must type the title exactly)', () => {
    expect(titleMatcher('  MIETE brief')('Brief an den Vermieter: die Miete')).toBe(true);
    expect(titleMatcher('cafe')('Le Café')).toBe(true);
    expect(titleMatcher('brief miete')('Brief an die Bank')).toBe(false);
    expect(titleMatcher(' ')('anything')).toBe(true);
  });
});
