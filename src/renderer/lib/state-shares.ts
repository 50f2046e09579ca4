/** What one thread did over a span of time, in ms, and what it does at its end. */
export interface ThreadTimes {
  readonly state: 'computing' | 'spinning' | 'asleep';
  readonly busyMs: number;
  readonly spinMs: number;
  readonly asleepMs: number;
}

export interface StateShares {
  readonly computing: number;
  readonly spinning: number;
  readonly asleep: number;
}

/** Shares that add up to 1. A span in which nothing was counted belongs to the state at its end. */
export function stateShares({ state, busyMs, spinMs, asleepMs }: ThreadTimes): StateShares {
  const [busy, spin, asleep] = [Math.max(0, busyMs), Math.max(0, spinMs), Math.max(0, asleepMs)];
  const all = busy + spin + asleep;
  if (all === 0) {
    return {
      computing: state === 'computing' ? 1 : 0,
      spinning: state === 'spinning' ? 1 : 0,
      asleep: state === 'asleep' ? 1 : 0,
    };
  }
  return { computing: busy / all, spinning: spin / all, asleep: asleep / all };
}

/**
 * Heights of computing and spinning in a strip; what is left is asleep. Spinning of which there is any gets
 * `leastPixels`: 20 ms in half a second would be no pixel, and they are what this app is about.
 */
export function shareHeights(shares: StateShares, height: number, leastPixels: number): readonly [number, number] {
  const spinning =
    shares.spinning < 0.005 ? 0 : Math.min(height, Math.max(leastPixels, Math.round(shares.spinning * height)));
  const computing = Math.min(height - spinning, Math.round(shares.computing * height));
  return [computing, spinning];
}
