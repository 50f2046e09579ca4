import http from 'node:http';
import { expect, it } from 'vitest';
import { fail, ok } from '../../../src/main/contract/index.ts';
import { finished, startServer, type Run } from './fakes.ts';

/** The number that the prompt asks to be told back. */
function numberOf({ request: { prompt } }: Run): string {
  const text = prompt.kind === 'text' ? prompt.text : (prompt.turns.at(-1)?.text ?? '');
  return /\d+/.exec(text)?.[0] ?? '';
}

const paths = ['/v1/chat/completions', '/v1/completions', '/v1/responses', '/v1/messages'];

function bodyFor(path: string, index: number, stream: boolean): string {
  const text = `Say ${index}.`;
  const messages = [{ role: 'user', content: text }];
  if (path === '/v1/completions') return JSON.stringify({ prompt: text, stream });
  if (path === '/v1/responses') return JSON.stringify({ input: text, stream });
  return JSON.stringify({ messages, max_tokens: 5, stream });
}

function ask(port: number, agent: http.Agent, index: number): Promise<{ status: number; text: string }> {
  const path = paths[index % paths.length]!;
  const stream = index % 8 >= 4;
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json' };
    const request = http.request({ host: '127.0.0.1', port, agent, method: 'POST', path, headers }, (reply) => {
      let text = '';
      reply.setEncoding('utf8').on('data', (piece: string) => (text += piece));
      reply.on('end', () => resolve({ status: reply.statusCode ?? 0, text }));
      reply.on('error', reject);
    });
    request.on('error', reject);
    request.end(bodyFor(path, index, stream));
  });
}

/** The texts of an answer in whatever dialect, in one. */
function told(text: string): string {
  return [...text.matchAll(/<(\d+)>/g)].map(([, number]) => number).join();
}

function answer(run: Run): void {
  const text = `<${numberOf(run)}>`;
  run.part(text);
  run.settle(ok({ ...finished, text }));
}

it('1,000 requests one after another on a kept connection, each with its own number (bug: an answer lost or mixed up)', async () => {
  const { port, completions } = await startServer();
  completions.script = answer;
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  for (let index = 0; index < 1000; index += 1) {
    const { status, text } = await ask(port, agent, index);
    expect([index, status]).toEqual([index, 200]);
    expect(new Set(told(text).split(','))).toEqual(new Set([String(index)]));
  }
  agent.destroy();
  expect(completions.runs).toHaveLength(1000);
  expect(completions.runs.every(({ signal }) => !signal.aborted)).toBe(true);
});

it('200 at once, answered in another order, some refused: nothing but 200 and 429 (bug: one queue for all replies)', async () => {
  const { port, completions } = await startServer();
  const waiting: Run[] = [];
  completions.script = (run) => {
    waiting.push(run);
    if (waiting.length < 200) return;
    for (const each of waiting.toReversed()) {
      if (Number(numberOf(each)) % 10 === 9) each.settle(fail('queue_full', 'Too many wait.'));
      else answer(each);
    }
  };
  const agent = new http.Agent({ keepAlive: false });
  const replies = await Promise.all(Array.from({ length: 200 }, (_, index) => ask(port, agent, index)));
  for (const [index, { status, text }] of replies.entries()) {
    expect([index, status]).toEqual([index, index % 10 === 9 ? 429 : 200]);
    if (status === 200) expect(new Set(told(text).split(','))).toEqual(new Set([String(index)]));
  }
});
