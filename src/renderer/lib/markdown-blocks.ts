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

const fencePattern = /^( *)(`{3,}|~{3,})(.*)$/;
const itemPattern = /^( {0,3}(?:[-*+]|(\d{1,9})[.)]))(?:( {1,4})(?=\S)|\s|$)(.*)$/;
const breakPattern = /^ {0,3}([-*_])(?: *\1){2,} *$/;

/**
 * What the lines of one block tell about where it may end: after an empty line, before a line that is not indented.
 * Such a line ends every list item and all code inside it, so only code outside of lists has to be followed.
 */
class OpenBlock {
  #empty = true;
  #afterBlank = false;
  #lastIndent = 0;
  #fence: string | null = null;
  /** Column at which the text of the current list item begins; null outside of lists. */
  #itemIndent: number | null = null;
  /** Whether the list is still open cannot be told without parsing. */
  #unsure = false;
  /** Nothing certain can be said any more: the block goes on to the end. */
  #sealed = false;

  endsBefore(line: string): boolean {
    if (this.#sealed || this.#fence !== null || !this.#afterBlank || !/^\S/.test(line)) return false;
    // The parser lets indented code reach over empty lines up to an item that it then takes as text.
    return !isItem(line) || (this.#itemIndent === null && this.#lastIndent <= 3);
  }

  add(line: string): void {
    const isBlank = line.trim() === '';
    if (this.#fence !== null) {
      if (closes(line, this.#fence)) this.#fence = null;
    } else if (!isBlank) {
      if (isItem(line)) this.#addItem(line);
      else this.#addText(line);
    }
    this.#afterBlank = isBlank && this.#fence === null && !this.#empty;
    if (isBlank) return;
    this.#empty = false;
    this.#lastIndent = indentOf(line);
  }

  #addItem(line: string): void {
    const [, marker = '', number, space = ' ', rest = ''] = itemPattern.exec(line) ?? [];
    // In a paragraph only `1.` or a bullet with text begins a list; an indented item may be one of another list.
    const interrupts = rest.trim() !== '' && (number === undefined || Number(number) === 1);
    if (this.#itemIndent === null && !this.#empty && !this.#afterBlank && !interrupts) this.#unsure = true;
    if (this.#itemIndent !== null && line.startsWith(' ')) this.#unsure = true;
    if (rest.trim() === '') this.#unsure = true;
    this.#itemIndent = marker.length + space.length;
  }

  #addText(line: string): void {
    const fence = fenceOf(line);
    if (this.#itemIndent === null) {
      if (fence !== null && fence.indent <= 3) this.#fence = fence.mark;
      return;
    }
    if (fence === null) {
      // Lazily a part of the item's last paragraph, or the first line after the list.
      if (indentOf(line) < this.#itemIndent) this.#unsure = true;
      return;
    }
    if (fence.indent >= this.#itemIndent) {
      if (this.#unsure) this.#sealed = true;
      return;
    }
    this.#fence = fence.mark;
    this.#itemIndent = null;
    this.#unsure = false;
    if (fence.indent > 3) this.#sealed = true;
  }
}

function isItem(line: string): boolean {
  return itemPattern.test(line) && !breakPattern.test(line);
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

function fenceOf(line: string): { readonly mark: string; readonly indent: number } | null {
  const [, indent = '', mark = '', info = ''] = fencePattern.exec(line) ?? [];
  if (mark === '' || (mark.startsWith('`') && info.includes('`'))) return null;
  return { mark, indent: indent.length };
}

function closes(line: string, fence: string): boolean {
  const text = line.trim();
  const isIndented = indentOf(line) > 3;
  return !isIndented && text.length >= fence.length && text === (fence[0] ?? '').repeat(text.length);
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
