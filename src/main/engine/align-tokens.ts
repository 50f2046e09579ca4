/** What alignment needs to know of a tokenizer. */
export type TokenText = {
  /** Text of a run of tokens; special tokens give their own spelling. */
  readonly detokenize: (tokens: readonly number[]) => string;
  readonly isSpecial: (token: number) => boolean;
};

/** Longest run in which two tokenizations of the same text may differ before they meet again. */
const longestRun = 64;

/**
 * Replaces tokens of a rendered prompt by tokens that the KV cache holds, where both spell the same text.
 * An answer is generated token by token, but rendered anew it may be cut into other tokens; without this
 * the cache would be thrown away from the first such place on.
 * @param cached tokens in the KV cache, in order.
 * @param rendered tokens of the new prompt.
 * @returns a prompt with the same text as `rendered` that shares the longest possible prefix with `cached`.
 */
export function alignTokens<T extends number>(cached: readonly T[], rendered: readonly T[], text: TokenText): T[] {
  let cachedAt = 0;
  let renderedAt = 0;
  while (cachedAt < cached.length && renderedAt < rendered.length) {
    if (cached[cachedAt] === rendered[renderedAt]) {
      cachedAt++;
      renderedAt++;
      continue;
    }
    const meeting = nextMeeting(cached, cachedAt, rendered, renderedAt, text);
    if (meeting === null) break;
    cachedAt = meeting.cachedAt;
    renderedAt = meeting.renderedAt;
  }
  return [...cached.slice(0, cachedAt), ...rendered.slice(renderedAt)];
}

/** Grows the shorter of two runs until both spell the same text. Special tokens stand for themselves and end the search. */
function nextMeeting(
  cached: readonly number[],
  cachedStart: number,
  rendered: readonly number[],
  renderedStart: number,
  text: TokenText,
): { cachedAt: number; renderedAt: number } | null {
  let cachedAt = cachedStart;
  let renderedAt = renderedStart;
  let cachedText = '';
  let renderedText = '';
  while (cachedAt - cachedStart < longestRun && renderedAt - renderedStart < longestRun) {
    const growCached = cachedText.length <= renderedText.length;
    const token = growCached ? cached[cachedAt] : rendered[renderedAt];
    if (token === undefined || text.isSpecial(token)) return null;
    if (growCached) cachedText = text.detokenize(cached.slice(cachedStart, ++cachedAt));
    else renderedText = text.detokenize(rendered.slice(renderedStart, ++renderedAt));
    if (renderedAt === renderedStart) continue;
    // U+FFFD at the end may be half a character: not a place to meet.
    if (cachedText === renderedText && !cachedText.endsWith('\uFFFD')) return { cachedAt, renderedAt };
    if (!mayStillMeet(cachedText, renderedText)) return null;
  }
  return null;
}

/** A run that ends inside a character shows U+FFFD there; everything before it must already agree. */
function mayStillMeet(a: string, b: string): boolean {
  const left = a.replace(/\uFFFD+$/, '');
  const right = b.replace(/\uFFFD+$/, '');
  return left.startsWith(right) || right.startsWith(left);
}
