const fencePattern = /^( *)(`{3,}|~{3,})(.*)$/;
const itemPattern = /^( {0,3}(?:[-*+]|(\d{1,9})[.)]))(?:( {1,4})(?=\S)|\s|$)(.*)$/;
const breakPattern = /^ {0,3}([-*_])(?: *\1){2,} *$/;

/**
 * What the lines of one block tell about where it may end: after an empty line, before a line that is not indented.
 * Such a line ends every list item and all code inside it, so only code outside of lists has to be followed.
 */
export class OpenBlock {
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

  /** The mark that closes the code in which the next line stands; null outside of code. */
  get openFence(): string | null {
    return this.#fence;
  }

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

export function fenceOf(line: string): { readonly mark: string; readonly indent: number } | null {
  const [, indent = '', mark = '', info = ''] = fencePattern.exec(line) ?? [];
  if (mark === '' || (mark.startsWith('`') && info.includes('`'))) return null;
  return { mark, indent: indent.length };
}

export function closes(line: string, fence: string): boolean {
  const text = line.trim();
  const isIndented = indentOf(line) > 3;
  return !isIndented && text.length >= fence.length && text === (fence[0] ?? '').repeat(text.length);
}
