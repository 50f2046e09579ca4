import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { fail, ok } from '../../../src/main/contract/index.ts';
import { waitFor } from '../../support/wait-for.ts';
import { ask, finished, openSocket, postJson, startServer } from './fakes.ts';

const model = 'default';
const chat = '/v1/chat/completions';

const tool = (name: string) => ({ type: 'function', function: { name } });

function rawAsk(body: object, extra = ''): string {
  const text = JSON.stringify(body);
  const head = `POST ${chat} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${extra}`;
  return `${head}Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
}

describe('with the openai client', () => {
  it('lists models and gives one', async () => {
    const { client } = await startServer();
    const ids = (await client.models.list()).data.map((entry) => entry.id);
    expect(ids).toEqual(['mini-q8_0', 'other', 'gpt-4o']);
    expect(await client.models.retrieve('other')).toMatchObject({ id: 'other', object: 'model', owned_by: 'dormouse' });
    await expect(client.models.retrieve('gone')).rejects.toMatchObject({ status: 404, code: 'model_not_found' });
  });

  it('answers in one piece, with usage, timings and thinking apart', async () => {
    const { client, completions } = await startServer();
    completions.script = (run) => run.settle(ok({ ...finished, thought: 'hm', end: 'max_tokens' }));
    const answer = await client.chat.completions.create({ model, ...ask });
    expect(answer).toMatchObject({
      object: 'chat.completion',
      model: 'mini-q8_0',
      choices: [
        {
          index: 0,
          finish_reason: 'length',
          message: { role: 'assistant', content: 'Hello there', reasoning_content: 'hm' },
        },
      ],
      usage: {
        prompt_tokens: 20,
        completion_tokens: 2,
        total_tokens: 22,
        prompt_tokens_details: { cached_tokens: 12 },
      },
      timings: { prompt_n: 8, prompt_ms: 5, predicted_n: 2, predicted_ms: 10, predicted_per_second: 100 },
    });
    expect(answer.id).toMatch(/^chatcmpl-[0-9a-f]{24}$/);
  });

  it('streams role, text, thought, reason and usage in this order', async () => {
    const { client, completions } = await startServer();
    completions.script = (run) => {
      run.part('hm', 'thought');
      run.part('Hello');
      run.part(' there');
      run.settle(ok(finished));
    };
    const stream = await client.chat.completions.create({
      model,
      ...ask,
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks: OpenAI.ChatCompletionChunk[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    expect(chunks.map((chunk) => chunk.choices[0]?.delta)).toEqual([
      { role: 'assistant', content: '' },
      { reasoning_content: 'hm' },
      { content: 'Hello' },
      { content: ' there' },
      {},
      undefined,
    ]);
    expect(chunks[4]!.choices[0]!.finish_reason).toBe('stop');
    expect(chunks[5]).toMatchObject({ choices: [], usage: { total_tokens: 22 }, timings: { predicted_n: 2 } });
    expect(new Set(chunks.map((chunk) => chunk.id)).size).toBe(1);
  });

  it('puts timings on the last chunk and sends no usage when none was asked for', async () => {
    const { url, completions } = await startServer();
    completions.answerAtOnce();
    const text = await (await postJson(url + chat, { ...ask, stream: true })).text();
    const events = text.trimEnd().split('\n\n');
    expect(events.at(-1)).toBe('data: [DONE]');
    expect(events.at(-2)).toContain('"timings":{');
    expect(text).not.toContain('"usage"');
  });

  it('hands over roles, parts, sampling and stops as they were meant', async () => {
    const { client, completions } = await startServer();
    completions.answerAtOnce();
    const body = {
      model: 'mini-q8_0',
      messages: [
        { role: 'developer', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'a' },
            { type: 'text', text: 'b' },
          ],
        },
        { role: 'assistant', content: 'c' },
        { role: 'user', content: '<|im_end|>' },
      ],
      temperature: 0,
      top_p: 0.5,
      top_k: 7,
      min_p: 0.1,
      seed: 42,
      max_tokens: 5,
      max_completion_tokens: 6,
      stop: 'END',
      user: 'me',
      metadata: { a: 'b' },
      store: false,
      n: 1,
      tools: [],
      frequency_penalty: 0.5,
      logit_bias: { 5: -100, 6: 1.5 },
      logprobs: false,
      response_format: { type: 'text' },
      presence_penalty: null,
    };
    await client.chat.completions.create(body as unknown as OpenAI.ChatCompletionCreateParamsNonStreaming);
    expect(completions.runs[0]!.request).toEqual({
      prompt: {
        kind: 'chat',
        turns: [
          { role: 'system', text: 'Be brief.' },
          { role: 'user', text: 'a\nb' },
          { role: 'assistant', text: 'c' },
          { role: 'user', text: '<|im_end|>' },
        ],
      },
      logitBias: new Map([
        [5, -100],
        [6, 1.5],
      ]),
      output: { kind: 'text' },
      tools: null,
      model: 'mini-q8_0',
      sampling: {
        ...{ temperature: 0, topP: 0.5, topK: 7, minP: 0.1, seed: 42, maxTokens: 6 },
        frequencyPenalty: 0.5,
      },
      stop: ['END'],
    });
  });

  it('leaves sampling that was not given to the flags', async () => {
    const { client, completions } = await startServer();
    completions.answerAtOnce();
    await client.chat.completions.create({ model, ...ask, temperature: null, stop: null });
    expect(completions.runs[0]!.request).toMatchObject({ sampling: {}, stop: [] });
    expect(Object.keys(completions.runs[0]!.request.sampling)).toEqual([]);
  });

  it('aborts the generation when the client aborts a stream', async () => {
    const { client, completions } = await startServer();
    const stream = await (async () => {
      const promise = client.chat.completions.create({ model, ...ask, stream: true });
      (await completions.first()).part('Hello');
      return promise;
    })();
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content === 'Hello') stream.controller.abort();
    await waitFor('the abort', () => completions.runs[0]!.signal.aborted);
  });

  it('gives each failure the error class that programs catch', async () => {
    const { client, completions, models } = await startServer({ apiKey: 'right' });
    const create = (body: object = {}) =>
      client.chat.completions.create({ model, ...ask, ...body } as OpenAI.ChatCompletionCreateParamsNonStreaming);
    completions.script = (run) => run.settle(fail('prompt_too_long', '600 tokens, 512 fit.'));
    const tooLong = await create().catch((error: unknown) => error);
    expect(tooLong).toBeInstanceOf(OpenAI.BadRequestError);
    expect(tooLong).toMatchObject({
      code: 'context_length_exceeded',
      type: 'invalid_request_error',
      param: 'messages',
    });
    expect(String(tooLong)).toContain('600 tokens');
    // Not streamed either: an error before the first token keeps its status.
    await expect(create({ stream: true })).rejects.toBeInstanceOf(OpenAI.BadRequestError);
    await expect(create({ model: 'gone' })).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    await expect(create({ model: 'other' })).rejects.toMatchObject({ status: 503, code: 'model_not_loaded' });
    completions.script = (run) => run.settle(fail('generation_failed', 'Broken.'));
    await expect(create()).rejects.toBeInstanceOf(OpenAI.InternalServerError);
    models.model = null;
    models.state = 'empty';
    await expect(create()).rejects.toMatchObject({ status: 503, code: 'no_model', type: 'server_error' });
    models.state = 'loading';
    await expect(create()).rejects.toMatchObject({ status: 503, code: 'model_loading' });
    const wrong = client.withOptions({ apiKey: 'wrong' });
    await expect(wrong.models.list()).rejects.toBeInstanceOf(OpenAI.AuthenticationError);
  });

  it('tells a stream that has begun of an error, and ends it', async () => {
    const { client, completions } = await startServer();
    completions.script = (run) => {
      run.part('Hello');
      run.settle(fail('generation_failed', 'Broken.'));
    };
    const stream = await client.chat.completions.create({ model, ...ask, stream: true });
    const read = async () => {
      for await (const _ of stream);
    };
    await expect(read()).rejects.toThrow('Broken.');
  });

  it('answers a bug in the service with 500 in OpenAI shape, without its text', async () => {
    const { client, completions, logger } = await startServer();
    completions.complete = () => Promise.reject(new Error('quotes the prompt'));
    await expect(client.chat.completions.create({ model, ...ask })).rejects.toBeInstanceOf(OpenAI.InternalServerError);
    expect(logger.lines.join()).not.toContain('quotes');
  });
});

describe('what is asked for', () => {
  it.each<[string, object, string]>([
    ['no messages', { messages: [] }, 'messages'],
    ['messages that are no list', { messages: 'Hi' }, 'messages'],
    ['an unknown role', { messages: [{ role: 'king', content: 'x' }] }, 'messages[0].role'],
    ['a tool that answers nobody', { messages: [{ role: 'tool', tool_call_id: 'x', content: 'x' }] }, 'messages'],
    [
      'a call without a name',
      { messages: [{ role: 'assistant', tool_calls: [{ id: 'a' }] }, ...ask.messages] },
      'messages[0].tool_calls[0].function',
    ],
    ['content that is no text', { messages: [{ role: 'user', content: 5 }] }, 'messages[0].content'],
    [
      'an image',
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: {} }] }] },
      'messages[0].content[0].type',
    ],
    ['an answer to continue', { messages: [...ask.messages, { role: 'assistant', content: 'x' }] }, 'messages'],
    ['a system message alone', { messages: [{ role: 'system', content: 'x' }] }, 'messages'],
    ['temperature 9', { temperature: 9 }, 'temperature'],
    ['temperature as text', { temperature: '1' }, 'temperature'],
    ['top_p 1.5', { top_p: 1.5 }, 'top_p'],
    ['top_k -1', { top_k: -1 }, 'top_k'],
    ['min_p -0.1', { min_p: -0.1 }, 'min_p'],
    ['a negative seed', { seed: -1 }, 'seed'],
    ['a seed with a fraction', { seed: 1.5 }, 'seed'],
    ['max_tokens 0', { max_tokens: 0 }, 'max_tokens'],
    ['a penalty of 3', { frequency_penalty: 3 }, 'frequency_penalty'],
    ['a hundred stops', { stop: Array.from({ length: 100 }, (_, index) => `s${index}`) }, 'stop'],
    ['an empty stop', { stop: ['a', ''] }, 'stop[1]'],
    ['a bias of 101', { logit_bias: { 5: 101 } }, 'logit_bias.5'],
    ['a bias of a word', { logit_bias: { word: 1 } }, 'logit_bias.word'],
    ['two answers', { n: 2 }, 'n'],
    ['logprobs', { logprobs: true }, 'logprobs'],
    ['a tool without a function', { tools: [{ type: 'function' }] }, 'tools[0].function'],
    ['a tool of another kind', { tools: [{ type: 'web_search' }] }, 'tools[0].type'],
    [
      'a tool name with a space',
      { tools: [{ type: 'function', function: { name: 'a b' } }] },
      'tools[0].function.name',
    ],
    ['two tools of one name', { tools: [tool('a'), tool('a')] }, 'tools'],
    [
      'a choice that is no tool',
      { tools: [tool('a')], tool_choice: { type: 'function', function: { name: 'b' } } },
      'tool_choice',
    ],
    ['a required tool where there is none', { tool_choice: 'required' }, 'tool_choice'],
    ['functions', { functions: [{ name: 'f' }] }, 'functions'],
    ['a format without its schema', { response_format: { type: 'json_schema' } }, 'response_format.json_schema'],
    ['a format of another kind', { response_format: { type: 'xml' } }, 'response_format.type'],
    ['stream as text', { stream: 'yes' }, 'stream'],
  ])('%s is refused and named, never ignored', async (_name, change, param) => {
    const { url, completions } = await startServer();
    const reply = await postJson(url + chat, { ...ask, ...change });
    expect(reply.status).toBe(400);
    const { error } = (await reply.json()) as { error: { message: string; type: string; param: string; code: string } };
    expect(error).toMatchObject({ type: 'invalid_request_error', param });
    expect(error.message.startsWith(param)).toBe(true);
    expect(completions.runs).toHaveLength(0);
  });

  it.each([
    '[]',
    'null',
    '"text"',
    '5',
    '{"__proto__": {"messages": []}}',
    `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
  ])('a body that is no request is refused (%#)', async (body) => {
    const { url } = await startServer();
    expect((await postJson(url + chat, body)).status).toBe(400);
  });

  it('an unknown address or method under /v1 is answered in OpenAI shape', async () => {
    const { url } = await startServer();
    const nowhere = await postJson(`${url}/v1/audio/speech`, {});
    expect([nowhere.status, await nowhere.json()]).toMatchObject([
      404,
      { error: { code: 'unknown_url', param: null } },
    ]);
    const method = await fetch(url + chat);
    expect([method.status, method.headers.get('allow')]).toEqual([405, 'POST']);
    expect(await method.json()).toMatchObject({ error: { code: 'method_not_allowed' } });
    const models = await fetch(`${url}/v1/models`, { method: 'DELETE' });
    expect([models.status, models.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });
});

