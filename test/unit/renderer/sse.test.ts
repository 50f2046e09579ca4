import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SseParser } from '../../../src/renderer/lib/sse.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function parse(...pieces: readonly Uint8Array[]): string[] {
  const parser = new SseParser();
  return pieces.flatMap((piece) => parser.push(piece));
}

describe('SseParser', () => {
  it('gives the same events wherever the body is cut, also inside a character (bug: text lost or broken at piece borders)', () => {
    const body = bytes(': hello\n\ndata: {"a":"ä😀"}\n\ndata: one\r\ndata: two\r\n\r\n: beat\n\ndata:x\n\n');
    const expected = ['{"a":"ä😀"}', 'one\ntwo', 'x'];
    for (let cut = 0; cut <= body.length; cut += 1) {
      expect(parse(body.slice(0, cut), body.slice(cut))).toEqual(expected);
    }
    expect(parse(...Array.from(body, (byte) => Uint8Array.of(byte)))).toEqual(expected);
  });

  it('gives every JSON event back for any text and any cuts (bug: a character that upsets the line rules)', () => {
    const cuts = fc.array(fc.nat(400), { maxLength: 12 });
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' }), { maxLength: 6 }), cuts, (texts, at) => {
        const body = bytes(texts.map((text) => `data: ${JSON.stringify({ text })}\n\n`).join(': beat\n\n'));
        const places = [0, ...at.map((place) => place % (body.length + 1)).sort((a, b) => a - b), body.length];
        const pieces = places.slice(1).map((end, index) => body.slice(places[index], end));
        const got = parse(...pieces).map((data) => (JSON.parse(data) as { text: string }).text);
        // JSON keeps lone surrogates as escapes, so nothing may change at all.
        expect(got).toEqual(texts);
      }),
    );
  });

  it('holds an event back until its empty line (bug: half an event parsed as JSON)', () => {
    const parser = new SseParser();
    expect(parser.push(bytes('data: {"a":1}'))).toEqual([]);
    expect(parser.push(bytes('\n'))).toEqual([]);
    expect(parser.push(bytes('\n'))).toEqual(['{"a":1}']);
  });

  it('takes a single carriage return as a line end and CRLF as one (bug: an empty event after each CRLF)', () => {
    expect(parse(bytes('data: a\r\rdata: b\r'), bytes('\n\r\n'))).toEqual(['a', 'b']);
  });

  it('drops heartbeats and other fields (bug: a heartbeat reported as an event)', () => {
    expect(parse(bytes(': beat\n\n: beat\n\nevent: x\nid: 3\nretry: 1\n\ndata: y\n\n'))).toEqual(['y']);
  });
});
