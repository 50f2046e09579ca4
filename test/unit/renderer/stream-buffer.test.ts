import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Result, StreamPart, StreamSnapshot } from '../../../src/main/contract/index.ts';
import { StreamBuffer, type StreamEvent } from '../../../src/renderer/state/stream-buffer.ts';
import { deferred, message, refusal, settle, snapshot } from './fixtures.ts';

const text = (value: string): StreamPart => ({ kind: 'text', text: value });
const thought = (value: string): StreamPart => ({ kind: 'thought', text: value });
const chunk = (seq: number, ...parts: readonly StreamPart[]): StreamEvent => ({
  type: 'stream.chunk',
  streamId: 's1',
  seq,
  parts,
});
const end = (seq: number, whole: string): StreamEvent => ({
  type: 'stream.end',
  streamId: 's1',
  seq,
  message: message({ id: 'm1', text: whole }),
});

function build() {
  const asked: ReturnType<typeof deferred<Result<StreamSnapshot>>>[] = [];
  const counts = { changed: 0, missed: 0 };
  const clock = { now: 0 };
  const buffer = new StreamBuffer({
    streamId: 's1',
    attach: () => {
      const reply = deferred<Result<StreamSnapshot>>();
      asked.push(reply);
      return reply.promise;
    },
    now: () => clock.now,
    changed: () => (counts.changed += 1),
    missed: () => (counts.missed += 1),
  });
  const reply = async (index: number, result: Result<StreamSnapshot>) => {
    asked[index]?.resolve(result);
    await settle();
  };
  const snap = (seq: number, whole: string, ended = false): Result<StreamSnapshot> => ({
    ok: true,
    data: snapshot({ seq, text: whole, ended }),
  });
  return { buffer, asked, counts, clock, reply, snap };
}