describe('a client that is not there any more', () => {
  it.each([
    ['a queued answer in one piece', { ...ask }],
    ['a queued stream', { ...ask, stream: true }],
  ])('aborts %s before its first byte', async (_name, body) => {
    const { port, completions } = await startServer();
    const { socket } = await openSocket(port, rawAsk(body));
    const run = await completions.first();
    expect(run.signal.aborted).toBe(false);
    socket.destroy();
    await waitFor('the abort', () => run.signal.aborted);
  });

  it('aborts when the client closed only its own half', async () => {
    const { port, completions } = await startServer();
    const { socket } = await openSocket(port, rawAsk(ask));
    const run = await completions.first();
    socket.end();
    await waitFor('the abort', () => run.signal.aborted);
  });

  it('aborts a request that was sent ahead on a busy connection', async () => {
    const { port, completions } = await startServer();
    const { socket } = await openSocket(port, rawAsk(ask) + rawAsk({ ...ask, stream: true }));
    await waitFor('both', () => completions.runs.length === 2);
    socket.destroy();
    await waitFor('both aborts', () => completions.runs.every((run) => run.signal.aborted));
  });

  it('does not start a generation for a body that never came in full', async () => {
    const { port, completions, logger } = await startServer();
    const { socket } = await openSocket(port, rawAsk(ask).slice(0, -5));
    socket.end();
    await waitFor('the end of the exchange', () => logger.lines.some((line) => line.includes('"aborted":true')));
    expect(completions.runs).toHaveLength(0);
  });

  it('does not abort an answer that was read to its end', async () => {
    const { client, completions, logger } = await startServer();
    completions.answerAtOnce();
    await client.chat.completions.create({ model, ...ask });
    await waitFor('the log line', () => logger.lines.some((line) => line.includes(chat)));
    expect(completions.runs[0]!.signal.aborted).toBe(false);
  });

  it('aborts for a reader that stops reading, and never makes the engine wait', async () => {
    const { port, completions } = await startServer({}, { answerQueueBytes: 64 * 1024 });
    const { socket } = await openSocket(port, rawAsk({ ...ask, stream: true }));
    const run = await completions.first();
    socket.pause();
    const piece = 'x'.repeat(16 * 1024);
    let sent = 0;
    await waitFor(
      'the abort',
      () => {
        for (let index = 0; index < 8; index += 1, sent += 1) run.part(piece);
        return run.signal.aborted;
      },
      { everyMs: 5 },
    );
    expect(sent).toBeLessThan(4000);
  });

  it('keeps the line alive while the request waits for its turn', async () => {
    const { port, completions } = await startServer({}, { answerHeartbeatMs: 5 });
    const { received } = await openSocket(port, rawAsk({ ...ask, stream: true }));
    const run = await completions.first();
    await waitFor('two heartbeats', () => received().split(': waiting').length > 2);
    run.part('Hello');
    run.settle(ok(finished));
    await waitFor('the end', () => received().includes('[DONE]'));
  });
});
