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

/** Whether it means all addresses of this computer. */
export function isWildcardHost(host: string): boolean {
  const name = listenHost(host);
  return name === '0.0.0.0' || name === '::' || name === '';
}

/** The host under which a person on this computer reaches a server that listens on `host`. */
export function reachableHost(host: string): string {
  return isWildcardHost(host) ? '127.0.0.1' : urlHost(listenHost(host));
}
