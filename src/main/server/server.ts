import { getRequestListener } from '@hono/node-server';
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Emitter, ownAddresses } from '../base/index.ts';
import { fail, ok, type Result } from '../contract/index.ts';
import { createAdmission } from './admission.ts';
import type { Exchange, OriginKind } from './exchange.ts';
import { Exchanges } from './exchanges.ts';
import { isLoopbackHost, reachableHost } from './hosts.ts';
import { Listeners, type Listening } from './listeners.ts';
import { defaultLimits, type Server, type ServerDeps, type ServerLimits } from './options.ts';
import type { PageAddresses } from './page-addresses.ts';
import { PageRights } from './page-rights.ts';
import { sendRefusal } from './replies.ts';
import { areaOfPath, createRouter, maySend, type Route } from './router.ts';
import { answerRoutes } from './routes/answers.ts';
import { controlRoutes } from './routes/control.ts';
import { countTokensRoutes } from './routes/count-tokens.ts';
import { embeddingsRoutes } from './routes/embeddings.ts';
import { healthRoutes } from './routes/health.ts';
import { metricsRoutes } from './routes/metrics.ts';
import { modelRoutes } from './routes/models.ts';
import { openApiRoutes } from './routes/openapi.ts';
import { pageHandler, securityHeaders } from './routes/page.ts';
import { statusRoutes } from './routes/status.ts';
import { uiRoutes } from './routes/ui.ts';

/** How long a refused request may go on sending its body, so that its sender gets to read why. */
const discardMs = 500;
const closeGraceMs = 200;

/** What can change while the server runs. */
type Live = { apiKey: string | null; answering: boolean };

/** Builds the HTTP server: the page, the contract's transport and the API. Nothing listens before `start` or `open`. */
export function createServer(deps: ServerDeps): Server {
  const { options, logger } = deps;
  const limits: ServerLimits = { ...defaultLimits, ...deps.limits };
  const random = deps.random ?? randomBytes;
  const rights = new PageRights(deps.now ?? (() => performance.now()), random, limits.ticketMs);
  const exchanges = new Exchanges(logger, deps.onExchange ?? (() => undefined));
  const live: Live = { apiKey: options.apiKey, answering: true };
  const moves = new Emitter<void>();
  const pages: PageAddresses = {
    current: () => listeners.current,
    linkAt: (origin) => `${origin}/#t=${rights.issueTicket()}`,
    onMoved: (listener) => moves.on(listener),
  };
  const handle = createHandler({ deps, limits, random, rights, exchanges, live, pages });
  const listeners = new Listeners(handle, exchanges, logger);
  let closing: Promise<void> = Promise.resolve();

  const open = async (host: string, port: number): Promise<Result<{ url: string; port: number }>> => {
    if (!isLoopbackHost(host) && live.apiKey === null) return keyRequired(host);
    if (live.apiKey !== null && !isUsableKey(live.apiKey)) return keyUnusable();
    const opened = await listeners.open(host, port, () => moves.emit());
    if (!opened.ok) return opened;
    const url = urlOf(opened.data);
    logger.info('Server listens', { url });
    return ok({ url, port: opened.data.port });
  };
  return {
    open,
    start: () => open(options.host, options.port),
    setAnswering(answering) {
      live.answering = answering;
      if (!answering) exchanges.endApi();
    },
    setApiKey: (key) => void (live.apiKey = key),
    createLink() {
      if (listeners.current === null) throw new Error('createLink needs a started server');
      return pages.linkAt(urlOf(listeners.current));
    },
    close(): Promise<void> {
      if (listeners.current === null) return closing;
      const closed = listeners.close();
      closing = exchanges.closeAll(closeGraceMs).then(() => closed);
      return closing;
    },
  };
}

function urlOf({ host, port }: Listening): string {
  return `http://${reachableHost(host)}:${port}`;
}

type HandlerParts = {
  readonly deps: ServerDeps;
  readonly limits: ServerLimits;
  readonly random: (bytes: number) => Uint8Array;
  readonly rights: PageRights;
  readonly exchanges: Exchanges;
  readonly live: Live;
  readonly pages: PageAddresses;
};

function createRoutes(parts: HandlerParts): readonly Route[] {
  const { deps, limits, random, rights, exchanges, live, pages } = parts;
  const { options, logger, dispatcher, models, completions, ladder } = deps;
  const answerDeps = { models, completions, limits, logger, random };
  return [
    ...healthRoutes(options.version, () => live.answering),
    ...uiRoutes({
      dispatcher,
      rights,
      limits,
      pages,
      ownerToken: options.ownerToken,
      secondStart: options.secondStart,
    }),
    ...modelRoutes(models, Date.now()),
    ...statusRoutes(models, ladder, options.version),
    ...metricsRoutes({ models, ladder, counters: exchanges.counters, version: options.version }),
    ...openApiRoutes(options.version),
    ...answerRoutes(answerDeps),
    ...embeddingsRoutes(answerDeps),
    ...countTokensRoutes(answerDeps),
    ...controlRoutes({ models, limits, host: () => pages.current()?.host ?? options.host }),
  ];
}

