/** Normalised mean squared error, and how often the top token differs where the reference had no near tie to excuse it. */
export function compareLogits(reference, other) {
  let difference = 0;
  let size = 0;
  let wrongTops = 0;
  reference.forEach((row, index) => {
    const own = other[index] ?? [];
    let largest = 0;
    row.forEach((value, token) => {
      const error = Math.abs(value - (own[token] ?? 0));
      largest = Math.max(largest, error);
      difference += error ** 2;
      size += value ** 2;
    });
    const [best = 0, next = 0] = [...row].sort((a, b) => b - a);
    // Both may be off by the error at once.
    if (topOf(row) !== topOf(own) && best - next > 2 * largest) wrongTops += 1;
  });
  return { nmse: difference / size, wrongTops, rows: reference.length };
}

function topOf(row) {
  return row.reduce((top, value, token) => (value > (row[top] ?? -Infinity) ? token : top), 0);
}
