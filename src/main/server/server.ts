import { getRequestListener } from '@hono/node-server';
import { randomBytes } from 'node:crypto';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import { fail, ok, type Result } from '../contract/index.ts';
import { createAdmission } from './admission.ts';
import type { Exchange } from './exchange.ts';
import { Exchanges } from './exchanges.ts';
import { isLoopbackHost, reachableHost } from './hosts.ts';
import { listen } from './listen.ts';
import { defaultLimits, type Server, type ServerDeps, type ServerLimits } from './options.ts';
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

/** How long a client may take to send the head of a request, and all of it. */
const headMs = 15_000;
const requestMs = 120_000;
/** How long a refused request may go on sending its body, so that its sender gets to read why. */
const discardMs = 500;
const closeGraceMs = 200;

/** Builds the HTTP server: the page, the contract's transport and the API. Nothing listens before `start`. */
export function createServer(deps: ServerDeps): Server {
  const { options, logger } = deps;
  const limits: ServerLimits = { ...defaultLimits, ...deps.limits };
  const random = deps.random ?? randomBytes;
  const rights = new PageRights(deps.now ?? (() => performance.now()), random, limits.ticketMs);
  const exchanges = new Exchanges(logger);
  const server = http.createServer({ requireHostHeader: false, headersTimeout: headMs, requestTimeout: requestMs });
  let url: string | null = null;
  const createLink = () => {
    if (url === null) throw new Error('createLink needs a started server');
    return `${url}/#t=${rights.issueTicket()}`;
  };
  const handle = createHandler(deps, limits, random, rights, exchanges, createLink);
  server.on('connection', (socket) => exchanges.addSocket(socket));
  server.on('request', handle);
  // Without this node would invite the body of a request that is about to be refused.
  server.on('checkContinue', handle);
  let closing: Promise<void> = Promise.resolve();

  return {
    async start(): Promise<Result<{ url: string; port: number }>> {
      if (!isLoopbackHost(options.host) && options.apiKey === null) return keyRequired(options.host);
      if (options.apiKey !== null && !isUsableKey(options.apiKey)) return keyUnusable();
      const port = await listen(server, options.host, options.port);
      if (!port.ok) return port;
      server.on('error', (error: NodeJS.ErrnoException) => logger.error('Server error', { code: error.code }));
      url = `http://${reachableHost(options.host)}:${port.data}`;
      logger.info('Server listens', { url });
      return ok({ url, port: port.data });
    },
    createLink,
    close(): Promise<void> {
      if (!server.listening) return closing;
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
      closing = exchanges.closeAll(closeGraceMs).then(() => closed);
      return closing;
    },
  };
}

function createHandler(
  deps: ServerDeps,
  limits: ServerLimits,
  random: (bytes: number) => Uint8Array,
  rights: PageRights,
  exchanges: Exchanges,
  createLink: () => string,
): (incoming: IncomingMessage, outgoing: ServerResponse) => void {
  const { options, logger } = deps;
  const routes = createRoutes(deps, limits, random, rights, exchanges, createLink);
  const page = pageHandler(options.rendererFolder);
  const app = createRouter(routes, { rights, apiKey: options.apiKey, bodyBytes: limits.bodyBytes, logger, page });
  const admit = createAdmission(options);
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
        current.set(outgoing, exchanges.begin(incoming, outgoing, admission.origin));
        void listener(incoming, outgoing);
    }
  };
}

function createRoutes(
  { options, logger, dispatcher, models, completions, ladder }: ServerDeps,
  limits: ServerLimits,
  random: (bytes: number) => Uint8Array,
  rights: PageRights,
  exchanges: Exchanges,
  createLink: () => string,
): readonly Route[] {
  const answerDeps = { models, completions, limits, logger, random };
  return [
    ...healthRoutes(options.version),
    ...uiRoutes({
      dispatcher,
      rights,
      limits,
      host: options.host,
      ownerToken: options.ownerToken,
      createLink,
      secondStart: options.secondStart,
    }),
    ...modelRoutes(models, Date.now()),
    ...statusRoutes(models, ladder, options.version),
    ...metricsRoutes({ models, ladder, counters: exchanges.counters, version: options.version }),
    ...openApiRoutes(options.version),
    ...answerRoutes(answerDeps),
    ...embeddingsRoutes(answerDeps),
    ...countTokensRoutes(answerDeps),
    ...controlRoutes({ models, limits, host: options.host }),
  ];
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
