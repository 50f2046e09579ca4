import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { fail, ok } from '../../../src/main/contract/index.ts';
import type { GenerateRequest } from '../../../src/main/engine/index.ts';
import { titleOf } from '../../../src/main/services/conversation.ts';
import { ChatBench } from '../../support/chat-service.ts';
import { unwrap } from '../../support/engine.ts';
import { noTimings } from '../../support/scripted-engine.ts';
import { temporaryFolder } from '../../support/temp-folder.ts';
import { waitFor } from '../../support/wait-for.ts';

let folder: string;
let bench: ChatBench;
beforeEach(async () => {
  folder = temporaryFolder();
  bench = await ChatBench.open(folder);
});

const turnsOf = (request: GenerateRequest | undefined) =>
  request?.prompt.kind === 'chat' ? request.prompt.turns : null;
const logOf = (id: string) => join(folder, 'conversations', `${id}.jsonl`);

describe('sending', () => {
  it('has the user message on disk before the engine is asked', async () => {
    const { conversationId, userMessage } = unwrap(await bench.chat.send({ text: 'Hello' }));
    expect(readFileSync(logOf(conversationId), 'utf8')).toContain(userMessage.id);
    expect(turnsOf(bench.engine.requests[0])).toEqual([{ role: 'user', text: 'Hello' }]);
    expect(bench.events.map((event) => event.type)).toEqual(['conversation.changed', 'message.added', 'message.added']);
  });

  it('gathers answer and thinking apart, on disk when the stream ends', async () => {
    const { conversationId, streamId } = unwrap(await bench.chat.send({ text: 'Hello' }));
    bench.engine.part(streamId, { kind: 'thought', text: 'hm ' });
    bench.engine.part(streamId, { kind: 'text', text: 'Hi' });
    bench.engine.part('another', { kind: 'text', text: 'not mine' });
    await bench.engine.end(streamId);
    expect(await bench.ended(streamId)).toMatchObject({ text: 'Hi', thought: 'hm ', status: 'done', streamId: null });
    const again = await ChatBench.open(folder, 'x');
    expect(await again.last(conversationId)).toMatchObject({ text: 'Hi', thought: 'hm ', status: 'done' });
  });

  it('sends earlier turns without their thinking, after the system prompt', async () => {
    const { conversationId } = await bench.exchange('One', 'First');
    unwrap(await bench.chat.configure(conversationId, { systemPrompt: 'Be short.' }));
    unwrap(await bench.chat.send({ conversationId, text: 'Two' }));
    expect(turnsOf(bench.engine.requests[1])).toEqual([
      { role: 'system', text: 'Be short.' },
      { role: 'user', text: 'One' },
      { role: 'assistant', text: 'First' },
      { role: 'user', text: 'Two' },
    ]);
  });

  it('keeps a stopped answer, and a failed one with its error and what had come', async () => {
    const stopped = unwrap(await bench.chat.send({ text: 'Hello' }));
    bench.engine.part(stopped.streamId, { kind: 'text', text: 'Hi th' });
    expect(bench.chat.stop(stopped.streamId)).toBe(true);
    expect(await bench.ended(stopped.streamId)).toMatchObject({ status: 'stopped', text: 'Hi th' });
    expect(bench.chat.stop(stopped.streamId)).toBe(false);

    const failed = unwrap(await bench.chat.send({ conversationId: stopped.conversationId, text: 'Again' }));
    bench.engine.part(failed.streamId, { kind: 'text', text: 'par' });
    await bench.engine.end(failed.streamId, fail('generation_failed', 'no'));
    expect(await bench.ended(failed.streamId)).toMatchObject({
      status: 'failed',
      text: 'par',
      error: { code: 'generation_failed' },
    });
  });

  it('refuses a second answer in a conversation while one is written (two would share one branch)', async () => {
    const { conversationId, streamId, answerId } = unwrap(await bench.chat.send({ text: 'Hello' }));
    expect(await bench.chat.send({ conversationId, text: 'More' })).toMatchObject({
      error: { code: 'conversation_busy' },
    });
    expect(await bench.chat.regenerate(conversationId, answerId)).toMatchObject({
      error: { code: 'conversation_busy' },
    });
    await bench.engine.end(streamId);
    await bench.ended(streamId);
    expect((await bench.chat.send({ conversationId, text: 'More' })).ok).toBe(true);
  });

  it('two sends at once into one conversation: one is refused, none is lost', async () => {
    const { conversationId } = await bench.exchange('One', 'a');
    const results = await Promise.all(
      [1, 2].map((index) => bench.chat.send({ conversationId, text: `at once ${index}` })),
    );
    expect(results.map((result) => result.ok).sort()).toEqual([false, true]);
  });

  it('does not begin a conversation for a refused message (the list would fill with empty chats)', async () => {
    expect(await bench.chat.send({ text: ' \n' })).toMatchObject({ error: { code: 'prompt_empty' } });
    expect(bench.chat.list()).toEqual([]);
  });

  it('answers error values for what is not there', async () => {
    const codes = await Promise.all([
      bench.chat.send({ text: 'x', conversationId: 'nope' }),
      bench.chat.get('nope'),
      bench.chat.regenerate('nope', 'x'),
      bench.chat.select('nope', 'x'),
      bench.chat.rename('nope', 'x'),
      bench.chat.remove('nope'),
      bench.chat.restore('nope'),
    ]);
    expect(codes.map((result) => (result.ok ? 'ok' : result.error.code))).toEqual(
      Array(7).fill('conversation_not_found'),
    );
  });
});

