import http from 'node:http';
import { mulberry32 } from './mulberry32.ts';

/** What a chat, a response or a message is asked to answer with, whatever the model would say: a number. */
const schemaOf = (number: number) => ({
  type: 'object',
  properties: { n: { const: number } },
  required: ['n'],
  additionalProperties: false,
});

const messages = [{ role: 'user', content: 'Tell your number.' }];

function echoRequest(number: number, kind: number): { readonly path: string; readonly body: object } {
  const schema = schemaOf(number);
  switch (kind % 4) {
    case 0:
      return {
        path: '/v1/chat/completions',
        body: { messages, response_format: { type: 'json_schema', json_schema: { name: 'n', schema } } },
      };
    case 1:
      return {
        path: '/v1/responses',
        body: { input: 'Hi', text: { format: { type: 'json_schema', name: 'n', schema } } },
      };
    case 2: {
      const tools = [{ name: 'tell', input_schema: schema }];
      return {
        path: '/v1/messages',
        body: { messages, max_tokens: 200, tools, tool_choice: { type: 'tool', name: 'tell' } },
      };
    }
    default: {
      const tools = [{ type: 'function', function: { name: 'tell', parameters: schema } }];
      return {
        path: '/v1/chat/completions',
        body: { messages, tools, tool_choice: 'required', parallel_tool_calls: false },
      };
    }
  }
}

type Reply = { readonly status: number; readonly text: string };

function post(url: string, path: string, body: object | string, cutAfterMs?: number): Promise<Reply | 'cut'> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json' };
    const request = http.request(url + path, { method: 'POST', headers, agent: false }, (reply) => {
      let text = '';
      reply.setEncoding('utf8').on('data', (piece: string) => (text += piece));
      reply.on('end', () => resolve({ status: reply.statusCode ?? 0, text }));
      reply.on('error', (error) => (cutAfterMs === undefined ? reject(error) : resolve('cut')));
    });
    request.on('error', (error) => (cutAfterMs === undefined ? reject(error) : resolve('cut')));
    request.end(typeof body === 'string' ? body : JSON.stringify(body));
    if (cutAfterMs === undefined) return;
    const timer = setTimeout(() => {
      request.destroy();
      resolve('cut');
    }, cutAfterMs);
    request.once('close', () => clearTimeout(timer));
  });
}

/** @returns the number that came back, as text: asked for in one of four ways, the answer held to it by grammar. */
export async function echo(url: string, number: number, kind: number): Promise<string> {
  const { path, body } = echoRequest(number, kind);
  const reply = await post(url, path, body);
  if (reply === 'cut') return 'cut';
  // In a call the arguments are JSON inside JSON.
  return (
    /\\?"n\\?"\s*:\s*(\d+)/.exec(reply.status === 200 ? reply.text.replaceAll('\\n', '') : '')?.[1] ?? `${reply.status}`
  );
}

export type RandomClients = {
  readonly url: string;
  readonly seed: number;
  readonly atOnce: number;
  /** Ends after so many requests, or at this time by `Date.now()`. */
  readonly requests?: number;
  readonly until?: number;
};

export type RandomReport = {
  readonly requests: number;
  readonly echoed: number;
  readonly busy: number;
  readonly wrong: string[];
};

/** Clients that ask, go away in every stage, and send what is wrong, in an order that only the seed decides. */
export async function runRandomClients({ url, seed, atOnce, requests, until }: RandomClients): Promise<RandomReport> {
  const random = mulberry32(seed);
  const report = { requests: 0, echoed: 0, busy: 0, wrong: [] as string[] };
  const more = () =>
    report.requests < (requests ?? Number.POSITIVE_INFINITY) && Date.now() < (until ?? Number.POSITIVE_INFINITY);
  const client = async () => {
    while (more()) {
      const number = report.requests++;
      const wrong = await oneRequest(url, number, random, report);
      if (wrong !== null) report.wrong.push(`${number}: ${wrong}`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, client));
  return report;
}

/** @returns what went wrong; null: nothing. */
async function oneRequest(
  url: string,
  number: number,
  random: () => number,
  report: { echoed: number; busy: number },
): Promise<string | null> {
  const kind = Math.floor(random() * 4);
  const choice = random();
  if (choice < 0.5) {
    const told = await echo(url, number, kind);
    if (told === '429' && number !== 429) report.busy += 1;
    else if (told !== String(number)) return `expected its number, got ${told}`;
    else report.echoed += 1;
    return null;
  }
  if (choice < 0.75) {
    const { path, body } = echoRequest(number, kind);
    await post(url, path, { ...body, stream: random() < 0.5 }, random() * 60);
    return null;
  }
  const bad = badRequests[Math.floor(random() * badRequests.length)] ?? ['/v1/chat/completions', '{'];
  const reply = await post(url, bad[0], bad[1]);
  return reply !== 'cut' && reply.status === 400 ? null : `expected 400, got ${reply === 'cut' ? reply : reply.status}`;
}

const badRequests: readonly (readonly [string, object | string])[] = [
  ['/v1/chat/completions', '{"messages": ['],
  ['/v1/chat/completions', '[]'],
  ['/v1/chat/completions', { messages, temperature: -1 }],
  ['/v1/chat/completions', { messages: [{ role: 'user', content: 'word '.repeat(5000) }] }],
  ['/v1/completions', { prompt: ['a', 'b'] }],
  ['/v1/responses', { input: 'Hi', store: true }],
  ['/v1/messages', { messages }],
  ['/v1/embeddings', { input: '' }],
];
