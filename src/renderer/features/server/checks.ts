/** Whether only this computer can reach what listens there. */
export function isLoopback(host: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i.test(host.trim());
}

/** A host as main takes it. */
export function isHost(text: string): boolean {
  const host = text.trim();
  return /^[^\s/\\?#@]{1,253}$/.test(host) && !/^[^:]+:\d+$/.test(host);
}

/** @returns null for what is no port. */
export function readPort(text: string): number | null {
  if (!/^\d{1,5}$/.test(text.trim())) return null;
  const port = Number(text);
  return port <= 65_535 ? port : null;
}

export function isRemoteName(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$/.test(text.trim());
}

export function isKey(text: string): boolean {
  return /^[\x21-\x7e]{1,512}$/.test(text);
}

/** Whether a key sent there could be read on its way. */
export function isPlainAndFar(baseUrl: string): boolean {
  const address = baseUrl.trim();
  const url = URL.canParse(address)
    ? new URL(address)
    : URL.canParse(`http://${address}`)
      ? new URL(`http://${address}`)
      : null;
  return url !== null && url.protocol === 'http:' && !isLoopback(url.hostname);
}
