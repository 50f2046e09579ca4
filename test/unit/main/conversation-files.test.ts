import { appendFileSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../../src/main/base/index.ts';
import { fail, ok, type Conversation, type Message } from '../../../src/main/contract/index.ts';
import { lineOf, parseLog, recordsOf } from '../../../src/main/store/conversation-records.ts';
import { ConversationFiles } from '../../../src/main/store/index.ts';
import { unwrap } from '../../support/engine.ts';
import { temporaryFolder } from '../../support/temp-folder.ts';

let folder: string;
let notices: string[];
beforeEach(() => {
  folder = temporaryFolder();
  notices = [];
});

const open = () =>
  ConversationFiles.open({
    folder,
    logger: silentLogger,
    now: Date.now,
    onNotice: (text) => notices.push(text),
    ensureOwner: () => Promise.resolve(ok()),
  });
const logOf = (id: string) => join(folder, `${id}.jsonl`);
const textsOf = (conversation: Conversation) => conversation.messages.map(({ text }) => text);

function message(id: string, text: string, more: Partial<Message> = {}): Message {
  const fixed = {
    conversationId: 'c',
    role: 'user',
    thought: '',
    createdAt: 5,
    status: 'done',
    streamId: null,
  } as const;
  return { ...fixed, id, text, parentId: null, error: null, stopReason: null, timings: null, modelName: null, ...more };
}

function conversation(id: string, messages: Message[]): Conversation {
  const leafId = messages.at(-1)?.id ?? null;
  return { id, title: 'Title', createdAt: 1, updatedAt: 5, messages, leafId, systemPrompt: null, model: null };
}

const log = (value: Conversation) => recordsOf(value).map(lineOf).join('');
const two = conversation('c', [message('m1', 'first'), message('m2', 'second', { parentId: 'm1' })]);

describe('logs made by hand', () => {
  it('a broken last line is left out, kept until the next change, then cut off', async () => {
    writeFileSync(logOf('c'), `${log(two)}{"type":"message","mess`);
    const files = await open();
    const read = unwrap(await files.read('c'));
    expect(textsOf(read)).toEqual(['first', 'second']);
    expect(readFileSync(logOf('c'), 'utf8')).toContain('"mess');
    expect(notices).toEqual([]);
    const third = message('m3', 'third', { parentId: 'm2' });
    const whole = { ...read, messages: [...read.messages, third] };
    unwrap(await files.append(whole, [{ type: 'message', message: third }], { sync: true }));
    expect(parseLog(readFileSync(logOf('c')))).toMatchObject({ badLines: 0 });
    expect(textsOf(unwrap(await (await open()).read('c')))).toEqual(['first', 'second', 'third']);
  });

  it('a tail of zero bytes (power cut) is treated like a broken last line', async () => {
    writeFileSync(logOf('c'), Buffer.concat([Buffer.from(log(two)), Buffer.alloc(4096)]));
    expect(textsOf(unwrap(await (await open()).read('c')))).toEqual(['first', 'second']);
    expect(notices).toEqual([]);
  });

  it('zero bytes with a line break behind them, too', async () => {
    writeFileSync(logOf('c'), Buffer.concat([Buffer.from(log(two)), Buffer.alloc(100), Buffer.from('\n')]));
    expect(textsOf(unwrap(await (await open()).read('c')))).toEqual(['first', 'second']);
    expect(notices).toEqual([]);
  });

  it('garbage in the middle sets the file aside untouched and saves what can be read', async () => {
    const lines = log(two).split('\n');
    lines.splice(2, 0, '\u0001garbage');
    const damaged = lines.join('\n');
    writeFileSync(logOf('c'), damaged);
    const files = await open();
    expect(textsOf(unwrap(await files.read('c')))).toEqual(['first', 'second']);
    expect(readFileSync(`${logOf('c')}.broken`, 'utf8')).toBe(damaged);
    expect(notices).toHaveLength(1);
    expect(notices[0]).toMatch(/Title.*damaged.*\.broken/);
    expect(parseLog(readFileSync(logOf('c')))).toMatchObject({ badLines: 0 });
  });

  it('never overwrites an earlier file that was set aside', async () => {
    writeFileSync(`${logOf('c')}.broken`, 'older');
    writeFileSync(logOf('c'), 'nothing but garbage\nmore garbage\n');
    await open();
    expect(readFileSync(`${logOf('c')}.broken`, 'utf8')).toBe('older');
    expect(readFileSync(`${logOf('c')}.broken-2`, 'utf8')).toContain('garbage');
    expect(notices).toHaveLength(1);
  });

  it('zero bytes: set aside, no chat', async () => {
    writeFileSync(logOf('c'), '');
    const files = await open();
    expect(files.summaries()).toEqual([]);
    expect(readdirSync(folder)).toContain('c.jsonl.broken');
  });

  it('a repeated id changes its message instead of doubling it', async () => {
    const changed = lineOf({ type: 'message', message: message('m1', 'first, later') });
    writeFileSync(logOf('c'), log(two) + changed);
    expect(textsOf(unwrap(await (await open()).read('c')))).toEqual(['first, later', 'second']);
  });

  it('a copied file is a conversation of its own (two with one id would write into each other)', async () => {
    writeFileSync(logOf('c'), log(two));
    writeFileSync(logOf('copy of c'), log(two));
    const files = await open();
    expect(
      files
        .summaries()
        .map(({ id }) => id)
        .sort(),
    ).toEqual(['c', 'copy of c']);
    expect(unwrap(await files.read('copy of c')).messages[0]?.conversationId).toBe('copy of c');
  });

  it('a log of a newer version is left alone, with a notice', async () => {
    const newer = '{"type":"conversation","v":2,"id":"c"}\n{"type":"hologram"}\n';
    writeFileSync(logOf('c'), newer);
    const files = await open();
    expect(files.summaries()).toEqual([]);
    expect(readFileSync(logOf('c'), 'utf8')).toBe(newer);
    expect(notices).toEqual(['1 chat was written by a newer Dormouse and left alone.']);
  });

  it('an answer without an end is lost, with all the parts that had come', async () => {
    const answer = message('m2', '', { parentId: 'm1', role: 'assistant', status: 'streaming', streamId: 's' });
    const parts = ['The cap', 'ital of'].map((text) => lineOf({ type: 'part', id: 'm2', kind: 'text', text })).join('');
    writeFileSync(logOf('c'), log(conversation('c', [message('m1', 'first'), answer])) + parts);
    expect(unwrap(await (await open()).read('c')).messages.at(-1)).toMatchObject({
      status: 'lost',
      text: 'The capital of',
      streamId: null,
    });
  });

  it('a message without its parent, or in a circle, is shown as a beginning', async () => {
    const odd = [message('m1', 'orphan', { parentId: 'gone' }), message('m2', 'own parent', { parentId: 'm2' })];
    writeFileSync(logOf('c'), log(conversation('c', odd)));
    expect(unwrap(await (await open()).read('c')).messages.map(({ parentId }) => parentId)).toEqual([null, null]);
  });

  it('a log that another program adds to keeps what it added', async () => {
    writeFileSync(logOf('c'), log(two));
    const files = await open();
    const read = unwrap(await files.read('c'));
    const foreign = message('m3', 'from elsewhere', { parentId: 'm2' });
    appendFileSync(logOf('c'), `${lineOf({ type: 'message', message: foreign })}{"type":"mess`);
    const ours = message('m4', 'ours', { parentId: 'm2' });
    unwrap(
      await files.append({ ...read, messages: [...read.messages, ours] }, [{ type: 'message', message: ours }], {
        sync: true,
      }),
    );
    expect(textsOf(unwrap(await (await open()).read('c')))).toEqual(['first', 'second', 'from elsewhere', 'ours']);
  });

  it('a whole last line without its line break counts, and the next one begins on a line of its own', async () => {
    writeFileSync(logOf('c'), log(two).trimEnd());
    const files = await open();
    const read = unwrap(await files.read('c'));
    expect(textsOf(read)).toEqual(['first', 'second']);
    const third = message('m3', 'third', { parentId: 'm2' });
    const whole = { ...read, messages: [...read.messages, third] };
    unwrap(await files.append(whole, [{ type: 'message', message: third }], { sync: true }));
    expect(textsOf(unwrap(await (await open()).read('c')))).toEqual(['first', 'second', 'third']);
    expect(notices).toEqual([]);
  });

  it('a file that cannot be read is told, not passed over in silence', async () => {
    mkdirSync(logOf('c'));
    expect((await open()).summaries()).toEqual([]);
    expect(notices[0]).toMatch(/c\.jsonl could not be read/);
  });

  it('other files in the folder are nobody’s business', async () => {
    writeFileSync(join(folder, 'notes.txt'), 'x');

    writeFileSync(logOf('c'), log(two));
    const files = await open();
    expect(files.summaries()).toHaveLength(1);
    expect(readFileSync(join(folder, 'notes.txt'), 'utf8')).toBe('x');
  });
});

describe('the index', () => {
  it('is made anew from the logs when it is gone, broken or old', async () => {
    writeFileSync(logOf('c'), log(two));
    const first = await open();
    await first.close();
    const index = join(folder, 'index.json');
    expect(readFileSync(index, 'utf8')).toContain('Title');
    writeFileSync(index, '{"v":1,"entries":[{]');
    expect((await open()).summaries()).toMatchObject([{ title: 'Title' }]);
    await first.close();
    writeFileSync(logOf('c'), log({ ...two, title: 'Changed behind its back' }));
    utimesSync(logOf('c'), 1, 1);
    expect((await open()).summaries()).toMatchObject([{ title: 'Changed behind its back' }]);
  });

  it('spares reading unchanged logs (5,000 chats would be read at every start)', async () => {
    writeFileSync(logOf('c'), log(two));
    await (await open()).close();
    const { size, mtimeMs } = statSync(logOf('c'));
    const index = {
      v: 1,
      entries: [{ summary: { id: 'c', title: 'From the index', createdAt: 1, updatedAt: 5 }, size, mtimeMs }],
    };
    writeFileSync(join(folder, 'index.json'), JSON.stringify(index));
    expect((await open()).summaries()).toMatchObject([{ title: 'From the index' }]);
  });
});

describe('writing', () => {
  it('a wasteful log is written anew with the next change', async () => {
    const answer = message('m2', 'x', { parentId: 'm1', role: 'assistant', status: 'streaming' });
    const parts = Array.from({ length: 1200 }, () =>
      lineOf({ type: 'part', id: 'm2', kind: 'text', text: 'y'.repeat(1000) }),
    ).join('');
    const done = message('m2', 'z'.repeat(1000), { parentId: 'm1', role: 'assistant' });
    writeFileSync(
      logOf('c'),
      log(conversation('c', [message('m1', 'first'), answer])) + parts + lineOf({ type: 'message', message: done }),
    );
    const files = await open();
    const read = unwrap(await files.read('c'));
    unwrap(await files.append({ ...read, title: 'New' }, [{ type: 'title', title: 'New' }], { sync: true }));
    expect(statSync(logOf('c')).size).toBeLessThan(10_000);
    expect(unwrap(await (await open()).read('c'))).toMatchObject({
      title: 'New',
      messages: [{ text: 'first' }, { text: done.text }],
    });
  });

  it('text that waits behind a whole write is not written twice', async () => {
    const answer = (text: string) => message('m1', text, { role: 'assistant', status: 'streaming' });
    const part = (text: string) => [{ type: 'part', id: 'm1', kind: 'text', text } as const];
    const files = await open();
    const writes = [
      files.append(conversation('c', [answer('')]), [], { sync: true }),
      files.append(conversation('c', [answer('one ')]), part('one '), { sync: false }),
      files.append(conversation('c', [answer('one two ')]), part('two '), { sync: false }),
    ];
    await Promise.all(writes);
    expect(textsOf(unwrap(await (await open()).read('c')))).toEqual(['one two ']);
  });

  it('nothing is written without the right to the folder, and everything once it is there', async () => {
    let owner = false;
    const refusal = fail('storage_failed', 'not ours');
    const files = await ConversationFiles.open({
      folder,
      logger: silentLogger,
      now: Date.now,
      onNotice: (text) => notices.push(text),
      ensureOwner: () => Promise.resolve(owner ? ok() : refusal),
    });
    expect(await files.append(two, [], { sync: true })).toEqual(refusal);
    expect(readdirSync(folder)).not.toContain('c.jsonl');
    owner = true;
    unwrap(await files.append(two, [], { sync: true }));
    expect(textsOf(unwrap(await (await open()).read('c')))).toEqual(['first', 'second']);
  });

  it('changes at once are all kept, in order', async () => {
    const files = await open();
    let whole = conversation('c', []);
    const writes = Array.from({ length: 50 }, (_, index) => {
      const added = message(`m${index}`, `text ${index}`);
      whole = { ...whole, messages: [...whole.messages, added] };
      const now = whole;
      return files.append(now, [{ type: 'message', message: added }], { sync: index % 10 === 0 });
    });
    await Promise.all(writes);
    expect(textsOf(unwrap(await (await open()).read('c')))).toEqual(
      Array.from({ length: 50 }, (_, index) => `text ${index}`),
    );
  });
});
