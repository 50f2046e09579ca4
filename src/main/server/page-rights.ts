import { secretDigest } from './secrets.ts';

const maxTickets = 16;
const maxSecrets = 64;
const maxFailures = 20;
const failureWindowMs = 60_000;
/** 192 bits each. */
const secretBytes = 24;

export type Redeemed =
  | { readonly kind: 'secret'; readonly secret: string }
  | { readonly kind: 'invalid' }
  /** Invalid as well, and the last of many: say so instead of answering as fast as somebody can guess. */
  | { readonly kind: 'throttled'; readonly retryAfterMs: number };

/** One-time tickets and the session secrets they are traded for. Everything lives in memory and is bounded. */
export class PageRights {
  readonly #tickets = new Map<string, number>();
  readonly #secrets = new Set<string>();
  readonly #now: () => number;
  readonly #random: (bytes: number) => Uint8Array;
  readonly #ticketMs: number;
  #failures = 0;
  #failuresSince = 0;

  constructor(now: () => number, random: (bytes: number) => Uint8Array, ticketMs: number) {
    this.#now = now;
    this.#random = random;
    this.#ticketMs = ticketMs;
  }

  /** A ticket that `redeem` accepts once within the ticket's time. */
  issueTicket(): string {
    const ticket = this.#token();
    this.#tickets.set(secretDigest(ticket), this.#now() + this.#ticketMs);
    dropOldest(this.#tickets, maxTickets);
    return ticket;
  }

  /** Trades a ticket for a session secret. A good ticket works even while bad ones are throttled: nobody is locked out. */
  redeem(ticket: string): Redeemed {
    const digest = secretDigest(ticket);
    const expires = this.#tickets.get(digest);
    this.#tickets.delete(digest);
    if (expires === undefined || this.#now() > expires) return this.#failed();
    const secret = this.#token();
    this.#secrets.add(secretDigest(secret));
    dropOldest(this.#secrets, maxSecrets);
    return { kind: 'secret', secret };
  }

  /** Whether `secret` came from `redeem`. Use keeps it young, so that pages in use are never the ones dropped. */
  holds(secret: string | undefined): boolean {
    if (secret === undefined) return false;
    const digest = secretDigest(secret);
    if (!this.#secrets.delete(digest)) return false;
    this.#secrets.add(digest);
    return true;
  }

  #failed(): Redeemed {
    const now = this.#now();
    if (now - this.#failuresSince > failureWindowMs) {
      this.#failures = 0;
      this.#failuresSince = now;
    }
    this.#failures += 1;
    if (this.#failures <= maxFailures) return { kind: 'invalid' };
    return { kind: 'throttled', retryAfterMs: this.#failuresSince + failureWindowMs - now };
  }

  #token(): string {
    return Buffer.from(this.#random(secretBytes)).toString('base64url');
  }
}

function dropOldest(entries: Map<string, unknown> | Set<string>, keep: number): void {
  for (const key of entries.keys()) {
    if (entries.size <= keep) return;
    entries.delete(key);
  }
}
