import { mkdirSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import { join } from 'node:path';
import OpenAI from 'openai';
import { onTestFinished } from 'vitest';
import { Emitter, type LogFields, type Logger } from '../../../src/main/base/index.ts';
import {
  ok,
  type AppError,
  type AppEvent,
  type Dispatcher,
  type EngineStatus,
  type ExchangeEntry,
  type ModelInfo,
  type Result,
  type StreamPart,
} from '../../../src/main/contract/index.ts';
import { createServer, type Server, type ServerLimits, type ServerOptions } from '../../../src/main/server/index.ts';
import type {
  Completion,
  CompletionRequest,
  CompletionService,
  AnswerPart,
  Embeddings,
  ModelService,
} from '../../../src/main/services/interfaces.ts';
import { ModelSwitch } from '../../../src/main/services/model-switch.ts';
import { FakeLadder } from '../../support/services.ts';
import { temporaryFolder } from '../../support/temp-folder.ts';
import { waitFor } from '../../support/wait-for.ts';

export class FakeDispatcher implements Dispatcher {
  readonly calls: { name: string; input: unknown }[] = [];
  readonly events = new Emitter<AppEvent>();
  reply: (name: string) => Result<unknown> = () => ok({ answered: true });

  async dispatch(name: string, input: unknown): Promise<Result<unknown>> {
    this.calls.push({ name, input });
    return this.reply(name);
  }

  subscribe(listener: (event: AppEvent) => void): () => void {
    return this.events.on(listener);
  }

  seenChanged(): void {}
}

const info: ModelInfo = {
  id: 'mini-q8_0',
  name: 'Mini',
  path: '/models/mini-q8_0.gguf',
  builtin: true,
  architecture: 'qwen3moe',
  quantization: 'Q8_0',
  sizeBytes: 1,
  layers: 4,
  experts: 8,
  expertsUsed: 2,
  contextTrained: 512,
  contextSize: 512,
  sequences: 1,
  chatFormat: 'ChatML',
  thinks: false,
};

export class FakeModels implements ModelService {
  model: ModelInfo | null = info;
  state: EngineStatus['state'] = 'ready';

  status(): EngineStatus {
    const nothing = {
      loadProgress: null,
      prefill: null,
      tokensPerSecond: null,
      waiting: 0,
      error: null,
      pool: null,
      sleep: null,
      gpu: null,
      placement: null,
    };
    return { state: this.state, since: 0, model: this.model, ...nothing };
  }

  lastTimings() {
    return null;
  }

  poolStats() {
    return null;
  }

  asleep: ModelInfo | null = null;

  hibernated() {
    return this.asleep;
  }

  pathOf(model: string): string {
    return model;
  }

  known() {
    return [
      { id: 'mini-q8_0', path: '/models/mini-q8_0.gguf', loaded: this.model !== null },
      { id: 'other', path: '/models/other.gguf', loaded: false },
    ];
  }

  readonly named = new Map([['gpt-4o', 'mini-q8_0']]);
  maySwitch = false;
  readonly switched = new ModelSwitch(this);
  readonly loads: string[] = [];
  /** Lets a test hold a load, or make it fail. */
  loading: (model: string) => Promise<Result<ModelInfo>> = (model) => {
    const known = this.known().find(({ id, path }) => id === model || path === model);
    return Promise.resolve(ok({ ...info, id: known?.id ?? model, path: model }));
  };

  aliases() {
    return this.named;
  }

  resolve(name: string): string | null {
    return this.known().find(({ id }) => id === name)?.id ?? this.named.get(name) ?? null;
  }

  hold(id: string | null, signal: AbortSignal) {
    return this.maySwitch ? this.switched.hold(id, signal) : Promise.resolve(ok(() => undefined));
  }

  async load(model: string): Promise<Result<ModelInfo>> {
    this.loads.push(model);
    const loaded = await this.loading(model);
    if (loaded.ok) this.model = loaded.data;
    return loaded;
  }

  cancelLoad(): boolean {
    return false;
  }

  async unload(): Promise<Result<void>> {
    this.model = null;
    return ok();
  }

  onStatus(): () => void {
    return () => undefined;
  }
}

export const finished: Completion = {
  text: 'Hello there',
  thought: '',
  toolCalls: [],
  end: 'end',
  timings: {
    promptTokens: 20,
    promptTokensEvaluated: 8,
    turnsDropped: 0,
    prefillMs: 5,
    timeToFirstTokenMs: 6,
    queuedMs: 0,
    predictedTokens: 2,
    predictedMs: 10,
    tokensPerSecond: 100,
  },
};

export type Run = {
  readonly request: CompletionRequest;
  readonly signal: AbortSignal;
  readonly part: (text: string, kind?: StreamPart['kind']) => void;
  /** A piece of a call's arguments. */
  readonly call: (index: number, name: string, text: string) => void;
  readonly settle: (result: Result<Completion>) => void;
};

/** Completions that the test steps by hand; with `script` set they answer by themselves. */
export class FakeCompletions implements CompletionService {
  readonly runs: Run[] = [];
  script: ((run: Run) => void) | null = null;

  complete(
    request: CompletionRequest,
    onPart: (part: AnswerPart) => void,
    signal: AbortSignal,
  ): Promise<Result<Completion>> {
    return new Promise((settle) => {
      const part: Run['part'] = (text, kind = 'text') => onPart({ kind, text });
      const call: Run['call'] = (index, name, text) =>
        onPart({ kind: 'tool_call', index, id: `call_${index}`, name, text });
      const run: Run = { request, signal, settle, part, call };
      signal.addEventListener('abort', () => settle(ok({ ...finished, end: 'stopped' })));
      this.runs.push(run);
      this.script?.(run);
    });
  }

  readonly counted: Parameters<CompletionService['countTokens']>[0][] = [];
  readonly embedded: Parameters<CompletionService['embed']>[0][] = [];
  /** What counting and embedding fail with; null: they answer. */
  failing: AppError | null = null;

  async countTokens(request: Parameters<CompletionService['countTokens']>[0]): Promise<Result<number>> {
    this.counted.push(request);
    return this.failing === null ? ok(20) : { ok: false, error: this.failing };
  }

  async embed(request: Parameters<CompletionService['embed']>[0]): Promise<Result<Embeddings>> {
    this.embedded.push(request);
    const vectors = request.inputs.map((_, index) => [0.5, 1 - index]);
    return this.failing === null ? ok({ vectors, promptTokens: 2 }) : { ok: false, error: this.failing };
  }

  retryAfterSeconds(): number {
    return 3;
  }

  answerAtOnce(): void {
    this.script = (run) => {
      run.part('Hello');
      run.part(' there');
      run.settle(ok(finished));
    };
  }

  async first(): Promise<Run> {
    return waitFor('a completion', () => this.runs[0], { everyMs: 2 });
  }
}

export class MemoryLogger implements Logger {
  readonly lines: string[] = [];
  readonly error = (message: string, fields?: LogFields) => this.#add('error', message, fields);
  readonly warn = (message: string, fields?: LogFields) => this.#add('warn', message, fields);
  readonly info = (message: string, fields?: LogFields) => this.#add('info', message, fields);
  readonly debug = (message: string, fields?: LogFields) => this.#add('debug', message, fields);

  #add(level: string, message: string, fields: LogFields = {}): void {
    this.lines.push(JSON.stringify({ level, message, ...fields }));
  }
}

