const hostPattern = /^(\[[0-9a-f:.]+\]|[^:[\]@/\\?#\s]+)(?::\d{1,5})?$/;

/** @returns the lower-case name of a Host header without its port; null when it is no such header. */
export function hostName(header: string): string | null {
  return hostPattern.exec(header.toLowerCase())?.[1] ?? null;
}

/** A host as it stands in a URL: IPv6 in brackets, lower case. */
export function urlHost(host: string): string {
  const name = host.toLowerCase();
  return name.includes(':') && !name.startsWith('[') ? `[${name}]` : name;
}

/** A host as the listen call wants it: IPv6 without brackets. */
export function listenHost(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1');
}

/** Whether only this computer can reach what listens there. */
export function isLoopbackHost(host: string): boolean {
  const name = listenHost(host).toLowerCase();
  return name === 'localhost' || name === '::1' || /^127(\.\d{1,3}){3}$/.test(name);
}

/** Whether a peer address, as the socket reports it, is this computer. */
export function isLoopbackPeer(address: string | undefined): boolean {
  return address !== undefined && isLoopbackHost(address.replace(/^::ffff:/i, ''));
}

/** The host under which a person on this computer reaches a server that listens on `host`. */
export function reachableHost(host: string): string {
  const name = listenHost(host);
  return name === '0.0.0.0' || name === '::' || name === '' ? '127.0.0.1' : urlHost(host);
}

/** `http://a:1/` and `HTTP://A:1` are one origin; text that is no URL can never match and stays as it is. */
export function normalOrigin(origin: string): string {
  return URL.canParse(origin) ? new URL(origin).origin : origin;
}
