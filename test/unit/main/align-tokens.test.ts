import fc from 'fast-check';
import { expect, it } from 'vitest';
import { alignTokens, type TokenText } from '../../../src/main/engine/align-tokens.ts';

/** Tokens are indexes into this list; bytes 0x80.. stand alone as halves of characters. */
const vocabulary = ['a', 'b', 'ab', 'ba', 'aba', 'aab', '<s>', '<e>'];
const text: TokenText = {
  detokenize: (tokens) => tokens.map((token) => vocabulary[token] ?? '?').join(''),
  isSpecial: (token) => token >= 6,
};

it('takes over the cached cut of the same text', () => {
  // <s> ab a <e>  against  <s> a ba <e> b
  expect(alignTokens([6, 2, 0, 7], [6, 0, 3, 7, 1], text)).toEqual([6, 2, 0, 7, 1]);
});

it('stops where the texts differ', () => {
  expect(alignTokens([6, 2, 0, 7], [6, 0, 0, 7], text)).toEqual([6, 0, 0, 7]);
});

it('never lets a special token stand for typed letters (a template could be forged)', () => {
  const spelled: TokenText = {
    detokenize: (tokens) => tokens.map((token) => (token === 6 ? 'ab' : (vocabulary[token] ?? ''))).join(''),
    isSpecial: text.isSpecial,
  };
  expect(alignTokens([6], [2], spelled)).toEqual([2]);
});

it('does not take half a character for a meeting point', () => {
  const bytes: TokenText = {
    detokenize: (tokens) => Buffer.from(tokens).toString('utf8'),
    isSpecial: () => false,
  };
  const eAcute = [0xc3, 0xa9];
  const broken = [0xc3, 0x61];
  expect(alignTokens(broken, eAcute, bytes)).toEqual(eAcute);
});

it('always keeps the text of the new prompt and at least the plain common prefix', () => {
  const tokens = fc.array(fc.nat(7), { maxLength: 40 });
  fc.assert(
    fc.property(tokens, tokens, tokens, (start, cachedTail, renderedTail) => {
      const cached = [...start, ...cachedTail];
      const rendered = [...start, ...renderedTail];
      const aligned = alignTokens(cached, rendered, text);
      expect(text.detokenize(aligned)).toBe(text.detokenize(rendered));
      expect(aligned.filter((token) => token >= 6)).toEqual(rendered.filter((token) => token >= 6));
      expect(aligned.slice(0, start.length)).toEqual(start);
    }),
  );
});