export type Setup = {
  readonly server: Server;
  readonly url: string;
  readonly port: number;
  readonly dispatcher: FakeDispatcher;
  readonly models: FakeModels;
  readonly completions: FakeCompletions;
  readonly ladder: FakeLadder;
  readonly logger: MemoryLogger;
  readonly clock: { now: number };
  readonly rendererFolder: string;
  readonly client: OpenAI;
};

/** Builds everything but does not listen. */
export function buildServer(
  options: Partial<ServerOptions> = {},
  limits: Partial<ServerLimits> = {},
  onExchange: (entry: ExchangeEntry) => void = () => undefined,
) {
  const parts = {
    dispatcher: new FakeDispatcher(),
    models: new FakeModels(),
    completions: new FakeCompletions(),
    ladder: new FakeLadder(),
    logger: new MemoryLogger(),
    clock: { now: 0 },
    rendererFolder: options.rendererFolder ?? temporaryFolder(),
  };
  const server = createServer({
    ...parts,
    options: {
      host: '127.0.0.1',
      port: 0,
      apiKey: null,
      ownerToken: () => null,
      corsOrigins: [],
      allowedHosts: [],
      version: '1.2.3',
      ...options,
      rendererFolder: parts.rendererFolder,
    },
    limits,
    onExchange,
    now: () => parts.clock.now,
  });
  onTestFinished(() => server.close());
  return { ...parts, server };
}

