import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';

/** Addresses of this computer that others in its network may reach, IPv4 first. Link-local ones need a zone and are left out. */
export function ownAddresses(interfaces: typeof networkInterfaces = networkInterfaces): readonly string[] {
  const all = Object.values(interfaces()).flatMap((each) => each ?? []);
  const reachable = all.filter(({ internal, address }) => !internal && !/^fe80:/i.test(address));
  const ordered = [...reachable].sort((a, b) => Number(a.family === 'IPv6') - Number(b.family === 'IPv6'));
  return [...new Set(ordered.map(({ address }) => address.toLowerCase()))];
}

/** What "this computer" means to the person at the screen: inside WSL and behind SSH it is not the one that runs this. */
export function placeOf(environment: NodeJS.ProcessEnv, kernel: () => string = readKernel): 'local' | 'wsl' | 'ssh' {
  if (environment['SSH_CONNECTION']) return 'ssh';
  return /microsoft/i.test(kernel()) ? 'wsl' : 'local';
}

function readKernel(): string {
  try {
    return readFileSync('/proc/version', 'utf8');
  } catch {
    return '';
  }
}