function createHandler(parts: HandlerParts): (incoming: IncomingMessage, outgoing: ServerResponse) => void {
  const { deps, limits, rights, exchanges, live, pages } = parts;
  const { options, logger } = deps;
  const app = createRouter(createRoutes(parts), {
    rights,
    apiKey: () => live.apiKey,
    answering: () => live.answering,
    bodyBytes: limits.bodyBytes,
    logger,
    page: pageHandler(options.rendererFolder),
  });
  const host = () => pages.current()?.host ?? options.host;
  const admit = createAdmission({ ...options, host, ownAddresses });
  const current = new WeakMap<ServerResponse, Exchange>();
  const listener = getRequestListener(
    (request, env) => {
      const { incoming, outgoing } = env as { incoming: IncomingMessage; outgoing: ServerResponse };
      const exchange = current.get(outgoing);
      if (exchange === undefined) throw new Error('A request without an exchange');
      return app.fetch(request, { incoming, outgoing, exchange });
    },
    {
      overrideGlobalObjects: false,
      errorHandler: () => new Response('This request cannot be understood.\n', { status: 400 }),
    },
  );
  const pass = (incoming: IncomingMessage, outgoing: ServerResponse, origin: OriginKind) => {
    const exchange = exchanges.begin(incoming, outgoing, origin);
    current.set(outgoing, exchange);
    void listener(incoming, outgoing);
    // Its route has been found by now, or it has none.
    exchanges.announce(exchange);
  };

  return (incoming, outgoing) => {
    for (const [name, value] of Object.entries(securityHeaders)) outgoing.setHeader(name, value);
    const admission = admit(incoming);
    switch (admission.kind) {
      case 'refuse':
        exchanges.begin(incoming, outgoing, 'none').route = '(refused)';
        sendRefusal(outgoing, areaOfPath(incoming.url ?? ''), admission.refusal);
        return discardBody(incoming);
      case 'preflight':
        exchanges.begin(incoming, outgoing, 'listed').route = '(preflight)';
        answerPreflight(incoming, outgoing, admission.origin);
        return discardBody(incoming);
      case 'pass':
        if (admission.corsOrigin !== null) allowOrigin(outgoing, admission.corsOrigin);
        pass(incoming, outgoing, admission.origin);
    }
  };
}

function answerPreflight(incoming: IncomingMessage, outgoing: ServerResponse, origin: string): void {
  const area = areaOfPath(incoming.url ?? '');
  if (!maySend(area)) {
    const message = 'This address does not answer to other web pages.';
    return sendRefusal(outgoing, area, { status: 403, code: 'forbidden_origin', message });
  }
  allowOrigin(outgoing, origin);
  outgoing.setHeader('access-control-allow-methods', 'GET, POST');
  // The origin is listed, so it may send what its client library sends; OpenAI's adds a dozen of its own.
  const wanted = incoming.headers['access-control-request-headers'] ?? 'authorization, content-type';
  outgoing.setHeader('access-control-allow-headers', wanted);
  outgoing.setHeader('access-control-max-age', '600');
  if (incoming.headers['access-control-request-private-network'] === 'true') {
    outgoing.setHeader('access-control-allow-private-network', 'true');
  }
  outgoing.writeHead(204).end();
}

function allowOrigin(outgoing: ServerResponse, origin: string): void {
  outgoing.setHeader('access-control-allow-origin', origin);
  outgoing.setHeader('vary', 'Origin');
}

/** Throws the body away as it comes, for a moment; closing at once would reset the reply out of the sender's hands. */
function discardBody(incoming: IncomingMessage): void {
  incoming.on('error', () => undefined);
  incoming.resume();
  if (incoming.complete) return;
  const timer = setTimeout(() => incoming.socket.destroy(), discardMs);
  timer.unref();
  incoming.once('end', () => clearTimeout(timer));
  incoming.once('close', () => clearTimeout(timer));
}

function keyRequired(host: string): Result<never> {
  return fail(
    'api_key_required',
    `Listening on ${JSON.stringify(host)} lets other computers in, so an API key is required.`,
    'Set one with --api-key or DORMOUSE_API_KEY, or use --host 127.0.0.1.',
  );
}

/** Whether a key can be sent in a header, as it stands: visible ASCII, spaces only inside. */
function isUsableKey(key: string): boolean {
  return /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(key);
}

function keyUnusable(): Result<never> {
  return fail(
    'invalid_input',
    'The API key cannot be sent as it stands: it may hold ASCII letters, digits and signs only, and no line end.',
    'Choose another one with --api-key or DORMOUSE_API_KEY; a file read with $(cat FILE) comes without its line end.',
  );
}