export async function startServer(
  options: Partial<ServerOptions> = {},
  limits: Partial<ServerLimits> = {},
  onExchange?: (entry: ExchangeEntry) => void,
): Promise<Setup> {
  const built = buildServer(options, limits, onExchange);
  const started = await built.server.start();
  if (!started.ok) throw new Error(started.error.message);
  const { url, port } = started.data;
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: options.apiKey ?? 'none', maxRetries: 0 });
  return { ...built, url, port, client };
}

/** Writes a page as a build leaves it. */
export function writePage(folder: string): void {
  mkdirSync(join(folder, 'assets'), { recursive: true });
  writeFileSync(join(folder, 'index.html'), '<!doctype html><title>Dormouse</title>');
  writeFileSync(join(folder, 'icon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
  writeFileSync(join(folder, 'assets', 'index-B3xY9aQz.js'), 'console.log(1)');
}

export function ticketOf(link: string): string {
  return link.slice(link.indexOf('#t=') + 3);
}

export async function openSession({ server, url }: Pick<Setup, 'server' | 'url'>): Promise<string> {
  const reply = await postJson(`${url}/ui/session`, { ticket: ticketOf(server.createLink()) });
  const body = (await reply.json()) as { data: { secret: string } };
  return body.data.secret;
}

export function postJson(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

export type RawReply = { readonly status: number; readonly headers: http.IncomingHttpHeaders; readonly text: string };

/** A request with exactly these headers; `fetch` would not let a test set Host, Origin or Sec-Fetch-Site. */
export function rawRequest(
  port: number,
  request: { method?: string; path: string; headers?: Record<string, string>; body?: string; endless?: boolean },
): Promise<RawReply> {
  return new Promise((resolve, reject) => {
    const { method = 'GET', path, headers = {}, body, endless = false } = request;
    const outgoing = http.request({ host: '127.0.0.1', port, method, path, headers, agent: false }, (reply) => {
      let text = '';
      reply.setEncoding('utf8');
      reply.on('data', (piece: string) => (text += piece));
      reply.on('end', () => {
        resolve({ status: reply.statusCode ?? 0, headers: reply.headers, text });
        outgoing.destroy();
      });
      reply.on('error', reject);
    });
    outgoing.on('error', reject);
    if (endless) outgoing.flushHeaders();
    else outgoing.end(body);
  });
}

/** A bare socket, with everything that came back so far. */
export async function openSocket(port: number, text = ''): Promise<{ socket: net.Socket; received: () => string }> {
  const socket = net.connect({ host: '127.0.0.1', port });
  let received = '';
  socket.setEncoding('utf8');
  socket.on('data', (piece: string) => (received += piece));
  socket.on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  await new Promise((resolve) => socket.once('connect', resolve));
  if (text !== '') socket.write(text);
  return { socket, received: () => received };
}

export const ask = { messages: [{ role: 'user' as const, content: 'Hi' }] };
