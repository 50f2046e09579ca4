import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { AppEvent, Message, StreamPart } from '../../../src/main/contract/index.ts';
import { StreamHub } from '../../../src/main/ipc/stream-hub.ts';

const message = (text: string, thought = ''): Message => ({
  id: 'm',
  conversationId: 'c',
  parentId: 'u',
  role: 'assistant',
  text,
  thought,
  createdAt: 0,
  status: 'done',
  streamId: null,
  error: null,
  stopReason: 'end',
  timings: null,
  modelName: null,
});
const text = (value: string): StreamPart => ({ kind: 'text', text: value });

let events: AppEvent[];
let hub: StreamHub;
beforeEach(() => {
  vi.useFakeTimers();
  events = [];
  hub = new StreamHub((event) => events.push(event));
});
afterEach(() => vi.useRealTimers());

describe('StreamHub', () => {
  it('batches parts within 16 to 50 ms into one event (one event per token floods the page)', () => {
    for (const piece of ['a', 'b', 'c']) hub.push('s', text(piece));
    vi.advanceTimersByTime(15);
    expect(events).toEqual([]);
    vi.advanceTimersByTime(35);
    expect(events).toEqual([{ type: 'stream.chunk', streamId: 's', seq: 1, parts: [text('abc')] }]);
  });

  it('sends 16 KiB at once', () => {
    hub.push('s', text('x'.repeat(16 * 1024)));
    expect(events).toHaveLength(1);
  });

  it('keeps the order of thinking and answer within a batch', () => {
    hub.push('s', { kind: 'thought', text: 'hm' });
    hub.push('s', text('so'));
    hub.push('s', { kind: 'thought', text: '!' });
    vi.advanceTimersByTime(50);
    expect(events[0]).toMatchObject({ parts: [{ text: 'hm' }, { text: 'so' }, { text: '!' }] });
  });

  it('flushes before the terminal event, which is the last', () => {
    hub.push('s', text('tail'));
    hub.end('s', message('tail'));
    hub.push('s', text('late'));
    hub.end('s', message('again'));
    vi.advanceTimersByTime(1000);
    expect(events.map((event) => event.type)).toEqual(['stream.chunk', 'stream.end']);
    expect(events.map((event) => 'seq' in event && event.seq)).toEqual([1, 2]);
  });

  it('joins snapshot and later events without a lost or doubled character, at any moment', () => {
    const whole = [...'The capital of Norway is Oslo.'];
    for (let attachAt = 0; attachAt <= whole.length; attachAt++) {
      events = [];
      let page = '';
      let seq = -1;
      whole.forEach((character, index) => {
        if (index === attachAt) attach();
        hub.push(`s${attachAt}`, text(character));
        vi.advanceTimersByTime(index % 3 === 0 ? 50 : 7);
      });
      if (attachAt === whole.length) attach();
      hub.end(`s${attachAt}`, message(whole.join('')));
      for (const event of events) {
        if (event.type === 'stream.chunk' && event.seq > seq) page += event.parts.map((part) => part.text).join('');
      }
      expect(page).toBe(whole.join(''));

      function attach() {
        hub.open(`s${attachAt}`);
        const snapshot = hub.snapshot(`s${attachAt}`);
        if (!snapshot.ok) throw new Error('no snapshot');
        page = snapshot.data.text;
        seq = snapshot.data.seq;
      }
    }
  });

  it('still knows a stream that has just ended, and forgets old ones', () => {
    for (let index = 0; index < 40; index++) hub.end(`s${index}`, message('x'));
    expect(hub.snapshot('s39')).toMatchObject({ ok: true, data: { ended: true, text: 'x' } });
    expect(hub.snapshot('s0')).toMatchObject({ ok: false, error: { code: 'stream_not_found' } });
  });

  it('leaves no timer behind', () => {
    hub.push('s', text('a'));
    hub.close();
    expect(vi.getTimerCount()).toBe(0);
  });
});
