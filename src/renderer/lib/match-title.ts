/** Whether every word of `query` stands somewhere in a title, without regard to case and accents. */
export function titleMatcher(query: string): (title: string) => boolean {
  const words = plain(query)
    .split(/\s+/)
    .filter((word) => word !== '');
  return (title) => {
    if (words.length === 0) return true;
    const text = plain(title);
    return words.every((word) => text.includes(word));
  };
}

function plain(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
}
