import fc from 'fast-check';
import { renderToStaticMarkup } from 'react-dom/server';
import ReactMarkdown from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { describe, expect, it } from 'vitest';
import { PieceCutter, isOnePiece, pieceLength, wholeCode } from '../../../src/renderer/lib/markdown-pieces.ts';

const blocks = [
  'Some *text*.\n\n',
  'Two lines\nof text\n\n',
  '- item\n- other\n\n  more\n\n',
  '1. one\n2. two\n\n',
  '```js\nlet a;\n\nlet b;\n```\n\n',
  'Text:\n~~~\ncode\n~~~\nText.\n\n',
  '| a | b |\n| - | - |\n| 1 | 2 |\n\n',
  '> quote\n\n',
  '# Heading\n',
  '\r\n',
];
const document = fc.array(fc.constantFrom(...blocks), { maxLength: 40 }).map((all) => all.join(''));
const wild = fc.array(fc.constantFrom(...blocks, '```\n', 'word '.repeat(30), 'x\n'.repeat(40)), { maxLength: 40 });

const cut = (text: string, length?: number) => new PieceCutter(length).update(text);
const rendered = (text: string): string =>
  renderToStaticMarkup(<ReactMarkdown remarkPlugins={[remarkGfm]}>{text}</ReactMarkdown>)
    .replaceAll(/>\s+</g, '><')
    .trim();

describe('PieceCutter', () => {
  it('cuts the same way however the text came in (bug: rows of a long answer change when it ends)', () => {
    fc.assert(
      fc.property(wild, fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1 }), (all, sizes) => {
        const text = all.join('');
        const cutter = new PieceCutter(50);
        for (let at = 0, turn = 0; at < text.length; turn += 1) {
          at += sizes[turn % sizes.length] ?? 1;
          cutter.update(text.slice(0, at));
        }
        expect(cutter.update(text)).toEqual(cut(text, 50));
      }),
    );
  });

  it('looks the same in pieces as parsed at once (bug: a list, a table or code torn apart)', () => {
    fc.assert(
      fc.property(document, (text) => {
        const pieces = cut(text, 60);
        expect(pieces.map((piece) => rendered(piece.text)).join('')).toBe(rendered(text));
      }),
    );
  });

  it('gives the text back whole but for the fences it adds (bug: lost characters at a cut)', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', ' ', '\n', '\n\n', '🐭', '- '), maxLength: 600 }), (text) => {
        expect(
          cut(text, 20)
            .map((piece) => piece.text)
            .join(''),
        ).toBe(text);
      }),
    );
  });

  it('keeps every piece short, also of code, of a line without end and of one huge list (bug: a frozen page)', () => {
    const size = 300_000;
    for (const text of [
      `\`\`\`js\n${'const a = 1;\n'.repeat(size / 13)}\`\`\`\n`,
      'word '.repeat(size / 5),
      'x'.repeat(size),
      '- item of a list\n'.repeat(size / 17),
      `Text\n\`\`\`\n${'y'.repeat(size)}\n\`\`\``,
    ]) {
      for (const piece of cut(text)) expect(piece.text.length).toBeLessThanOrEqual(3 * pieceLength + 20);
    }
  });

  it('never cuts a character in two (bug: a broken emoji in the middle of a line)', () => {
    const text = '🐭'.repeat(20_000);
    for (const piece of cut(text)) expect(piece.text).not.toMatch(/\p{Surrogate}/u);
  });

  it('shows long code as several code blocks in its language, and copies it whole (bug: Copy takes a part)', () => {
    const code = Array.from({ length: 3000 }, (_, line) => `const value${line} = ${line};`).join('\n');
    const text = `Look:\n\`\`\`js\n${code}\n\`\`\`\nThat was it.`;
    const pieces = cut(text);
    const codePieces = pieces.filter((piece) => piece.code !== null);
    expect(codePieces.length).toBeGreaterThan(5);
    for (const piece of codePieces) {
      expect(piece.text).toMatch(/^```js\n[^`]*\n```\n$/);
      expect(wholeCode(text, piece.code!)).toBe(code);
    }
    const shown = codePieces.map((piece) => piece.text.replace(/^```js\n/, '').replace(/\n```\n$/, ''));
    expect(shown.join('\n')).toBe(code);
    expect(pieces[0]?.text).toBe('Look:\n');
    expect(pieces.at(-1)?.text).toBe('That was it.');
  });

  it('colours no code beyond 200,000 characters (bug: the highlighter blocks the page)', () => {
    const pieces = cut(`\`\`\`js\n${'const a = 1;\n'.repeat(30_000)}\`\`\`\n`).filter((piece) => piece.code !== null);
    expect(pieces[0]?.code?.plain).toBe(false);
    expect(pieces.at(-1)?.code?.plain).toBe(true);
  });

  it('leaves usual answers in one piece (bug: every answer becomes several rows)', () => {
    expect(isOnePiece('x'.repeat(pieceLength - 1))).toBe(true);
    expect(cut('One.\n\nTwo.\n')).toEqual([{ text: 'One.\n\nTwo.\n', code: null }]);
    expect(cut('')).toEqual([{ text: '', code: null }]);
  });

  it('scans a growing text once, not once per word (bug: each token slower than the one before)', () => {
    const part = 'Some text of a paragraph.\n\n';
    const cutter = new PieceCutter();
    let text = '';
    const started = performance.now();
    for (let turn = 0; turn < 2000; turn += 1) {
      text += part;
      cutter.update(text);
    }
    // Scanning all of it each time takes minutes.
    expect(performance.now() - started).toBeLessThan(4000);
  });
});
