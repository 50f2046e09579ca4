import { isLoopbackHost, isWildcardHost, reachableHost, urlHost } from '../base/index.ts';
import type { ServerAddress, ServerStatus } from '../contract/index.ts';

/**
 * Addresses under which a server that listens answers, nearest first. Inside WSL, Windows forwards its own localhost,
 * and the addresses that WSL sees are known to Windows alone; others in the network reach neither.
 * @param own addresses of this computer beside loopback.
 */
export function serverAddresses(
  { host, port }: { readonly host: string; readonly port: number },
  own: readonly string[],
  place: ServerStatus['place'],
): readonly ServerAddress[] {
  const at = (name: string) => `http://${urlHost(name)}:${port}`;
  const loopback = isLoopbackHost(host);
  const wildcard = isWildcardHost(host);
  const beyond: ServerAddress['from'] = place === 'wsl' ? 'windows' : 'network';
  const near: ServerAddress[] =
    loopback || wildcard ? [{ url: `http://${reachableHost(host)}:${port}`, from: 'this' }] : [];
  const windows: ServerAddress[] =
    place === 'wsl' && (loopback || wildcard) ? [{ url: at('localhost'), from: 'windows' }] : [];
  // A socket for IPv4 alone has no IPv6 address.
  const reachable = wildcard ? own.filter((address) => host.includes(':') || !address.includes(':')) : [];
  const far = (loopback ? [] : wildcard ? reachable : [host]).map((name): ServerAddress => ({
    url: at(name),
    from: beyond,
  }));
  return [...near, ...windows, ...far];
}
