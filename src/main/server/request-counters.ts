import type { Exchange } from './exchange.ts';

/** Upper ends of the buckets of request durations, in seconds. */
export const durationBuckets = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300] as const;

export type RouteCounts = {
  readonly route: string;
  /** HTTP status, or `aborted` where the client was gone first. */
  readonly status: string;
  requests: number;
};

export type Durations = { readonly buckets: number[]; count: number; seconds: number };

/** Counts what came and went. Bounded, since routes are patterns and statuses few. */
export class RequestCounters {
  readonly routes = new Map<string, RouteCounts>();
  readonly durations = new Map<string, Durations>();
  promptTokens = 0;
  predictedTokens = 0;

  add({ route, fields }: Exchange, status: string, ms: number): void {
    const key = `${route} ${status}`;
    const counts = this.routes.get(key) ?? { route, status, requests: 0 };
    counts.requests += 1;
    this.routes.set(key, counts);
    this.#time(route, ms / 1000);
    this.promptTokens += numberIn(fields['promptTokens']);
    this.predictedTokens += numberIn(fields['predictedTokens']);
  }

  #time(route: string, seconds: number): void {
    const durations = this.durations.get(route) ?? { buckets: durationBuckets.map(() => 0), count: 0, seconds: 0 };
    const first = durationBuckets.findIndex((end) => seconds <= end);
    if (first >= 0) durations.buckets[first] = (durations.buckets[first] ?? 0) + 1;
    durations.count += 1;
    durations.seconds += seconds;
    this.durations.set(route, durations);
  }
}

function numberIn(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
