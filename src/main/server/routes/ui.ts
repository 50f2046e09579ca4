import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import {
  eventsPath,
  linkPath,
  ownerHeader,
  fail,
  ok,
  requestPath,
  sessionPath,
  remotePrefix,
  type AppEvent,
  type Dispatcher,
  type RequestName,
  type SecondStart,
} from '../../contract/index.ts';
import { readJson } from '../body.ts';
import { EventStream } from '../event-stream.ts';
import type { Handler } from '../exchange.ts';
import { isLoopbackHost, isLoopbackPeer, reachableHost } from '../hosts.ts';
import { pageMove, type PageAddresses } from '../page-addresses.ts';
import type { ServerLimits } from '../options.ts';
import type { PageRights } from '../page-rights.ts';
import { alreadySent, jsonReply, refuse } from '../replies.ts';
import type { Route } from '../router.ts';
import { sameSecret } from '../secrets.ts';

export type UiDeps = {
  readonly dispatcher: Dispatcher;
  readonly rights: PageRights;
  readonly limits: ServerLimits;
  readonly pages: PageAddresses;
  readonly ownerToken: () => string | null;
  readonly secondStart: ((wish: SecondStart) => boolean) | undefined;
};

/** What our own page calls: trading its ticket, requests of the contract, and their events. */
export function uiRoutes(deps: UiDeps): readonly Route[] {
  return [
    { method: 'POST', path: sessionPath, area: 'ui', open: true, handler: openSession(deps) },
    { method: 'POST', path: linkPath, area: 'ui', open: true, handler: giveLink(deps) },
    { method: 'POST', path: `${requestPath}/:name`, area: 'ui', handler: runRequest(deps) },
    { method: 'GET', path: eventsPath, area: 'ui', handler: streamEvents(deps) },
  ];
}

const ticketSchema = z.object({ ticket: z.string().min(1).max(200) }).strict();

function openSession({ rights, limits }: UiDeps): Handler {
  return async (context) => {
    const body = await readJson(context, 'ui', Math.min(limits.bodyBytes, 4096));
    if (!body.ok) return body.response;
    const parsed = ticketSchema.safeParse(body.data);
    if (!parsed.success) return jsonReply(fail('invalid_input', 'Expected {"ticket": "..."}.'), 400);
    const redeemed = rights.redeem(parsed.data.ticket);
    switch (redeemed.kind) {
      case 'secret':
        return jsonReply(ok({ secret: redeemed.secret }));
      case 'invalid':
        return jsonReply(ticketInvalid(), 401);
      case 'throttled': {
        const response = jsonReply(ticketInvalid(), 429);
        response.headers.set('retry-after', String(Math.ceil(redeemed.retryAfterMs / 1000)));
        return response;
      }
    }
  };
}

const secondStartSchema = z.object({
  model: z.string().min(1).max(4096).nullable().default(null),
  show: z.boolean().default(false),
});

/** For a second start of the same user: it shows the window or page of the running instance, and may name a model. */
function giveLink({ ownerToken, pages, secondStart, limits }: UiDeps): Handler {
  return async (context) => {
    const sent = context.req.header(ownerHeader);
    const token = ownerToken();
    if (token !== null && sent !== undefined && sameSecret(sent, token)) {
      const body = await readJson(context, 'ui', Math.min(limits.bodyBytes, 16_384));
      if (!body.ok) return body.response;
      const wish = secondStartSchema.safeParse(body.data);
      if (!wish.success) return jsonReply(fail('invalid_input', 'Expected {"model": "...", "show": true}.'), 400);
      const shown = secondStart?.(wish.data) ?? false;
      // The one who asks came by an address that is known to work, if only to this computer.
      return jsonReply(ok({ link: pages.linkAt(ownOrigin(pages)), shown }));
    }
    return jsonReply(fail('forbidden', 'Only the owner of this Dormouse can ask for a link.'), 403);
  };
}

function ticketInvalid() {
  const hint = 'Each link works once, for a minute. Open the newest link that Dormouse printed, or start it again.';
  return fail('ticket_invalid', 'This link has been used or is too old.', hint);
}

