const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

/** `2300` -> `2,300`. */
export function formatCount(value: number): string {
  return whole.format(value);
}

/** Share 0..1 -> `42 %`. Never rounds up to 100 before the end. */
export function formatPercent(share: number): string {
  return `${Math.floor(share * 100 + 1e-9)} %`;
}

/** Tokens per second: one digit behind the point below 100. */
export function formatSpeed(tokensPerSecond: number): string {
  return tokensPerSecond < 100 ? tokensPerSecond.toFixed(1) : formatCount(tokensPerSecond);
}

/** Milliseconds -> seconds in words: `0.21 s`, `3.4 s`, `12 s`, `2 min 5 s`. */
export function formatSeconds(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  if (seconds < 0.995) return `${seconds.toFixed(2)} s`;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  return formatWholeSeconds(Math.round(seconds));
}

/** `3 s`, `2 min 5 s`. */
export function formatWholeSeconds(seconds: number): string {
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
