import { Hono } from 'hono';
import type { Logger } from '../base/index.ts';
import { sessionHeader } from '../contract/index.ts';
import { checkBodyHead } from './body.ts';
import type { Handler, RouteContext, ServerEnv } from './exchange.ts';
import { isLoopbackPeer } from './hosts.ts';
import type { PageRights } from './page-rights.ts';
import { refuse, type Area, type Refusal } from './replies.ts';
import { sameSecret } from './secrets.ts';

export type Route = {
  readonly method: 'GET' | 'POST';
  /** Hono's pattern; also what the log shows. */
  readonly path: string;
  readonly area: Area;
  /** For `ui` routes that give the right instead of needing it. */
  readonly open?: true;
  readonly handler: Handler;
};

export type RouterDeps = {
  readonly rights: PageRights;
  readonly apiKey: () => string | null;
  /** Whether programs are answered now. */
  readonly answering: () => boolean;
  readonly bodyBytes: number;
  readonly logger: Logger;
  /** Answers GET requests that no route takes. */
  readonly page: Handler;
};

/**
 * Rights are checked at the matched route, never by looking at the path beforehand: two readings of one path
 * (dots, percent signs, doubled slashes) would be a way around them.
 */
export function createRouter(routes: readonly Route[], deps: RouterDeps): Hono<ServerEnv> {
  const app = new Hono<ServerEnv>();
  for (const route of routes) app.on(route.method, route.path, guarded(route, deps));
  for (const path of new Set(routes.map((route) => route.path))) {
    const same = routes.filter((route) => route.path === path);
    app.all(path, wrongMethod(path, same, deps));
  }
  const nowhere: Handler = () => unknownRoute('api');
  const noMessages: Handler = () => unknownRoute('messages');
  app.all('/v1/messages/*', guarded({ path: '/v1/messages/*', area: 'messages', handler: noMessages }, deps));
  app.all('/v1', guarded({ path: '/v1/*', area: 'api', handler: nowhere }, deps));
  app.all('/v1/*', guarded({ path: '/v1/*', area: 'api', handler: nowhere }, deps));
  app.all('/ui/*', guarded({ path: '/ui/*', area: 'ui', open: true, handler: () => unknownRoute('ui') }, deps));
  app.get('*', guarded({ path: '/*', area: 'page', handler: deps.page }, deps));
  app.all('*', guarded({ path: '/*', area: 'page', handler: () => refuse('page', methodRefusal('GET, HEAD')) }, deps));
  app.onError((error, context) => {
    deps.logger.error('A route failed', { route: context.env.exchange.route, error: errorForLog(error) });
    const message = 'Something went wrong inside Dormouse; its log says what.';
    return refuse(areaOfPath(context.req.path), { status: 500, code: 'internal_error', message });
  });
  return app;
}

