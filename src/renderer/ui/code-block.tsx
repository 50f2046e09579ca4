import type { ReactNode } from 'react';
import { CopyButton, type CopyTexts } from './copy-button.tsx';

/** As much of a hast element as is read here. */
interface HastLike {
  readonly type: string;
  readonly value?: string;
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly children?: readonly HastLike[];
}

interface CodeBlockProps {
  /** The `pre` element; its text is what Copy takes. */
  readonly node?: HastLike | undefined;
  /** What Copy takes instead. */
  readonly wholeText?: (() => string) | undefined;
  readonly language?: string;
  readonly fallbackLanguage: string;
  readonly copyTexts: CopyTexts;
  readonly children?: ReactNode;
}

export function CodeBlock({ node, wholeText, language, fallbackLanguage, copyTexts, children }: CodeBlockProps) {
  const label = language ?? languageOf(node);
  const shown = label === undefined || label === '' ? fallbackLanguage : label;
  return (
    <div className="code-block">
      <div className="code-block-head">
        <span>{shown}</span>
        <CopyButton texts={copyTexts} text={wholeText ?? (() => textOf(node).replace(/\n$/, ''))} />
      </div>
      <pre tabIndex={0} role="group" aria-label={shown}>
        {children}
      </pre>
    </div>
  );
}

function textOf(node: HastLike | undefined): string {
  if (node === undefined) return '';
  return node.value ?? (node.children ?? []).map(textOf).join('');
}

function languageOf(node: HastLike | undefined): string | undefined {
  const names = node?.children?.[0]?.properties?.['className'];
  if (!Array.isArray(names)) return undefined;
  const found = names.map(String).find((name) => name.startsWith('language-'));
  return found?.slice('language-'.length);
}
