import type { Logger } from '../base/index.ts';
import {
  eventHeartbeatMs,
  type Dispatcher,
  type ExchangeEntry,
  type Result,
  type SecondStart,
} from '../contract/index.ts';
import type { CompletionService, LadderService, ModelService } from '../services/interfaces.ts';

export type ServerOptions = {
  /** Where `start` listens. */
  readonly host: string;
  /** 0 takes any free one. */
  readonly port: number;
  /** Until `setApiKey`. */
  readonly apiKey: string | null;
  readonly corsOrigins: readonly string[];
  readonly allowedHosts: readonly string[];
  /** Folder of the built page. It may be missing: then `/` says so. */
  readonly rendererFolder: string;
  readonly version: string;
  /** Lets another process of the same user, which can read the lock file, ask for a link. null: none may. */
  readonly ownerToken: () => string | null;
  /** What that other process wants. @returns whether a window was shown. Absent: there is no window. */
  readonly secondStart?: (wish: SecondStart) => boolean;
};

export type ServerLimits = {
  readonly bodyBytes: number;
  /** Bytes that may wait for a slow reader of `/ui/events` before its stream is ended. */
  readonly eventQueueBytes: number;
  /** Bytes that may wait for a slow reader of an answer before the request is aborted. */
  readonly answerQueueBytes: number;
  readonly eventHeartbeatMs: number;
  readonly answerHeartbeatMs: number;
  readonly ticketMs: number;
};

export const defaultLimits: ServerLimits = {
  bodyBytes: 8 * 1024 * 1024,
  eventQueueBytes: 1024 * 1024,
  answerQueueBytes: 4 * 1024 * 1024,
  eventHeartbeatMs,
  answerHeartbeatMs: 10_000,
  ticketMs: 60_000,
};

export type ServerDeps = {
  readonly dispatcher: Dispatcher;
  readonly models: ModelService;
  readonly completions: CompletionService;
  readonly ladder: Pick<LadderService, 'status'>;
  readonly logger: Logger;
  readonly options: ServerOptions;
  /** Hears of exchanges with programs, when they begin and when they end. */
  readonly onExchange?: (entry: ExchangeEntry) => void;
  readonly limits?: Partial<ServerLimits>;
  /** Monotonic clock in ms, for the age of tickets. */
  readonly now?: () => number;
  /** @returns that many random bytes from a cryptographic source. */
  readonly random?: (bytes: number) => Uint8Array;
};

export interface Server {
  /** Listens. A port that is taken, forbidden or not ours is an error value that says what to do. */
  start(): Promise<Result<{ url: string; port: number }>>;
  /**
   * Listens there from now on. What runs goes on, pages are told their new link; when the address cannot be had,
   * the old one stays and the error says why.
   */
  open(host: string, port: number): Promise<Result<{ url: string; port: number }>>;
  /** Whether programs are answered; without it only the page is. Switching off ends what runs for them. */
  setAnswering(answering: boolean): void;
  /** null: none is needed. */
  setApiKey(key: string | null): void;
  /** A fresh link that gives one page its right, once, within a minute. Only while it listens. */
  createLink(): string;
  /** Ends every stream, running answer and open socket, then resolves. Calling it twice is harmless; `open` opens anew. */
  close(): Promise<void>;
}
