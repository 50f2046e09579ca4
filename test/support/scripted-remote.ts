import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export type Asked = {
  readonly method: string;
  readonly path: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: Record<string, unknown>;
  /** Settles when the client has closed its connection. */
  readonly gone: Promise<void>;
};

type Answer = (reply: ServerResponse, asked: Asked) => void;

/** An OpenAI-compatible server on a real socket that does what the test says, faults included. */
export class ScriptedRemote {
  readonly asked: Asked[] = [];
  models: readonly string[] = ['big', 'org/small'];
  answer: Answer = (reply) => chunks(reply, ['Good ', 'evening.']);
  /** null: the list of `models`. */
  list: Answer | null = null;
  readonly #server = http.createServer((incoming, reply) => void this.#handle(incoming, reply));

  static async start(): Promise<ScriptedRemote> {
    const remote = new ScriptedRemote();
    await new Promise<void>((resolve) => remote.#server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      remote.#server.closeAllConnections();
      remote.#server.close();
    });
    return remote;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async #handle(incoming: IncomingMessage, reply: ServerResponse): Promise<void> {
    const gone = new Promise<void>((resolve) => reply.once('close', resolve));
    let text = '';
    for await (const piece of incoming.setEncoding('utf8')) text += piece as string;
    const { method = '', url: path = '', headers } = incoming;
    const body = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
    const asked: Asked = { method, path, headers, body, gone };
    this.asked.push(asked);
    const list: Answer = (to) => json(to, { object: 'list', data: this.models.map((id) => ({ id, object: 'model' })) });
    if (path.endsWith('/models')) (this.list ?? list)(reply, asked);
    else this.answer(reply, asked);
  }
}

export function json(reply: ServerResponse, body: unknown, status = 200, headers: Record<string, string> = {}): void {
  reply.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

export function beginStream(reply: ServerResponse): void {
  reply.writeHead(200, { 'content-type': 'text/event-stream' });
}

/** One event of a stream. */
export function send(reply: ServerResponse, delta: object, finish: string | null = null, more: object = {}): void {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  reply.write(`data: ${JSON.stringify({ object: 'chat.completion.chunk', choices, ...more })}\n\n`);
}

/** A whole stream of text. */
export function chunks(reply: ServerResponse, texts: readonly string[], usage: object | null = null): void {
  beginStream(reply);
  for (const content of texts) send(reply, { content });
  send(reply, {}, 'stop');
  if (usage !== null) reply.write(`data: ${JSON.stringify({ choices: [], usage })}\n\n`);
  reply.end('data: [DONE]\n\n');
}
