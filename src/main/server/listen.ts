import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { fail, ok, type Result } from '../contract/index.ts';
import { listenHost, reachableHost } from './hosts.ts';

const probeMs = 1000;
const probeBytes = 4096;

/** Makes `server` listen. @returns the port it got, or why it got none and what to do about it. */
export async function listen(server: http.Server, host: string, port: number): Promise<Result<number>> {
  const error = await new Promise<NodeJS.ErrnoException | null>((resolve) => {
    const onError = (cause: NodeJS.ErrnoException) => resolve(cause);
    server.once('error', onError);
    server.listen({ host: listenHost(host), port }, () => {
      server.off('error', onError);
      resolve(null);
    });
  });
  return error === null ? ok((server.address() as AddressInfo).port) : explain(error, host, port);
}

async function explain(error: NodeJS.ErrnoException, host: string, port: number): Promise<Result<never>> {
  const another = 'Choose another one with --port; --port 0 takes any that is free.';
  switch (error.code) {
    case 'EADDRINUSE':
      return portTaken(host, port, another);
    case 'EACCES': {
      const why = port < 1024 ? 'ports below 1024 belong to the system' : 'the system has reserved it';
      return fail('port_forbidden', `Port ${port} may not be used: ${why}.`, another);
    }
    case 'EADDRNOTAVAIL':
    case 'EAFNOSUPPORT':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EINVAL':
      return fail(
        'address_invalid',
        `This computer has no address ${JSON.stringify(host)} to listen on.`,
        'Use --host 127.0.0.1 for this computer alone, or one of its own addresses.',
      );
    case undefined:
    default:
      return fail('internal', `The server could not listen on port ${port} (${error.code ?? error.name}).`, another);
  }
}

async function portTaken(host: string, port: number, another: string): Promise<Result<never>> {
  const address = `${reachableHost(host)}:${port}`;
  const version = await dormouseVersion(host, port);
  if (version === null) return fail('port_taken', `Port ${port} is used by another program.`, another);
  return fail(
    'port_taken',
    `Another Dormouse (version ${version}) is running at http://${address}.`,
    `Use the link that it printed, or end it first. ${another}`,
  );
}

/** Asks whoever holds the port whether it is one of us. Anything else than a plain yes is a no. */
function dormouseVersion(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const give = (version: string | null) => {
      clearTimeout(timer);
      request.destroy();
      resolve(version);
    };
    const hostname = listenHost(reachableHost(host));
    const request = http.get({ hostname, port, path: '/health', agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (piece: string) => {
        text += piece;
        if (text.length > probeBytes) give(null);
      });
      response.on('end', () => give(readVersion(text)));
      response.on('error', () => give(null));
    });
    const timer = setTimeout(() => give(null), probeMs);
    request.on('error', () => give(null));
  });
}

function readVersion(text: string): string | null {
  try {
    const health: unknown = JSON.parse(text);
    if (typeof health !== 'object' || health === null || !('service' in health) || !('version' in health)) return null;
    const { service, version } = health;
    return service === 'dormouse' && typeof version === 'string' && /^[\w.+-]{1,40}$/.test(version) ? version : null;
  } catch {
    return null;
  }
}
