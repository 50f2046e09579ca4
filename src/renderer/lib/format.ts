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

/** CPU in cores, `0.00`: the figure this app is about, so never rounded away and never `-0.00`. */
export function formatCores(cores: number): string {
  return Math.max(0, cores).toFixed(2);
}

/** `640 MB`, `6.1 GB`, `15.8 GB`; binary units by their common names. */
export function formatBytes(bytes: number): string {
  const gigabytes = bytes / 2 ** 30;
  if (gigabytes >= 99.95) return `${formatCount(gigabytes)} GB`;
  return gigabytes >= 0.995 ? `${gigabytes.toFixed(1)} GB` : `${formatCount(bytes / 2 ** 20)} MB`;
}

const minute = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const second = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});
const day = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' });

/** Local time of day, `12:41`; with the day where it is not that of `now`. Both Unix ms. */
export function formatSince(at: number, now: number): string {
  const clock = minute.format(at);
  return new Date(at).toDateString() === new Date(now).toDateString() ? clock : `${day.format(at)}, ${clock}`;
}

/** `12:41:07`. */
export function formatClock(at: number): string {
  return second.format(at);
}

const tenths = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 1,
  hourCycle: 'h23',
});

/** `12:41:07.5`. */
export function formatTenths(at: number): string {
  return tenths.format(at);
}
