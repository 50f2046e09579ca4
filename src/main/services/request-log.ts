import { Emitter, type Clock } from '../base/index.ts';
import type { ExchangeEntry, ExchangeHistory } from '../contract/index.ts';
import type { ExchangeLog, ExchangeLogEvent } from './interfaces.ts';

/** Exchanges that are kept; the oldest that has ended goes first. */
const mostKept = 500;
const leaseMs = 15_000;

/** The last exchanges with programs, without any text. Tells of new ones only while somebody watches. */
export class RequestLog implements ExchangeLog {
  readonly #clock: Pick<Clock, 'elapsed'>;
  readonly #events = new Emitter<ExchangeLogEvent>();
  readonly #entries = new Map<number, ExchangeEntry>();
  #watchedUntil = Number.NEGATIVE_INFINITY;

  constructor(clock: Pick<Clock, 'elapsed'>) {
    this.#clock = clock;
  }

  /** An exchange that has begun, or the same one when it has ended. */
  readonly add = (entry: ExchangeEntry): void => {
    this.#entries.set(entry.id, entry);
    if (this.#entries.size > mostKept) this.#dropOldest();
    if (this.#clock.elapsed() < this.#watchedUntil) this.#events.emit({ type: 'server.exchange', entry });
  };

  watch(): ExchangeHistory {
    this.#watchedUntil = this.#clock.elapsed() + leaseMs;
    return { entries: [...this.#entries.values()], leaseMs };
  }

  unwatch(pages: number): void {
    if (pages <= 1) this.#watchedUntil = Number.NEGATIVE_INFINITY;
  }

  /** What still runs stays. */
  clear(): void {
    for (const [id, { running }] of this.#entries) if (!running) this.#entries.delete(id);
    this.#events.emit({ type: 'server.logCleared' });
  }

  on(listener: (event: ExchangeLogEvent) => void): () => void {
    return this.#events.on(listener);
  }

  #dropOldest(): void {
    for (const [id, { running }] of this.#entries) {
      if (running && this.#entries.size <= 2 * mostKept) continue;
      this.#entries.delete(id);
      return;
    }
  }
}