function runRequest({ dispatcher, limits, pages }: UiDeps): Handler {
  return async (context) => {
    const body = await readJson(context, 'ui', limits.bodyBytes);
    if (!body.ok) return body.response;
    const name = context.req.param('name') ?? '';
    const host = pages.current()?.host ?? '127.0.0.1';
    const farAway = !isLoopbackHost(host) && !isLoopbackPeer(context.env.incoming.socket.remoteAddress);
    if (farAway && takesHostPath(name, body.data)) {
      const message = 'Files of this computer can only be opened from this computer.';
      return jsonReply(fail('forbidden', message), 403);
    }
    if (farAway && onlyNear.has(name)) {
      const message = 'Keys and addresses of the server can only be changed from the computer that Dormouse runs on.';
      return jsonReply(fail('forbidden', message), 403);
    }
    return jsonReply(await dispatcher.dispatch(name, body.data));
  };
}

/** What a page on another computer may not do: its way here is not encrypted, and it could lock its owner out. */
const onlyNear: ReadonlySet<string> = new Set<RequestName>([
  'server.configure',
  'server.key',
  'server.setKey',
  'server.generateKey',
  'remotes.add',
  'remotes.change',
]);

/** Requests that make the server open a path of the caller's choice. */
function takesHostPath(name: string, input: unknown): boolean {
  if (!['engine.load', 'chat.send', 'conversation.configure'].includes(name)) return false;
  const model = modelIn(input) ?? (name === 'chat.send' ? modelIn(optionsIn(input)) : undefined);
  if (name === 'engine.load') return model !== 'builtin';
  if (typeof model === 'string' && model.startsWith(remotePrefix)) return false;
  return model !== undefined && model !== null && model !== 'builtin';
}

function modelIn(input: unknown): unknown {
  return typeof input === 'object' && input !== null && 'model' in input ? input.model : undefined;
}

function optionsIn(input: unknown): unknown {
  return typeof input === 'object' && input !== null && 'options' in input ? input.options : undefined;
}

function streamEvents({ dispatcher, limits, pages }: UiDeps): Handler {
  return async (context) => {
    if (context.env.incoming.method === 'HEAD') {
      return refuse('ui', { status: 405, code: 'method_not_allowed', message: 'Use GET.', headers: { allow: 'GET' } });
    }
    const { incoming, outgoing, exchange } = context.env;
    const stream = new EventStream(outgoing, {
      queueBytes: limits.eventQueueBytes,
      heartbeatMs: limits.eventHeartbeatMs,
    });
    let sent = 0;
    const unsubscribe = dispatcher.subscribe((event: AppEvent) => {
      if (stream.send(JSON.stringify(event))) sent += 1;
      else unsubscribe();
    });
    stream.start();
    // The page may fetch state once it sees this: nothing that happens later can be missed.
    stream.comment('open');
    const left = leftBehind(pages, incoming, (event) => stream.send(JSON.stringify(event)));
    await Promise.race([aborted(exchange.gone), left.ended]);
    left.close();
    unsubscribe();
    stream.end();
    exchange.fields['events'] = sent;
    return alreadySent();
  };
}

/** Follows moves of the server: tells the page where it is now, and ends when the page's way here is closed. */
function leftBehind(pages: PageAddresses, incoming: IncomingMessage, send: (event: AppEvent) => void) {
  let close = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    close = pages.onMoved(() => {
      const now = pages.current();
      const move = now === null ? ({ kind: 'lost' } as const) : pageMove(incoming, now);
      if (move.kind === 'go') {
        send({ type: 'server.moved', link: pages.linkAt(move.origin), forwarded: move.forwarded });
      }
      // Also one that stays: it comes back by the new socket.
      resolve();
    });
  });
  return { ended, close: () => close() };
}

function ownOrigin(pages: PageAddresses): string {
  const now = pages.current();
  if (now === null) throw new Error('a link needs a server that listens');
  return `http://${reachableHost(now.host)}:${now.port}`;
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