describe('branches', () => {
  it('edits and sends again as a sibling, also the first message', async () => {
    const first = await bench.exchange('One', 'a');
    const second = await bench.exchange('Two', 'b', first.conversationId);
    const edited = await bench.exchange('Two, better', 'c', first.conversationId, first.answerId);
    expect(edited.userMessage.parentId).toBe(first.answerId);
    const root = await bench.exchange('One, better', 'd', first.conversationId, null);
    expect(turnsOf(bench.engine.requests.at(-1))).toEqual([{ role: 'user', text: 'One, better' }]);
    expect(unwrap(await bench.chat.get(first.conversationId)).leafId).toBe(root.answerId);
    expect(unwrap(await bench.chat.select(first.conversationId, second.userMessage.id)).leafId).toBe(second.answerId);
    const again = await ChatBench.open(folder, 'x');
    expect(unwrap(await again.chat.get(first.conversationId))).toMatchObject({ leafId: second.answerId });
    expect(await again.messages(first.conversationId)).toHaveLength(8);
  });

  it('regenerates as a sibling, from the answer or from the question', async () => {
    const { conversationId, answerId, userMessage } = await bench.exchange('One', 'First');
    const follow = await bench.exchange('Two', 'Second', conversationId);
    const again = unwrap(await bench.chat.regenerate(conversationId, answerId));
    expect(turnsOf(bench.engine.requests[2])).toEqual([{ role: 'user', text: 'One' }]);
    await bench.engine.end(again.streamId);
    await bench.ended(again.streamId);
    expect((await bench.messages(conversationId)).filter(({ parentId }) => parentId === userMessage.id)).toHaveLength(
      2,
    );
    expect(unwrap(await bench.chat.select(conversationId, answerId)).leafId).toBe(follow.answerId);
    expect((await bench.chat.regenerate(conversationId, userMessage.id)).ok).toBe(true);
  });
});

describe('rename, delete, options', () => {
  it('survive a restart', async () => {
    const { conversationId } = await bench.exchange('One', 'a');
    unwrap(await bench.chat.rename(conversationId, 'My chat'));
    unwrap(await bench.chat.configure(conversationId, { systemPrompt: 'Be kind.' }));
    unwrap(await bench.chat.configure(conversationId, { model: '/m.gguf' }));
    await bench.close();
    const again = await ChatBench.open(folder, 'x');
    expect(again.chat.list()).toMatchObject([{ id: conversationId, title: 'My chat' }]);
    expect(unwrap(await again.chat.get(conversationId))).toMatchObject({ systemPrompt: 'Be kind.', model: '/m.gguf' });
  });

  it('deleting can be undone, also after a restart', async () => {
    const { conversationId } = await bench.exchange('One', 'a');
    unwrap(await bench.chat.remove(conversationId));
    expect(bench.chat.list()).toEqual([]);
    expect((await bench.chat.get(conversationId)).ok).toBe(false);
    const again = await ChatBench.open(folder, 'x');
    expect(again.chat.list()).toEqual([]);
    unwrap(await again.chat.restore(conversationId));
    expect(await again.messages(conversationId)).toHaveLength(2);
  });

  it('deleting stops a running answer first (its end would bring the file back)', async () => {
    const { conversationId, streamId } = unwrap(await bench.chat.send({ text: 'Hello' }));
    unwrap(await bench.chat.remove(conversationId));
    expect(await bench.ended(streamId)).toMatchObject({ status: 'stopped' });
    expect(existsSync(logOf(conversationId))).toBe(false);
  });

  it('loads the conversation’s own model before it answers', async () => {
    const loads: string[] = [];
    bench.engine.onLoad = (path) => void loads.push(path);
    const options = { model: '/own.gguf' };
    const { streamId } = unwrap(await bench.chat.send({ text: 'Hello', options }));
    await bench.engine.asked(1);
    expect(loads).toEqual(['/own.gguf']);
    expect(bench.engine.requests[0]?.modelPath).toBe('/own.gguf');
    await bench.engine.end(streamId, fail('model_changed', 'another one'));
    await bench.engine.asked(2);
    await bench.engine.end(streamId, ok({ stopReason: 'end', timings: noTimings }));
    expect(await bench.ended(streamId)).toMatchObject({ status: 'done' });
  });

  it('stops while its own model is loading, at once, and the load with it', async () => {
    bench.engine.holdLoads = true;
    const { conversationId, streamId } = unwrap(
      await bench.chat.send({ text: 'Hello', options: { model: '/slow.gguf' } }),
    );
    await waitFor('the load', () => bench.engine.loading);
    expect(bench.chat.stop(streamId)).toBe(true);
    expect(await bench.ended(streamId)).toMatchObject({ status: 'stopped', text: '' });
    expect(bench.engine.loading).toBe(false);
    expect(bench.engine.requests).toEqual([]);
    expect((await bench.chat.remove(conversationId)).ok).toBe(true);
  });

  it('deleting a chat whose answer ends slowly does not hold up the others', async () => {
    const other = await bench.exchange('Other', 'x');
    const { conversationId, streamId } = unwrap(await bench.chat.send({ text: 'Hello' }));
    bench.engine.ignoreStops = true;
    const removing = bench.chat.remove(conversationId);
    unwrap(await bench.chat.rename(other.conversationId, 'Renamed meanwhile'));
    await bench.engine.end(streamId);
    expect((await removing).ok).toBe(true);
  });

  it('keeps a title on one line and in its own direction', async () => {
    const { conversationId } = await bench.exchange('One', 'a');
    const { title } = unwrap(await bench.chat.rename(conversationId, ' two\nlines\u202e and\u0007 more '));
    expect(title).toBe('two lines and more');
  });

  it('lists the latest first', async () => {
    const first = await bench.exchange('One', 'a');
    const second = await bench.exchange('Two', 'b');
    expect(bench.chat.list().map(({ id }) => id)).toEqual([second.conversationId, first.conversationId]);
    await bench.exchange('Three', 'c', first.conversationId);
    expect(bench.chat.list().map(({ id }) => id)).toEqual([first.conversationId, second.conversationId]);
  });
});