describe('StreamBuffer', () => {
  it('joins contiguous chunks without asking for anything (bug: a needless snapshot per stream)', () => {
    const { buffer, asked } = build();
    for (const [index, part] of ['a', 'b', 'c'].entries()) buffer.apply(chunk(index + 1, text(part)));
    expect(buffer.text).toBe('abc');
    expect(asked).toHaveLength(0);
  });

  it('ignores a chunk that comes twice (bug: doubled text)', () => {
    const { buffer } = build();
    for (const event of [chunk(1, text('a')), chunk(2, text('b')), chunk(2, text('b')), chunk(1, text('a'))]) {
      buffer.apply(event);
    }
    expect(buffer.text).toBe('ab');
  });

  it('asks once at a gap and goes on from the snapshot (bug: lost text, or one request per later chunk)', async () => {
    const { buffer, asked, reply, snap } = build();
    buffer.apply(chunk(1, text('a')));
    buffer.apply(chunk(3, text('c')));
    buffer.apply(chunk(4, text('d')));
    expect(buffer.text).toBe('a');
    expect(asked).toHaveLength(1);
    await reply(0, snap(3, 'abc'));
    expect(buffer.text).toBe('abcd');
    expect(asked).toHaveLength(1);
  });

  it('puts chunks that come in another order right, also without the snapshot (bug: text in arrival order)', async () => {
    const { buffer, reply, snap } = build();
    for (const event of [chunk(2, text('b')), chunk(3, text('c')), chunk(1, text('a'))]) buffer.apply(event);
    expect(buffer.text).toBe('abc');
    await reply(0, snap(2, 'ab'));
    expect(buffer.text).toBe('abc');
  });

  it('takes a snapshot in the middle of the chunks and drops what it already holds (bug: doubled text after attach)', async () => {
    const { buffer, reply, snap } = build();
    buffer.attach();
    buffer.apply(chunk(5, text('e')));
    await reply(0, snap(6, 'abcdef'));
    for (const seq of [5, 6, 7]) buffer.apply(chunk(seq, text('abcdefg'[seq - 1] ?? '')));
    expect(buffer.text).toBe('abcdefg');
  });

  it('ignores a snapshot older than what it holds (bug: text jumps back)', async () => {
    const { buffer, reply, snap } = build();
    buffer.attach();
    for (const [index, part] of ['a', 'b', 'c'].entries()) buffer.apply(chunk(index + 1, text(part)));
    await reply(0, snap(1, 'a'));
    expect(buffer.text).toBe('abc');
  });

  it('asks again when the snapshot was taken before the gap (bug: stream stuck behind a hole)', async () => {
    const { buffer, asked, reply, snap } = build();
    buffer.apply(chunk(9, text('i')));
    await reply(0, snap(4, 'abcd'));
    expect(asked).toHaveLength(2);
    await reply(1, snap(9, 'abcdefghi'));
    expect(buffer.text).toBe('abcdefghi');
  });

  it('does not ask in circles when a snapshot brings nothing new (bug: endless requests)', async () => {
    const { buffer, asked, reply, snap } = build();
    buffer.apply(chunk(1, text('a')));
    buffer.apply(chunk(3, text('c')));
    await reply(0, snap(1, 'a'));
    expect(asked).toHaveLength(1);
    buffer.apply(chunk(4, text('d')));
    expect(asked).toHaveLength(2);
    await reply(1, snap(4, 'abcd'));
    expect(buffer.text).toBe('abcd');
  });

  it('ends with the final message even behind a hole, and a late snapshot changes nothing (bug: old text over the end)', async () => {
    const { buffer, counts, reply, snap } = build();
    buffer.apply(chunk(2, text('b')));
    buffer.apply(end(5, 'abcd'));
    expect([buffer.text, buffer.ended]).toEqual(['abcd', true]);
    await reply(0, snap(4, 'abcd', true));
    buffer.apply(chunk(3, text('c')));
    expect([buffer.text, counts.missed]).toEqual(['abcd', 0]);
  });

  it('asks for a newer snapshot when attach is called during an older request (bug: events of a lost connection missing)', async () => {
    const { buffer, asked, reply, snap } = build();
    buffer.attach();
    buffer.attach();
    expect(asked).toHaveLength(1);
    await reply(0, snap(1, 'a'));
    expect(asked).toHaveLength(2);
    await reply(1, snap(3, 'abc'));
    expect(buffer.text).toBe('abc');
  });

  it('keeps its text when attaching fails and tries again at the next chunk (bug: one failed request freezes the answer)', async () => {
    const { buffer, asked, reply, snap } = build();
    buffer.apply(chunk(1, text('a')));
    buffer.apply(chunk(3, text('c')));
    await reply(0, refusal('disconnected'));
    expect(buffer.text).toBe('a');
    buffer.apply(chunk(4, text('d')));
    await reply(1, snap(4, 'abcd'));
    expect([buffer.text, asked.length]).toEqual(['abcd', 2]);
  });

  it('says once that its end was missed (bug: an answer that streams for ever, or a request loop)', async () => {
    const gone = build();
    gone.buffer.attach();
    await gone.reply(0, refusal('stream_not_found'));
    expect(gone.counts.missed).toBe(1);
    const over = build();
    over.buffer.attach();
    over.buffer.attach();
    await over.reply(0, over.snap(3, 'abc', true));
    await over.reply(1, over.snap(3, 'abc', true));
    expect([over.counts.missed, over.buffer.text]).toEqual([1, 'abc']);
  });

  it('measures thinking only when it saw both ends of it (bug: a made-up time after a reload)', async () => {
    const seen = build();
    seen.buffer.apply(chunk(1, thought('hm')));
    seen.clock.now = 3000;
    seen.buffer.apply(chunk(2, thought('!'), text('So')));
    expect([seen.buffer.thought, seen.buffer.thoughtMs]).toEqual(['hm!', 3000]);
    const joined = build();
    joined.buffer.attach();
    await joined.reply(0, { ok: true, data: snapshot({ seq: 4, thought: 'hm' }) });
    joined.buffer.apply(chunk(5, text('So')));
    expect([joined.buffer.thought, joined.buffer.thoughtMs]).toEqual(['hm', null]);
  });

  it('shows a true beginning at every moment, whatever is dropped, doubled, delayed or answered late', async () => {
    const step = fc.constantFrom('send', 'drop', 'delay', 'late', 'double', 'attach', 'reply', 'fail');
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const { buffer, asked, reply, snap } = build();
        const sent: StreamEvent[] = [];
        const delayed: StreamEvent[] = [];
        let whole = '';
        let answered = 0;
        const next = () => {
          const letter = String.fromCodePoint(97 + (sent.length % 26));
          whole += letter;
          const event = chunk(sent.length + 1, text(letter));
          sent.push(event);
          return event;
        };
        for (const action of steps) {
          if (action === 'send') buffer.apply(next());
          if (action === 'drop') next();
          if (action === 'delay') delayed.push(next());
          if (action === 'late') for (const event of delayed.splice(0, 1)) buffer.apply(event);
          if (action === 'double' && sent[0] !== undefined) buffer.apply(sent[sent.length >> 1] ?? sent[0]);
          if (action === 'attach') buffer.attach();
          if (action === 'reply' && answered < asked.length) await reply(answered++, snap(sent.length, whole));
          if (action === 'fail' && answered < asked.length) await reply(answered++, refusal('disconnected'));
          expect(buffer.text).toBe(whole.slice(0, buffer.seq));
        }
        buffer.attach();
        while (answered < asked.length) await reply(answered++, snap(sent.length, whole));
        expect(buffer.text).toBe(whole);
        buffer.apply(end(sent.length + 1, whole));
        expect([buffer.text, buffer.ended]).toEqual([whole, true]);
      }),
    );
  });
});
