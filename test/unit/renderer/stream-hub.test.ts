import { describe, expect, it } from 'vitest';
import type { StreamEvent } from '../../../src/renderer/state/stream-buffer.ts';
import { StreamHub } from '../../../src/renderer/state/stream-hub.ts';
import { FakeBridge, message, settle, snapshot } from './fixtures.ts';

function build() {
  const bridge = new FakeBridge();
  const frames: (() => void)[] = [];
  const missed: string[] = [];
  const hub = new StreamHub({
    bridge,
    schedule: (paint) => frames.push(paint),
    now: () => 0,
    missed: (streamId) => missed.push(streamId),
  });
  const frame = () => {
    for (const paint of frames.splice(0)) paint();
  };
  return { bridge, frames, hub, frame, missed };
}

const chunk = (seq: number, value: string): StreamEvent => ({
  type: 'stream.chunk',
  streamId: 's1',
  seq,
  parts: [{ kind: 'text', text: value }],
});
const end: StreamEvent = { type: 'stream.end', streamId: 's1', seq: 9, message: message({ id: 'm1', text: 'abc' }) };

describe('StreamHub', () => {
  it('tells listeners once per frame, however many chunks came (bug: React renders per token)', () => {
    const { hub, frames, frame } = build();
    let told = 0;
    hub.subscribe('s1', () => (told += 1));
    for (const [index, letter] of ['a', 'b', 'c', 'd', 'e', 'f'].entries()) hub.apply(chunk(index + 1, letter));
    expect([told, frames.length, hub.view('s1')]).toEqual([0, 1, null]);
    frame();
    expect([told, hub.view('s1')?.text]).toEqual([1, 'abcdef']);
  });

  it('gives the same object until the next frame (bug: useSyncExternalStore loops for ever)', () => {
    const { hub, frame } = build();
    hub.apply(chunk(1, 'a'));
    frame();
    const before = hub.view('s1');
    hub.apply(chunk(2, 'b'));
    expect(hub.view('s1')).toBe(before);
    frame();
    expect(hub.view('s1')).not.toBe(before);
  });

  it('frees an ended stream and ignores its late chunks (bug: memory per answer, or a ghost stream with a request)', () => {
    const { bridge, hub, frame } = build();
    hub.apply(chunk(1, 'a'));
    hub.apply(end);
    hub.apply(chunk(2, 'b'));
    hub.attach('s1');
    frame();
    expect([hub.view('s1'), bridge.calls.length]).toEqual([null, 0]);
  });

  it('fetches what was written before this page came (bug: an answer joined late begins in the middle)', async () => {
    const { bridge, hub, frame } = build();
    bridge.answer('stream.attach', () => ({ ok: true, data: snapshot({ seq: 2, text: 'ab' }) }));
    hub.attach('s1');
    await settle();
    hub.apply(chunk(3, 'c'));
    frame();
    expect(hub.view('s1')?.text).toBe('abc');
  });

  it('does not tell a listener that has left (bug: update of an unmounted component)', () => {
    const { hub, frame } = build();
    let told = 0;
    const leave = hub.subscribe('s1', () => (told += 1));
    hub.apply(chunk(1, 'a'));
    leave();
    frame();
    expect(told).toBe(0);
  });
});
