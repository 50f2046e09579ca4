import { createContext, memo, useContext, useMemo, useRef } from 'react';
import ReactMarkdown, { type Components, type Options } from 'react-markdown';
import rehypeHighlight from 'rehype-highlight';
import remarkGfm from 'remark-gfm';
import { hasDefinitions, noBlocks, openCode, splitMarkdown, type MarkdownBlocks } from '../lib/markdown-blocks.ts';
import { CodeBlock } from './code-block.tsx';
import type { CopyTexts } from './copy-button.tsx';
import { safeHref } from '../lib/safe-href.ts';

export interface MarkdownTexts {
  readonly copyCode: CopyTexts;
  /** Language label of code that names none. */
  readonly code: string;
  readonly image: string;
  readonly table: string;
}

interface MarkdownContextValue {
  readonly texts: MarkdownTexts;
  readonly plain: boolean;
  readonly codeText: (() => string) | undefined;
}

const MarkdownContext = createContext<MarkdownContextValue | null>(null);

const remarkPlugins: Options['remarkPlugins'] = [remarkGfm];
/** One for all blocks: each call of the plugin compiles 37 languages anew, which costs more than all the parsing. */
const highlight = rehypeHighlight();
const rehypePlugins: Options['rehypePlugins'] = [() => highlight];
const noPlugins: Options['rehypePlugins'] = [];
/** Open code longer than this is coloured only when it is complete: colouring runs over all of it each time. */
const longestLiveCode = 4000;

function useMarkdownContext(): MarkdownContextValue {
  const value = useContext(MarkdownContext);
  if (value === null) throw new Error('MarkdownContext is missing');
  return value;
}

function useTexts(): MarkdownTexts {
  return useMarkdownContext().texts;
}

const components: Components = {
  a: ({ href, children }) => {
    const safe = safeHref(href);
    if (safe === null) return <span>{children}</span>;
    return (
      <a href={safe} target="_blank" rel="noopener noreferrer">
        {children}
      </a>
    );
  },
  img: ({ src, alt }) => <ImageText src={typeof src === 'string' ? src : undefined} alt={alt} />,
  pre: ({ node, children }) => {
    const { texts, codeText } = useMarkdownContext();
    return (
      <CodeBlock node={node} wholeText={codeText} copyTexts={texts.copyCode} fallbackLanguage={texts.code}>
        {children}
      </CodeBlock>
    );
  },
  table: ({ children }) => (
    <div className="table-scroll" role="group" aria-label={useTexts().table} tabIndex={0}>
      <table>{children}</table>
    </div>
  ),
};

// Fetching an image would tell its server about this chat, so it is only named and linked.
function ImageText({ src, alt }: { readonly src: string | undefined; readonly alt: string | undefined }) {
  const { image } = useTexts();
  const name = alt === undefined || alt === '' ? image : `${image}: ${alt}`;
  const href = safeHref(src);
  if (href === null) return <span className="image-text">{name}</span>;
  return (
    <a className="image-text" href={href} target="_blank" rel="noopener noreferrer">
      {name}
    </a>
  );
}

const MarkdownBlock = memo(function MarkdownBlock({ text }: { readonly text: string }) {
  const { plain } = useMarkdownContext();
  return (
    <ReactMarkdown
      remarkPlugins={remarkPlugins}
      rehypePlugins={plain ? noPlugins : rehypePlugins}
      components={components}
      urlTransform={(url) => url}
    >
      {text}
    </ReactMarkdown>
  );
});

function Tail({ text }: { readonly text: string }) {
  const { texts, codeText } = useMarkdownContext();
  const { copyCode, code: fallbackLanguage } = texts;
  const open = text.length > longestLiveCode ? openCode(text) : null;
  if (open === null) return <MarkdownBlock text={text} />;
  return (
    <CodeBlock
      language={open.language}
      wholeText={codeText ?? (() => open.code)}
      copyTexts={copyCode}
      fallbackLanguage={fallbackLanguage}
    >
      <code>{open.code}</code>
    </CodeBlock>
  );
}

interface MarkdownProps {
  readonly text: string;
  /** More text follows: only the open end is parsed again. */
  readonly streaming: boolean;
  readonly texts: MarkdownTexts;
  /** Code is not coloured. */
  readonly plain?: boolean;
  /** What Copy takes where the code in `text` is a part only. */
  readonly codeText?: (() => string) | undefined;
}

/** Markdown without raw HTML and without images. Finished blocks are parsed once while text streams in. */
export const Markdown = memo(function Markdown(props: MarkdownProps) {
  const { text, streaming, texts, plain = false, codeText } = props;
  const blocks = useBlocks(text);
  const context = useMemo(() => ({ texts, plain, codeText }), [texts, plain, codeText]);
  const asWhole = !streaming && hasDefinitions(text);
  return (
    <MarkdownContext value={context}>
      <div className="markdown">
        {asWhole ? (
          <MarkdownBlock text={text} />
        ) : (
          <>
            {blocks.done.map((block, index) => (
              <MarkdownBlock key={index} text={block} />
            ))}
            <Tail key={blocks.done.length} text={blocks.tail} />
          </>
        )}
      </div>
    </MarkdownContext>
  );
});

// A cache only: what it returns depends on `text` alone.
function useBlocks(text: string): MarkdownBlocks {
  const cache = useRef<MarkdownBlocks>(noBlocks);
  cache.current = splitMarkdown(text, cache.current);
  return cache.current;
}
