import { useEffect, useState } from 'react';
import { Check, Copy, X } from 'lucide-react';
import { Button } from './button.tsx';
import { copyText } from './copy-text.ts';

export interface CopyTexts {
  readonly copy: string;
  readonly copied: string;
  readonly failed: string;
}

interface CopyButtonProps {
  /** Called on a click, so that large texts are not built, and secret ones not fetched, before. */
  readonly text: () => string | Promise<string>;
  readonly texts: CopyTexts;
  /** Accessible name where `copy` alone would be ambiguous. */
  readonly label?: string;
}

const shownMs = 1600;

export function CopyButton({ text, texts, label }: CopyButtonProps) {
  const [result, setResult] = useState<'none' | 'copied' | 'failed'>('none');
  useEffect(() => {
    if (result === 'none') return;
    const timer = setTimeout(() => setResult('none'), shownMs);
    return () => clearTimeout(timer);
  }, [result]);
  const copy = async () => setResult((await copyText(await text())) ? 'copied' : 'failed');
  const Icon = { none: Copy, copied: Check, failed: X }[result];
  return (
    <Button look="plain" aria-label={label ?? texts.copy} onClick={() => void copy()}>
      <Icon size={13} aria-hidden="true" />
      <span aria-live="polite">{{ none: texts.copy, copied: texts.copied, failed: texts.failed }[result]}</span>
    </Button>
  );
}
