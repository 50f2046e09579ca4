import fc from 'fast-check';
import type { ReactNode } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import ReactMarkdown from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { describe, expect, it } from 'vitest';
import { hasDefinitions, noBlocks, openCode, splitMarkdown } from '../../../src/renderer/lib/markdown-blocks.ts';

const lines = [
  'Some *text*.',
  'More text',
  '',
  '',
  '- item',
  '* other',
  '1. one',
  '1) two',
  '3. three',
  ' - indented item',
  '-',
  '   three spaces',
  '* * *',
  '  - nested',
  '    ```',
  ' ```',
  '  indented',
  '    four spaces',
  '```js',
  '```',
  '~~~~',
  '~~~',
  '   ```',
  '- ```js',
  '  ```',
  '> quote',
  '# Heading',
  '---',
  '| a | b |',
  '| - | - |',
  '| 1 | 2 |',
  '`a` ```b```',
  'text\r',
];
const document = fc.array(fc.constantFrom(...lines), { maxLength: 24 }).map((all) => all.join('\n'));

// A fence left open at the end of a list keeps or loses its last empty lines.
const html = (node: ReactNode): string =>
  renderToStaticMarkup(node)
    .replaceAll(/>\s+</g, '><')
    .replaceAll(/\n+<\/code>/g, '</code>')
    .trim();
const rendered = (text: string): string => html(<ReactMarkdown remarkPlugins={[remarkGfm]}>{text}</ReactMarkdown>);

describe('splitMarkdown', () => {
  it('gives the text back whole (bug: lost characters at block borders)', () => {
    fc.assert(
      fc.property(document, (text) => {
        const { done, tail } = splitMarkdown(text);
        expect(done.join('') + tail).toBe(text);
      }),
    );
  });

  it('cuts the same way however the text came in (bug: the answer changes its look when it ends)', () => {
    fc.assert(
      fc.property(document, fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), (text, sizes) => {
        let blocks = noBlocks;
        for (let at = 0, turn = 0; at < text.length; turn += 1) {
          at += sizes[turn % sizes.length] ?? 1;
          blocks = splitMarkdown(text.slice(0, at), blocks);
        }
        expect(blocks).toEqual(splitMarkdown(text));
      }),
    );
  });

  it('looks the same in blocks as parsed at once (bug: a list, a fence or a table torn apart)', () => {
    fc.assert(
      fc.property(document, (text) => {
        const { done, tail } = splitMarkdown(text);
        expect([...done, tail].map(rendered).join('')).toBe(rendered(text));
      }),
      { numRuns: 500, seed: 20 },
    );
  });

  it('keeps what belongs together together (bug: a loose list becomes several tight ones)', () => {
    for (const text of [
      '- a\n\n- b\n\n- c\n',
      '1. a\n\n2. b\n',
      'Intro:\n\n- a\n\n  more\n\n- b\n',
      '- a\n\n  ```js\n  x\n\n  y\n  ```\n\n- b\n',
      '    code\n\n    more code\n',
      '> a\n\n> b\n',
    ]) {
      const { done, tail } = splitMarkdown(text);
      expect([...done, tail].map(rendered).join(''), text).toBe(rendered(text));
    }
  });

  it('finishes a paragraph as soon as the next one has begun (bug: the whole answer stays open and is parsed per token)', () => {
    expect(splitMarkdown('One.\n\nTwo.\n\nThr')).toEqual({ done: ['One.\n\n'], tail: 'Two.\n\nThr' });
    expect(splitMarkdown('One.\n\nTwo.\n\nThree\n').done).toEqual(['One.\n\n', 'Two.\n\n']);
  });

  it('goes on cutting after a list with code in it (bug: one such list makes the rest of the answer slow)', () => {
    const list = '1. Install:\n\n   ```sh\n   npm ci\n\n   npm start\n   ```\n\n2. Open it.\n   - nested\n\n';
    const { done } = splitMarkdown(`Do this:\n\n${list}Then ask.\n\n~~~\nx\n~~~\n\nDone.\n`);
    expect(done).toEqual(['Do this:\n\n', list, 'Then ask.\n\n', '~~~\nx\n~~~\n\n']);
  });

  it('never cuts inside code (bug: code with empty lines falls apart while it streams)', () => {
    expect(splitMarkdown('```js\na\n\nb\n\n# no heading\n').done).toEqual([]);
    expect(splitMarkdown('````\n```\n\nx\n```\n\ny\n').done).toEqual([]);
  });

  it('starts over when the text is another one (bug: old blocks shown under a new answer)', () => {
    const before = splitMarkdown('One.\n\nTwo.\n');
    expect(splitMarkdown('Other.\n\nText.\n', before)).toEqual({ done: ['Other.\n\n'], tail: 'Text.\n' });
  });
});

describe('openCode', () => {
  it('recognises code that is still being written, and only that (bug: markdown after code shown as code)', () => {
    expect(openCode('```ts title\nlet a;\nlet')).toEqual({ language: 'ts', code: 'let a;\nlet' });
    expect(openCode('```')).toEqual({ language: '', code: '' });
    expect(openCode('```ts\na\n```')).toBeNull();
    expect(openCode('text\n```ts\na')).toBeNull();
    expect(openCode('```a``` is code')).toBeNull();
  });
});

describe('hasDefinitions', () => {
  it('finds link and footnote definitions (bug: their references stay raw text)', () => {
    expect(hasDefinitions('See [a].\n\n[a]: https://example.org')).toBe(true);
    expect(hasDefinitions('Word[^1].\n\n[^1]: Note')).toBe(true);
    expect(hasDefinitions('A [link](https://example.org): yes')).toBe(false);
  });
});
