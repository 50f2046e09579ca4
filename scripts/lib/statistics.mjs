/** @returns the value below which the share `q` of `values` lies, interpolated. */
export function quantile(values, q) {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (sorted.length - 1) * q;
  const low = Math.floor(at);
  const high = Math.min(low + 1, sorted.length - 1);
  return sorted[low] + (sorted[high] - sorted[low]) * (at - low);
}

export const median = (values) => quantile(values, 0.5);

/** First quartile, median, third quartile. */
export const quartiles = (values) => [quantile(values, 0.25), quantile(values, 0.5), quantile(values, 0.75)];

/** How much two runs of the same thing differ here: the median of |later / earlier - 1|. */
export function spread(values) {
  const steps = values.slice(1).map((value, index) => Math.abs(value / values[index] - 1));
  return steps.length === 0 ? 0 : median(steps);
}