describe('when the disk does not play along', () => {
  it('a folder that is gone is made again, with everything in it', async () => {
    const { conversationId } = await bench.exchange('One', 'a');
    rmSync(join(folder, 'conversations'), { recursive: true });
    await bench.exchange('Two', 'b', conversationId);
    const again = await ChatBench.open(folder, 'x');
    expect((await again.messages(conversationId)).map(({ text }) => text)).toEqual(['One', 'a', 'Two', 'b']);
  });

  it('a folder that cannot be written refuses the message and takes nothing away; trying again works', async (context) => {
    if (process.getuid?.() === 0 && process.seteuid === undefined)
      return context.skip('skipped: root may write everywhere');
    const { conversationId } = await bench.exchange('One', 'a');
    const conversations = join(folder, 'conversations');
    chmodSync(join(conversations, `${conversationId}.jsonl`), 0o400);
    chmodSync(conversations, 0o500);
    if (process.getuid?.() === 0) process.seteuid?.(65_534);
    const refused = await bench.chat.send({ conversationId, text: 'Two' });
    if (process.getuid?.() === 0) process.seteuid?.(0);
    expect(refused).toMatchObject({ ok: false, error: { code: 'storage_failed' } });
    expect(await bench.messages(conversationId)).toHaveLength(2);
    chmodSync(conversations, 0o700);
    chmodSync(join(conversations, `${conversationId}.jsonl`), 0o600);
    await bench.exchange('Two', 'b', conversationId);
    const again = await ChatBench.open(folder, 'x');
    expect((await again.messages(conversationId)).map(({ text }) => text)).toEqual(['One', 'a', 'Two', 'b']);
  });

  it('an answer that cannot be saved is told once, stays on screen, and is saved with the next change', async () => {
    const { conversationId, streamId } = unwrap(await bench.chat.send({ text: 'Hello' }));
    bench.engine.part(streamId, { kind: 'text', text: 'Hi' });
    // A file where the folder was: nothing can be written below it.
    renameSync(join(folder, 'conversations'), join(folder, 'away'));
    writeFileSync(join(folder, 'conversations'), '');
    await bench.engine.end(streamId);
    expect(await bench.ended(streamId)).toMatchObject({ status: 'done', text: 'Hi' });
    expect(bench.events.filter((event) => event.type === 'notice')).toHaveLength(1);
    rmSync(join(folder, 'conversations'));
    mkdirSync(join(folder, 'conversations'));
    await bench.exchange('Two', 'b', conversationId);
    const again = await ChatBench.open(folder, 'x');
    expect((await again.messages(conversationId)).map(({ text }) => text)).toEqual(['Hello', 'Hi', 'Two', 'b']);
  });

  it('an answer that could not be saved is tried again by itself and at a clean end', async () => {
    for (const way of ['by itself', 'at the end'] as const) {
      const { conversationId, streamId } = unwrap(await bench.chat.send({ text: way }));
      bench.engine.part(streamId, { kind: 'text', text: 'kept' });
      renameSync(join(folder, 'conversations'), join(folder, 'away'));
      writeFileSync(join(folder, 'conversations'), '');
      await bench.engine.end(streamId);
      await bench.ended(streamId);
      rmSync(join(folder, 'conversations'));
      renameSync(join(folder, 'away'), join(folder, 'conversations'));
      const saved = () => bench.events.some((event) => event.type === 'notice' && event.text.includes('saved now'));
      if (way === 'by itself') await waitFor('the next try', saved);
      else await bench.close();
      const again = await ChatBench.open(folder, 'x');
      expect(await again.last(conversationId)).toMatchObject({ text: 'kept', status: 'done' });
    }
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
