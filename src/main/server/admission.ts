import type { IncomingMessage } from 'node:http';
import type { OriginKind } from './exchange.ts';
import { hostName, isWildcardHost, normalOrigin, urlHost } from './hosts.ts';
import type { ServerOptions } from './options.ts';
import type { Refusal } from './replies.ts';

/** Two headers where one is allowed: two readers could disagree on which counts. */
const several = Symbol('several');

export type Admission =
  | { readonly kind: 'refuse'; readonly refusal: Refusal }
  | { readonly kind: 'preflight'; readonly origin: string }
  | { readonly kind: 'pass'; readonly origin: OriginKind; readonly corsOrigin: string | null };

export type AdmissionOptions = Pick<ServerOptions, 'allowedHosts' | 'corsOrigins'> & {
  /** What the server listens on at this moment. */
  readonly host: () => string;
  /** Addresses of this computer: with a server that listens on all of them, each is a name of it. */
  readonly ownAddresses: () => readonly string[];
};

/** Judges a request by its head alone, so that a foreign page cannot make the server read or compute anything. */
export function createAdmission(options: AdmissionOptions) {
  const fixed = new Set(['localhost', '127.0.0.1', '::1', ...options.allowedHosts].map((host) => urlHost(host)));
  // A page that rebinds its name to us still sends that name: addresses are never such names.
  const isOurs = (name: string) =>
    fixed.has(name) ||
    name === urlHost(options.host()) ||
    (isWildcardHost(options.host()) && options.ownAddresses().some((address) => urlHost(address) === name));
  const origins = new Set(options.corsOrigins.map(normalOrigin));
  // Sandboxed frames and local files of anybody's all share the origin `null`.
  origins.delete('null');

  return function admit(incoming: IncomingMessage): Admission {
    const headers = incoming.headersDistinct;
    const host = only(headers['host']);
    const name = typeof host === 'string' ? hostName(host) : null;
    if (typeof host !== 'string' || name === null || !isOurs(name)) return refuseHost(name);
    // An absolute target would override the Host header that was just checked.
    if (!incoming.url?.startsWith('/')) return refused(400, 'invalid_target', 'The request target must be a path.');

    const origin = only(headers['origin']);
    const site = only(headers['sec-fetch-site']);
    if (origin === several || site === several) return refuseOrigin();
    if (origin !== null) {
      if (origin.toLowerCase() === `http://${host.toLowerCase()}`) return pass('ours');
      if (!origins.has(origin)) return refuseOrigin();
      return incoming.method === 'OPTIONS' ? { kind: 'preflight', origin } : pass('listed', origin);
    }
    if (site?.toLowerCase() !== 'cross-site') return pass('none');
    return isNavigation(incoming) ? pass('navigation') : refuseOrigin();
  };
}

/** A link to our page followed from another page (a web terminal, say): harmless, and only `page` routes accept it. */
function isNavigation(incoming: IncomingMessage): boolean {
  return (
    incoming.method === 'GET' &&
    incoming.headers['sec-fetch-mode'] === 'navigate' &&
    incoming.headers['sec-fetch-dest'] === 'document'
  );
}

function only(values: readonly string[] | undefined): string | null | typeof several {
  if (values === undefined || values.length === 0) return null;
  return values.length === 1 ? (values[0] ?? null) : several;
}

function pass(origin: OriginKind, corsOrigin: string | null = null): Admission {
  return { kind: 'pass', origin, corsOrigin };
}

function refused(status: number, code: string, message: string): Admission {
  return { kind: 'refuse', refusal: { status, code, message } };
}

function refuseHost(name: string | null): Admission {
  const what = name === null ? 'a missing or malformed host name' : `the host name "${name}"`;
  return refused(403, 'forbidden_host', `This server does not answer to ${what}. --allowed-host NAME allows one.`);
}

function refuseOrigin(): Admission {
  return refused(
    403,
    'forbidden_origin',
    'This server does not answer to that web page. --cors-origin ORIGIN allows one.',
  );
}
