import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Context } from 'hono';
import type { Timings } from '../contract/index.ts';

/** How a request's origin was judged: none sent, our own page, a listed origin, or a link followed from elsewhere. */
export type OriginKind = 'none' | 'ours' | 'listed' | 'navigation';

/** What the server knows about one request beside its bytes. */
export type Exchange = {
  readonly id: number;
  /** Unix time in ms. */
  readonly startedAt: number;
  readonly origin: OriginKind;
  /** Aborted when the client is gone or the server closes, before the reply was complete. */
  readonly gone: AbortSignal;
  /** Pattern, never the path itself: paths and queries can carry what a log must not. */
  route: string;
  /** What the answer needed; null where none was given. */
  timings: Timings | null;
  /** For the log and the counters: `model`, `promptTokens`, `predictedTokens`, `error`, where there are any. */
  readonly fields: Record<string, string | number | boolean>;
};

export type ServerEnv = {
  Bindings: { readonly incoming: IncomingMessage; readonly outgoing: ServerResponse; readonly exchange: Exchange };
};

export type RouteContext = Context<ServerEnv>;
export type Handler = (context: RouteContext) => Response | Promise<Response>;
