/** Cuts text at line ends into pieces of about `length` UTF-16 units, so that each can be laid out by itself. */
export function linePieces(text: string, length: number): readonly string[] {
  const pieces: string[] = [];
  for (let start = 0; start < text.length;) {
    const lineEnd = text.indexOf('\n', start + length);
    const isNear = lineEnd !== -1 && lineEnd < start + 2 * length;
    const end = isNear ? lineEnd : Math.min(wholeUnit(text, start + 2 * length), text.length);
    pieces.push(text.slice(start, end));
    // The line end itself is the border between the pieces.
    start = isNear ? end + 1 : end;
  }
  return pieces;
}

function wholeUnit(text: string, at: number): number {
  return (text.charCodeAt(at) & 0xfc00) === 0xdc00 ? at - 1 : at;
}