/** Only for the shape of an error: what a path may do is decided at its route. */
export function areaOfPath(path: string): Area {
  if (/^\/v1\/messages(\/|\?|$)/.test(path)) return 'messages';
  if (/^\/v1\/(un)?load(\?|$)/.test(path)) return 'control';
  if (/^\/(v1|metrics|openapi\.json)(\/|\?|$)/.test(path)) return 'api';
  if (/^\/ui\//.test(path)) return 'ui';
  return /^\/health(\?|$)/.test(path) ? 'health' : 'page';
}

type Guarded = Pick<Route, 'path' | 'area' | 'open' | 'handler'>;

function guarded(route: Guarded, deps: RouterDeps): Handler {
  return (context) => {
    context.env.exchange.route = route.path;
    const refusal =
      forbidden(context, route.area) ??
      missingRight(context, route, deps) ??
      switchedOff(route.area, deps) ??
      badBodyHead(context, deps);
    return refusal === null ? route.handler(context) : refuse(route.area, refusal);
  };
}

/** A listed origin may call the API, and a link followed from another page may open ours. Neither may do more. */
function forbidden(context: RouteContext, area: Area): Refusal | null {
  const { origin } = context.env.exchange;
  if (origin === 'none' || origin === 'ours') return null;
  if (origin === 'navigation' ? area === 'page' : maySend(area)) return null;
  return { status: 403, code: 'forbidden_origin', message: 'This address does not answer to other web pages.' };
}

/** The API key and the page's secret are different rights: neither stands in for the other. */
function missingRight(context: RouteContext, route: Guarded, deps: RouterDeps): Refusal | null {
  switch (route.area) {
    case 'health':
    case 'page':
      return null;
    case 'ui':
      if (route.open === true || deps.rights.holds(context.req.header(sessionHeader))) return null;
      return {
        status: 401,
        code: 'session_required',
        message: 'This page has no right (any more). Open the newest link that Dormouse printed, or start it again.',
      };
    case 'control':
      if (deps.rights.holds(context.req.header(sessionHeader))) return null;
      return keyRefusal(context, deps.apiKey()) ?? farRefusal(context, deps.apiKey());
    case 'api':
    case 'messages':
      return keyRefusal(context, deps.apiKey());
  }
}

/** What a listed origin may call. Control is not among it: a page that may chat must not change what is loaded. */
export function maySend(area: Area): boolean {
  return area === 'api' || area === 'messages' || area === 'health';
}

function keyRefusal(context: RouteContext, apiKey: string | null): Refusal | null {
  if (apiKey === null) return null;
  const bearer = /^bearer +(\S.*?) *$/i.exec(context.req.header('authorization') ?? '')?.[1];
  // Anthropic's clients send the key under this name.
  const sent = bearer ?? context.req.header('x-api-key');
  if (sent !== undefined && sameSecret(sent, apiKey)) return null;
  const message = 'This server needs its API key, sent as "Authorization: Bearer KEY" or "x-api-key: KEY".';
  return { status: 401, code: 'invalid_api_key', message, headers: { 'www-authenticate': 'Bearer' } };
}

/** Without a key whoever is on this computer may control the server, and nobody else: behind a proxy that is not enough. */
function farRefusal(context: RouteContext, apiKey: string | null): Refusal | null {
  if (apiKey !== null || isLoopbackPeer(context.env.incoming.socket.remoteAddress)) return null;
  return {
    status: 403,
    code: 'forbidden',
    message: 'Without an API key only this computer may load and unload models.',
  };
}

function switchedOff(area: Area, deps: RouterDeps): Refusal | null {
  const forPrograms = area === 'api' || area === 'messages' || area === 'control';
  if (!forPrograms || deps.answering()) return null;
  const message = 'The server of this Dormouse is switched off. Its Server page switches it on.';
  return { status: 503, code: 'server_off', message };
}

function badBodyHead(context: RouteContext, deps: RouterDeps): Refusal | null {
  return context.req.method === 'POST' ? checkBodyHead(context.env.incoming, deps.bodyBytes) : null;
}

function wrongMethod(path: string, routes: readonly Route[], deps: RouterDeps): Handler {
  const area = routes[0]?.area ?? 'page';
  const allow = routes.map((route) => (route.method === 'GET' ? 'GET, HEAD' : route.method)).join(', ');
  return guarded({ path, area, open: true, handler: () => refuse(area, methodRefusal(allow)) }, { ...deps });
}

function methodRefusal(allow: string): Refusal {
  return { status: 405, code: 'method_not_allowed', message: `This address takes ${allow} only.`, headers: { allow } };
}

function unknownRoute(area: Area): Response {
  return refuse(area, { status: 404, code: 'unknown_url', message: 'There is nothing at this address.' });
}

/** Name and frames without the message, which may quote what somebody typed. */
function errorForLog(error: Error): string {
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return [error.name, ...frames.slice(0, 8).map((line) => line.trim())].join(' < ');
}
