import { OpenBlock, closes } from './open-block.ts';

/** A part of a long markdown text that is parsed and drawn by itself. */
export interface MarkdownPiece {
  readonly text: string;
  /** Set where the piece is a part of code that was too long for one piece. */
  readonly code: CodePart | null;
}

export interface CodePart {
  /** Where the code begins in the whole text, and what closes it. */
  readonly start: number;
  readonly fence: string;
  /** Too far behind the code's begin to be coloured. */
  readonly plain: boolean;
}

/** A piece ends at the first block border behind this many UTF-16 units; a block of twice that is cut inside. */
export const pieceLength = 4000;
const longestColoured = 200_000;

/** Whether a text of this kind is one piece, known without looking into it. */
export function isOnePiece(text: string): boolean {
  return text.length < pieceLength;
}

interface OpenCode {
  /** Of the line that opens it. */
  readonly lineStart: number;
  readonly start: number;
  readonly line: string;
  readonly fence: string;
}

/**
 * Cuts a growing text into pieces. Where a cut lies depends only on the text before it, so pieces that are followed by
 * another one never change. Each call scans only the lines that have come since the last one.
 */
export class PieceCutter {
  readonly #length: number;
  #text = '';
  #done: MarkdownPiece[] = [];
  #pieces: readonly MarkdownPiece[] = [];
  #block = new OpenBlock();
  #blockStart = 0;
  #pieceStart = 0;
  #position = 0;
  #code: OpenCode | null = null;
  /** The open piece continues this code: it began in an earlier piece. */
  #continued: OpenCode | null = null;

  constructor(length = pieceLength) {
    this.#length = length;
  }

  /** @returns the same array while nothing has changed. The last piece is open. */
  update(text: string): readonly MarkdownPiece[] {
    if (text === this.#text && this.#pieces.length > 0) return this.#pieces;
    if (!text.startsWith(this.#text)) this.#reset();
    this.#text = text;
    this.#scan();
    this.#pieces = [...this.#done, this.#piece(this.#pieceStart, text.length, false)];
    return this.#pieces;
  }

  #reset(): void {
    this.#done = [];
    this.#block = new OpenBlock();
    this.#blockStart = this.#pieceStart = this.#position = 0;
    this.#code = this.#continued = null;
  }

  #scan(): void {
    for (;;) {
      const lineStart = this.#position;
      const next = nextLine(this.#text, lineStart, this.#length);
      if (next === null) return;
      const line = this.#text.slice(lineStart, next).replace(/\r?\n$/, '');
      this.#cutBefore(line, lineStart);
      this.#block.add(line);
      this.#position = next;
      this.#followCode(line, lineStart, next);
    }
  }

  #cutBefore(line: string, lineStart: number): void {
    if (this.#block.endsBefore(line)) {
      if (lineStart - this.#pieceStart >= this.#length) this.#cut(lineStart);
      this.#beginBlock(lineStart);
      return;
    }
    const from = Math.max(this.#code?.lineStart ?? this.#blockStart, this.#pieceStart);
    if (lineStart - from < 2 * this.#length) return;
    // What stands before the long block or code becomes a piece of its own.
    if (from > this.#pieceStart) this.#cut(from);
    this.#cut(lineStart);
    if (this.#code === null) this.#beginBlock(lineStart);
    else this.#continued = this.#code;
  }

  #followCode(line: string, lineStart: number, next: number): void {
    const fence = this.#block.openFence;
    if (fence !== null && this.#code === null) {
      this.#code = { lineStart, start: next, line: line.trim(), fence };
    } else if (fence === null && this.#code !== null) {
      if (this.#continued !== null) {
        this.#cut(next);
        this.#beginBlock(next);
      }
      this.#code = this.#continued = null;
    }
  }

  #beginBlock(at: number): void {
    this.#block = new OpenBlock();
    this.#blockStart = at;
  }

  #cut(at: number): void {
    this.#done.push(this.#piece(this.#pieceStart, at, true));
    this.#pieceStart = at;
  }

  #piece(from: number, to: number, closed: boolean): MarkdownPiece {
    const body = this.#text.slice(from, to);
    const code = this.#code;
    const isCode =
      code !== null && (this.#continued !== null || (closed && from === code.lineStart && to > code.start));
    if (!isCode) return { text: body, code: null };
    const opening = this.#continued === null ? '' : `${code.line}\n`;
    const isEnd = endsWithFence(body, code.fence);
    const closing = closed && !isEnd ? `${body.endsWith('\n') ? '' : '\n'}${code.fence}\n` : '';
    const plain = from - code.start >= longestColoured;
    return { text: opening + body + closing, code: { start: code.start, fence: code.fence, plain } };
  }
}

/** The code that a {@link CodePart} belongs to, from its first to its last line. */
export function wholeCode(text: string, { start, fence }: CodePart): string {
  for (let lineStart = start; lineStart < text.length;) {
    const found = text.indexOf('\n', lineStart);
    const lineEnd = found === -1 ? text.length : found;
    if (closes(text.slice(lineStart, lineEnd), fence)) return text.slice(start, lineStart).replace(/\r?\n$/, '');
    lineStart = lineEnd + 1;
  }
  return text.slice(start);
}

/** Where the next line begins; null while the line is not complete. A line without end is cut at a space. */
function nextLine(text: string, lineStart: number, pieceSize: number): number | null {
  const lineEnd = text.indexOf('\n', lineStart);
  const length = (lineEnd === -1 ? text.length : lineEnd) - lineStart;
  if (length <= 2 * pieceSize) return lineEnd === -1 ? null : lineEnd + 1;
  const end = lineStart + pieceSize;
  const space = text.lastIndexOf(' ', end - 1);
  if (space > end - 200) return space + 1;
  const isLow = (text.charCodeAt(end) & 0xfc00) === 0xdc00;
  return isLow ? end - 1 : end;
}

function endsWithFence(body: string, fence: string): boolean {
  const trimmed = body.replace(/\r?\n$/, '');
  return closes(trimmed.slice(trimmed.lastIndexOf('\n') + 1), fence);
}
