import { isLoopbackHost } from '../base/index.ts';

export { isLoopbackHost, isWildcardHost, listenHost, reachableHost, urlHost } from '../base/index.ts';

const hostPattern = /^(\[[0-9a-f:.]+\]|[^:[\]@/\\?#\s]+)(?::\d{1,5})?$/;

/** @returns the lower-case name of a Host header without its port; null when it is no such header. */
export function hostName(header: string): string | null {
  return hostPattern.exec(header.toLowerCase())?.[1] ?? null;
}

/** Whether a peer address, as the socket reports it, is this computer. */
export function isLoopbackPeer(address: string | undefined): boolean {
  return address !== undefined && isLoopbackHost(address.replace(/^::ffff:/i, ''));
}

/** `http://a:1/` and `HTTP://A:1` are one origin; text that is no URL can never match and stays as it is. */
export function normalOrigin(origin: string): string {
  return URL.canParse(origin) ? new URL(origin).origin : origin;
}
