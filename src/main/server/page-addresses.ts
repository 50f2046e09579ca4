import type { IncomingMessage } from 'node:http';
import { hostName, isLoopbackHost, isLoopbackPeer, isWildcardHost, reachableHost, urlHost } from './hosts.ts';

/** Where pages find the server, now and after it has moved. */
export type PageAddresses = {
  /** null while nothing listens. */
  readonly current: () => { readonly host: string; readonly port: number } | null;
  /** @returns a link that gives one page its right there. @param origin scheme, host and port. */
  readonly linkAt: (origin: string) => string;
  /** Calls when the server listens elsewhere, before the old sockets are let go. @returns a function that ends it. */
  readonly onMoved: (listener: () => void) => () => void;
};

/** Where a page goes after a move: `stay` under its old address, or to a new one, or nowhere that would reach us. */
export type PageMove =
  | { readonly kind: 'stay' }
  | { readonly kind: 'go'; readonly origin: string; readonly forwarded: boolean }
  | { readonly kind: 'lost' };

/**
 * @param incoming any request of the page, whose Host header says how it reached us: behind a forward (SSH, a container)
 * its port is not the one that we listened on.
 */
export function pageMove(incoming: IncomingMessage, now: { readonly host: string; readonly port: number }): PageMove {
  const header = incoming.headers.host ?? '';
  const name = hostName(header);
  if (name === null) return { kind: 'lost' };
  const peerIsNear = isLoopbackPeer(incoming.socket.remoteAddress);
  if (isLoopbackHost(now.host) && !peerIsNear) return { kind: 'lost' };
  const port = Number(/:(\d+)$/.exec(header)?.[1] ?? 80);
  const forwarded = port !== incoming.socket.localPort;
  const covered =
    isWildcardHost(now.host) || name === urlHost(now.host) || (isLoopbackHost(name) && isLoopbackHost(now.host));
  const movedPort = now.port !== incoming.socket.localPort;
  if (covered && !movedPort) return { kind: 'stay' };
  return { kind: 'go', origin: `http://${covered ? name : reachableHost(now.host)}:${now.port}`, forwarded };
}
