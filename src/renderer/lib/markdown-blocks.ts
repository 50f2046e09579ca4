import { OpenBlock, closes, fenceOf } from './open-block.ts';

/** Markdown cut at places where both sides parse the same apart as together. */
export interface MarkdownBlocks {
  /** Finished: later text cannot change how they look. */
  readonly done: readonly string[];
  /** The open end, which may still change its shape. */
  readonly tail: string;
}

export const noBlocks: MarkdownBlocks = { done: [], tail: '' };

/**
 * Splits `text`, which must begin with all of `before`'s text; only what follows its finished blocks is scanned.
 * `done` and `tail` joined give `text` again.
 */
export function splitMarkdown(text: string, before: MarkdownBlocks = noBlocks): MarkdownBlocks {
  const start = before.done.reduce((sum, block) => sum + block.length, 0);
  const last = before.done.at(-1) ?? '';
  if (!text.startsWith(last, start - last.length)) return splitMarkdown(text);
  const found = scan(text.slice(start));
  return found.done.length === 0
    ? { done: before.done, tail: found.tail }
    : { done: [...before.done, ...found.done], tail: found.tail };
}

function scan(text: string): MarkdownBlocks {
  const done: string[] = [];
  let block = new OpenBlock();
  let blockStart = 0;
  for (let lineStart = 0; lineStart < text.length;) {
    const lineEnd = text.indexOf('\n', lineStart);
    // An unfinished line may still turn into a list item or a fence, so nothing is decided on it.
    if (lineEnd === -1) break;
    const line = text.slice(lineStart, lineEnd).replace(/\r$/, '');
    if (block.endsBefore(line)) {
      done.push(text.slice(blockStart, lineStart));
      blockStart = lineStart;
      block = new OpenBlock();
    }
    block.add(line);
    lineStart = lineEnd + 1;
  }
  return { done, tail: text.slice(blockStart) };
}

/** A tail that is nothing but a code block still being written, or null. */
export function openCode(tail: string): { readonly language: string; readonly code: string } | null {
  const lineEnd = tail.indexOf('\n');
  const first = lineEnd === -1 ? tail : tail.slice(0, lineEnd);
  const fence = fenceOf(first);
  if (fence === null || fence.indent > 0) return null;
  const code = lineEnd === -1 ? '' : tail.slice(lineEnd + 1);
  if (code.split('\n').some((line) => closes(line, fence.mark))) return null;
  return { language: first.slice(fence.mark.length).trim().split(/\s/)[0] ?? '', code: code.replace(/\n$/, '') };
}

/** Link and footnote definitions work across blocks; a text that has them must be parsed as a whole. */
export function hasDefinitions(text: string): boolean {
  return /^ {0,3}\[[^\]\n]+\]:/m.test(text);
}
