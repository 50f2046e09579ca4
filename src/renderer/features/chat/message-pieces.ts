import { PieceCutter, isOnePiece, type MarkdownPiece } from '../../lib/markdown-pieces.ts';

/** Long answers of one list, cut into pieces that are drawn as rows of their own. */
export class MessagePieces {
  readonly #cutters = new Map<string, PieceCutter>();

  /** `text` may have grown since the last call. */
  of(messageId: string, text: string): readonly MarkdownPiece[] {
    const known = this.#cutters.get(messageId);
    if (known === undefined && isOnePiece(text)) return [{ text, code: null }];
    const cutter = known ?? new PieceCutter();
    this.#cutters.set(messageId, cutter);
    return cutter.update(text);
  }
}
