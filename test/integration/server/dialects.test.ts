import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { fail, ok } from '../../../src/main/contract/index.ts';
import { waitFor } from '../../support/wait-for.ts';
import { ask, finished, openSocket, postJson, startServer, type Run, type Setup } from './fakes.ts';

const model = 'default';
const weather = { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } };

/** Thinks, speaks, then calls twice, arguments in pieces. */
function thinkSpeakCall(run: Run): void {
  run.part('hm', 'thought');
  run.part('Let me');
  run.part(' see');
  run.call(0, 'weather', '');
  run.call(0, 'weather', '{"city":');
  run.call(0, 'weather', '"Oslo"}');
  run.call(1, 'weather', '{"city":"Bergen"}');
  const call = (id: string, city: string) => ({ id, name: 'weather', arguments: `{"city":"${city}"}` });
  const toolCalls = [call('call_0', 'Oslo'), call('call_1', 'Bergen')];
  run.settle(ok({ ...finished, thought: 'hm', text: 'Let me see', toolCalls, end: 'tool_calls' }));
}

function anthropic({ url }: Pick<Setup, 'url'>, apiKey = 'none'): Anthropic {
  return new Anthropic({ baseURL: url, apiKey, maxRetries: 0 });
}

async function collect<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of stream) all.push(item);
  return all;
}

describe('chat completions', () => {
  const tools = [{ type: 'function' as const, function: weather }];

  it('streams calls with an index, their id once, and the openai client puts them together (bug: deltas that cannot be told apart)', async () => {
    const { client, completions } = await startServer();
    completions.script = thinkSpeakCall;
    const stream = client.chat.completions.stream({ model, ...ask, tools });
    const deltas: unknown[] = [];
    stream.on('chunk', (chunk) => deltas.push(...(chunk.choices[0]?.delta.tool_calls ?? [])));
    const final = await stream.finalChatCompletion();
    expect(deltas).toEqual([
      { index: 0, id: 'call_0', type: 'function', function: { name: 'weather', arguments: '' } },
      { index: 0, function: { arguments: '{"city":' } },
      { index: 0, function: { arguments: '"Oslo"}' } },
      { index: 1, id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Bergen"}' } },
    ]);
    expect(final.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        content: 'Let me see',
        tool_calls: [{ id: 'call_0' }, { function: { arguments: '{"city":"Bergen"}' } }],
      },
    });
  });

  it('hands over tools, choice, format and results of tools (bug: a result that the model never sees)', async () => {
    const { client, completions } = await startServer();
    completions.script = thinkSpeakCall;
    const first = await client.chat.completions.create({
      ...{ model, ...ask, tools, parallel_tool_calls: false },
      tool_choice: { type: 'function', function: { name: 'weather' } },
    });
    const message = first.choices[0]!.message;
    expect(message).toMatchObject({ reasoning_content: 'hm', content: 'Let me see' });
    const results = message.tool_calls!.map(({ id }) => ({ role: 'tool' as const, tool_call_id: id, content: 'rain' }));
    completions.answerAtOnce();
    await client.chat.completions.create({
      ...{ model, messages: [...ask.messages, message, ...results], tools, tool_choice: 'none' },
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object' } } },
    });
    expect(completions.runs[0]!.request.tools).toEqual({
      tools: [{ ...weather, description: null }],
      choice: { name: 'weather' },
      parallel: false,
    });
    const { prompt, output, tools: none } = completions.runs[1]!.request;
    expect([output, none]).toEqual([{ kind: 'json_schema', schema: { type: 'object' } }, null]);
    expect(prompt).toMatchObject({
      turns: [
        { role: 'user' },
        { role: 'assistant', text: 'Let me see', toolCalls: [{ id: 'call_0' }, { id: 'call_1' }] },
        { role: 'tool', callId: 'call_0', text: 'rain' },
        { role: 'tool', callId: 'call_1', text: 'rain' },
      ],
    });
  });

  it('leaves the choice among tools to the model by default, and knows JSON mode (bug: tools lost without tool_choice)', async () => {
    const { client, completions } = await startServer();
    completions.answerAtOnce();
    await client.chat.completions.create({ model, ...ask, tools, response_format: { type: 'json_object' } });
    await client.chat.completions.create({ model, ...ask, tools, tool_choice: 'required' });
    expect(completions.runs[0]!.request).toMatchObject({
      tools: { choice: 'auto', parallel: true },
      output: { kind: 'json' },
    });
    expect(completions.runs[1]!.request.tools).toMatchObject({ choice: 'required' });
  });
});

describe('text completions', () => {
  it('continues a text, whole and streamed (bug: a template around a bare prompt)', async () => {
    const { client, completions } = await startServer();
    completions.answerAtOnce();
    const whole = await client.completions.create({ model, prompt: 'Once', max_tokens: 5, stop: ['\n'] });
    expect(whole).toMatchObject({
      object: 'text_completion',
      choices: [{ index: 0, text: 'Hello there', finish_reason: 'stop', logprobs: null }],
      usage: { total_tokens: 22 },
    });
    expect(whole.id).toMatch(/^cmpl-/);
    const options = { stream: true as const, stream_options: { include_usage: true } };
    const chunks = await collect(await client.completions.create({ model, prompt: ['Once'], ...options }));
    expect(chunks.map((chunk) => chunk.choices[0]?.text)).toEqual(['Hello', ' there', '', undefined]);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: 2 } });
    expect(completions.runs[0]!.request).toMatchObject({
      ...{ prompt: { kind: 'text', text: 'Once' }, sampling: { maxTokens: 5 }, stop: ['\n'], tools: null },
    });
    expect(completions.runs[1]!.request.prompt).toEqual({ kind: 'text', text: 'Once' });
  });

  it.each([
    ['no prompt', {}, 'prompt'],
    ['an empty prompt', { prompt: '' }, 'prompt'],
    ['two prompts', { prompt: ['a', 'b'] }, 'prompt'],
    ['token ids', { prompt: [1, 2] }, 'prompt[0]'],
    ['best_of', { prompt: 'a', best_of: 3 }, 'best_of'],
    ['echo', { prompt: 'a', echo: true }, 'echo'],
    ['a suffix', { prompt: 'a', suffix: 'b' }, 'suffix'],
    ['logprobs', { prompt: 'a', logprobs: 2 }, 'logprobs'],
  ])('%s is refused by name (bug: an answer to another question)', async (_name, body, param) => {
    const { url, completions } = await startServer();
    const reply = await postJson(`${url}/v1/completions`, body);
    expect([reply.status, await reply.json()]).toMatchObject([400, { error: { param } }]);
    expect(completions.runs).toHaveLength(0);
  });
});

describe('embeddings', () => {
  it('gives floats and base64 of the same numbers, for texts and token lists (bug: base64 in the wrong byte order)', async () => {
    const { client, completions, url } = await startServer();
    // The client asks for base64 by itself and decodes it.
    const decoded = await client.embeddings.create({ model, input: ['a', 'b'] });
    expect(decoded.data.map(({ embedding }) => embedding)).toEqual([
      [0.5, 1],
      [0.5, 0],
    ]);
    const input = [
      [1, 2],
      [3, 4],
    ];
    const plain = await client.embeddings.create({ model, input, encoding_format: 'float' });
    expect(plain).toMatchObject({ object: 'list', model: 'mini-q8_0', usage: { prompt_tokens: 2, total_tokens: 2 } });
    expect(plain.data[1]).toEqual({ object: 'embedding', index: 1, embedding: [0.5, 0] });
    await client.embeddings.create({ model, input: [7, 8, 9] });
    await client.embeddings.create({ model, input: 'one' });
    expect(completions.embedded.map(({ inputs }) => inputs)).toEqual([['a', 'b'], input, [[7, 8, 9]], ['one']]);
    const raw = await postJson(`${url}/v1/embeddings`, { input: 'x', encoding_format: 'base64' });
    const { data } = (await raw.json()) as { data: { embedding: string }[] };
    expect(Buffer.from(data[0]!.embedding, 'base64').readFloatLE(0)).toBe(0.5);
  });

  it.each([
    ['nothing', {}, 'input'],
    ['an empty text', { input: '' }, 'input'],
    ['an empty list', { input: [] }, 'input'],
    ['a list with an empty text', { input: ['a', ''] }, 'input[1]'],
    ['a negative token', { input: [-1] }, 'input[0]'],
    ['fewer dimensions', { input: 'a', dimensions: 5 }, 'dimensions'],
    ['another format', { input: 'a', encoding_format: 'int8' }, 'encoding_format'],
  ])('%s is refused by name (bug: a vector of nothing)', async (_name, body, param) => {
    const { url, completions } = await startServer();
    const reply = await postJson(`${url}/v1/embeddings`, body);
    expect([reply.status, await reply.json()]).toMatchObject([400, { error: { param } }]);
    expect(completions.embedded).toHaveLength(0);
  });

  it('tells why a model makes none (bug: 500 for a wish that cannot be met)', async () => {
    const { client, completions } = await startServer();
    completions.failing = { code: 'embedding_unsupported', message: 'This model makes no embeddings.' };
    const error = await client.embeddings.create({ model, input: 'a' }).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(error).toMatchObject({ code: 'embedding_unsupported' });
  });
});

describe('responses', () => {
  it("streams OpenAI's sequence with gapless numbers (bug: a client that waits for an event that never comes)", async () => {
    const { client, completions } = await startServer();
    completions.script = thinkSpeakCall;
    const tools = [{ type: 'function' as const, strict: false, ...weather }];
    const events = await collect(await client.responses.create({ model, input: 'Hi', tools, stream: true }));
    expect(events.map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.reasoning_text.delta',
      'response.reasoning_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.output_item.added',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.done',
      'response.output_item.done',
      'response.output_item.added',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.done',
      'response.output_item.done',
      'response.completed',
    ]);
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index));
    const last = events.at(-1) as OpenAI.Responses.ResponseCompletedEvent;
    expect(last.response).toMatchObject({
      ...{ status: 'completed', store: false, previous_response_id: null, model: 'mini-q8_0' },
      output: [
        { type: 'reasoning', content: [{ type: 'reasoning_text', text: 'hm' }] },
        { type: 'message', content: [{ type: 'output_text', text: 'Let me see' }] },
        { type: 'function_call', call_id: 'call_0', name: 'weather', arguments: '{"city":"Oslo"}' },
        { type: 'function_call', call_id: 'call_1', arguments: '{"city":"Bergen"}' },
      ],
      usage: { input_tokens: 20, input_tokens_details: { cached_tokens: 12 }, output_tokens: 2, total_tokens: 22 },
    });
  });

  it('answers whole, and the stream helper of the client agrees with it (bug: two truths of one answer)', async () => {
    const { client, completions } = await startServer();
    completions.script = thinkSpeakCall;
    const whole = await client.responses.create({ model, input: 'Hi', metadata: { a: 'b' } });
    const streamed = await client.responses.stream({ model, input: 'Hi', metadata: { a: 'b' } }).finalResponse();
    const shape = (response: OpenAI.Responses.Response) =>
      response.output.map((item) => ({ ...item, id: '', parsed_arguments: null, parsed: null }));
    const plain = (response: OpenAI.Responses.Response) =>
      JSON.parse(JSON.stringify(shape(response), withoutParsed)) as unknown;
    expect(plain(streamed)).toEqual(plain(whole));
    expect(whole).toMatchObject({ output_text: 'Let me see', metadata: { a: 'b' }, error: null });
  });

  it('says when an answer was cut off (bug: half an answer that looks whole)', async () => {
    const { client, completions } = await startServer();
    completions.script = (run) => run.settle(ok({ ...finished, end: 'max_tokens' }));
    expect(await client.responses.create({ model, input: 'Hi' })).toMatchObject({
      ...{ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
    });
  });

  it('hands over instructions, items, calls and their results in order (bug: a conversation out of order)', async () => {
    const { client, completions } = await startServer();
    completions.answerAtOnce();
    const call = (id: string) => ({ type: 'function_call' as const, call_id: id, name: 'weather', arguments: '{}' });
    await client.responses.create({
      ...{ model, instructions: 'Be brief.', max_output_tokens: 9, temperature: 0, store: false },
      input: [
        { role: 'developer', content: 'More.' },
        { role: 'user', content: [{ type: 'input_text', text: 'a' }] },
        { role: 'assistant', content: 'b' },
        call('c1'),
        call('c2'),
        { type: 'function_call_output', call_id: 'c1', output: 'rain' },
        { type: 'function_call_output', call_id: 'c2', output: [{ type: 'input_text', text: 'sun' }] },
        { type: 'message', role: 'user', content: 'c' },
      ],
      text: { format: { type: 'json_schema', name: 'n', schema: { type: 'object' } } },
    });
    expect(completions.runs[0]!.request).toMatchObject({
      prompt: {
        turns: [
          { role: 'system', text: 'Be brief.' },
          { role: 'system', text: 'More.' },
          { role: 'user', text: 'a' },
          { role: 'assistant', text: 'b', toolCalls: [{ id: 'c1', name: 'weather' }, { id: 'c2' }] },
          { role: 'tool', callId: 'c1', text: 'rain' },
          { role: 'tool', callId: 'c2', text: 'sun' },
          { role: 'user', text: 'c' },
        ],
      },
      sampling: { temperature: 0, maxTokens: 9 },
      output: { kind: 'json_schema', schema: { type: 'object' } },
    });
  });

  it.each([
    ['storing', { store: true }, 'store'],
    ['an answer before', { previous_response_id: 'resp_1' }, 'previous_response_id'],
    ['a stored conversation', { conversation: 'conv_1' }, 'conversation'],
    ['the background', { background: true }, 'background'],
    ['a built-in tool', { tools: [{ type: 'web_search' }] }, 'tools[0].type'],
    ['an image', { input: [{ role: 'user', content: [{ type: 'input_image' }] }] }, 'input[0].content[0].type'],
    ['a reference', { input: [{ type: 'item_reference', id: 'x' }] }, 'input[0]'],
    ['no input', { input: undefined }, 'input'],
    ['a result nobody asked for', { input: [{ type: 'function_call_output', call_id: 'x', output: 'y' }] }, 'input'],
  ])('%s is refused by name (bug: a program that thinks it was heard)', async (_name, change, param) => {
    const { url, completions } = await startServer();
    const reply = await postJson(`${url}/v1/responses`, { input: 'Hi', ...change });
    expect([reply.status, await reply.json()]).toMatchObject([400, { error: { param } }]);
    expect(completions.runs).toHaveLength(0);
  });

  it('tells a stream that has begun of a failure, as an event (bug: a stream that just ends)', async () => {
    const { client, completions } = await startServer();
    completions.script = (run) => {
      run.part('Hello');
      run.settle(fail('generation_failed', 'Broken.'));
    };
    const events = await collect(await client.responses.create({ model, input: 'Hi', stream: true }));
    expect(events.at(-1)).toMatchObject({
      ...{
        type: 'response.failed',
        response: { status: 'failed', error: { code: 'server_error', message: 'Broken.' } },
      },
    });
  });
});

function withoutParsed(key: string, value: unknown): unknown {
  return key.startsWith('parsed') ? undefined : value;
}

describe('messages', () => {
  const base = { model: 'mini-q8_0', max_tokens: 50, messages: [{ role: 'user' as const, content: 'Hi' }] };
  const tools = [{ name: 'weather', input_schema: { type: 'object' as const } }];

  it("streams Anthropic's sequence, and its client puts it together (bug: blocks that overlap)", async () => {
    const setup = await startServer();
    setup.completions.script = thinkSpeakCall;
    const stream = anthropic(setup).messages.stream({ ...base, tools });
    const types: string[] = [];
    stream.on('streamEvent', (event) => {
      const detail = event.type === 'content_block_start' ? event.content_block.type : '';
      types.push(`${event.type} ${'index' in event ? event.index : ''} ${detail}`.trim());
    });
    const message = await stream.finalMessage();
    expect(types).toEqual([
      'message_start',
      'content_block_start 0 thinking',
      'content_block_delta 0',
      'content_block_stop 0',
      'content_block_start 1 text',
      'content_block_delta 1',
      'content_block_delta 1',
      'content_block_stop 1',
      'content_block_start 2 tool_use',
      'content_block_delta 2',
      'content_block_delta 2',
      'content_block_stop 2',
      'content_block_start 3 tool_use',
      'content_block_delta 3',
      'content_block_stop 3',
      'message_delta',
      'message_stop',
    ]);
    expect(message).toMatchObject({
      ...{ role: 'assistant', stop_reason: 'tool_use', model: 'mini-q8_0' },
      content: [
        { type: 'thinking', thinking: 'hm' },
        { type: 'text', text: 'Let me see' },
        { type: 'tool_use', id: 'call_0', name: 'weather', input: { city: 'Oslo' } },
        { type: 'tool_use', id: 'call_1', input: { city: 'Bergen' } },
      ],
      usage: { input_tokens: 8, cache_read_input_tokens: 12, output_tokens: 2 },
    });
    const text = await (await postJson(`${setup.url}/v1/messages`, { ...base, stream: true })).text();
    expect(text).toContain('event: ping\ndata: {"type":"ping"}\n\n');
  });

  it.each([
    ['end', [], { stop_reason: 'end_turn', stop_sequence: null }],
    ['max_tokens', [], { stop_reason: 'max_tokens' }],
    ['context_full', [], { stop_reason: 'max_tokens' }],
    ['stop_string', ['END'], { stop_reason: 'stop_sequence', stop_sequence: 'END' }],
  ] as const)(
    'an answer that ends with %s says why (bug: a wrong stop_reason ends agents)',
    async (end, stops, told) => {
      const setup = await startServer();
      setup.completions.script = (run) => run.settle(ok({ ...finished, end }));
      const message = await anthropic(setup).messages.create({ ...base, stop_sequences: [...stops] });
      expect(message).toMatchObject({ type: 'message', content: [{ type: 'text', text: 'Hello there' }], ...told });
      expect(setup.completions.runs[0]!.request.stop).toEqual(stops);
    },
  );

  it('hands over system, blocks, tools and results in order (bug: a tool result swallowed)', async () => {
    const setup = await startServer();
    setup.completions.answerAtOnce();
    const client = anthropic(setup);
    await client.messages.create({
      ...{ model: 'gpt-4o', max_tokens: 50, temperature: 0, top_k: 3, tools },
      thinking: { type: 'enabled', budget_tokens: 1024 },
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
      system: [
        { type: 'text', text: 'Be' },
        { type: 'text', text: 'brief.' },
      ],
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'a', cache_control: { type: 'ephemeral' } }] },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: '' },
            { type: 'text', text: 'b' },
            { type: 'tool_use', id: 't1', name: 'weather', input: { city: 'Oslo' } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 't1', is_error: true, content: [{ type: 'text', text: 'rain' }] },
            { type: 'text', text: 'and?' },
          ],
        },
      ],
    });
    expect(setup.completions.runs[0]!.request).toMatchObject({
      model: 'mini-q8_0',
      sampling: { temperature: 0, topK: 3, maxTokens: 50 },
      tools: { choice: 'required', parallel: false, tools: [{ name: 'weather', parameters: { type: 'object' } }] },
      prompt: {
        turns: [
          { role: 'system', text: 'Be\nbrief.' },
          { role: 'user', text: 'a' },
          { role: 'assistant', text: 'b', toolCalls: [{ id: 't1', name: 'weather', arguments: '{"city":"Oslo"}' }] },
          { role: 'tool', callId: 't1', text: 'Error: rain' },
          { role: 'user', text: 'and?' },
        ],
      },
    });
    await client.messages.create({ ...base, tools, tool_choice: { type: 'tool', name: 'weather' } });
    await client.messages.create({ ...base, tools, tool_choice: { type: 'none' } });
    expect(setup.completions.runs.slice(1).map(({ request }) => request.tools)).toMatchObject([
      { choice: { name: 'weather' }, parallel: true },
      null,
    ]);
  });

  it('counts tokens of the same body (bug: counting something else than what would be sent)', async () => {
    const setup = await startServer();
    const { messages, model: name } = base;
    const counted = await anthropic(setup).messages.countTokens({ model: name, messages, tools, system: 'x' });
    expect(counted).toEqual({ input_tokens: 20 });
    expect(setup.completions.counted).toMatchObject([
      {
        model: name,
        prompt: { turns: [{ role: 'system' }, { role: 'user' }] },
        tools: { tools: [{ name: 'weather' }] },
      },
    ]);
  });

  it('takes the key as x-api-key, and lists models in its own shape (bug: a client that cannot log in)', async () => {
    const setup = await startServer({ apiKey: 'right' });
    setup.completions.answerAtOnce();
    const client = anthropic(setup, 'right');
    expect(await client.messages.create(base)).toMatchObject({ stop_reason: 'end_turn' });
    expect((await client.models.list()).data.map(({ id, type }) => [id, type])).toContainEqual(['gpt-4o', 'model']);
    const refused = await anthropic(setup, 'wrong')
      .messages.create(base)
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(Anthropic.AuthenticationError);
    expect(refused).toMatchObject({ error: { type: 'error', error: { type: 'authentication_error' } } });
  });

  it('gives each failure the class that programs catch (bug: a retry of what can never work)', async () => {
    const setup = await startServer();
    const client = anthropic(setup);
    const failing = async (code: Parameters<typeof fail>[0], body: object = {}) => {
      setup.completions.script = (run) => run.settle(fail(code, 'Because.'));
      return client.messages.create({ ...base, ...body }).catch((error: unknown) => error);
    };
    expect(await failing('prompt_too_long')).toBeInstanceOf(Anthropic.BadRequestError);
    expect(await failing('prompt_too_long', { stream: true })).toBeInstanceOf(Anthropic.BadRequestError);
    expect(await failing('queue_full')).toBeInstanceOf(Anthropic.RateLimitError);
    expect(await failing('no_model')).toBeInstanceOf(Anthropic.InternalServerError);
    expect(await failing('no_model', { model: 'gone' })).toBeInstanceOf(Anthropic.NotFoundError);
    setup.completions.script = (run) => {
      run.part('Hello');
      run.settle(fail('generation_failed', 'Broken.'));
    };
    await expect(client.messages.stream(base).finalMessage()).rejects.toThrow('Broken.');
  });

  it.each([
    ['no max_tokens', { max_tokens: undefined }, 'max_tokens'],
    ['an image', { messages: [{ role: 'user', content: [{ type: 'image' }] }] }, 'messages[0].content[0]'],
    ['an unknown role', { messages: [{ role: 'tool', content: 'x' }] }, 'messages[0].role'],
    ['a tool of the server', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, 'tools[0]'],
    [
      'a result nobody asked for',
      { messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'x' }] }] },
      'messages',
    ],
    ['an answer to continue', { messages: [...base.messages, { role: 'assistant', content: 'x' }] }, 'messages'],
  ])('%s is refused by name (bug: silence about what was not understood)', async (_name, change, param) => {
    const { url, completions } = await startServer();
    const reply = await postJson(`${url}/v1/messages`, { ...base, ...change });
    const body = (await reply.json()) as { error: { message: string } };
    expect([reply.status, body]).toMatchObject([400, { type: 'error', error: { type: 'invalid_request_error' } }]);
    expect(body.error.message).toContain(param);
    expect(completions.runs).toHaveLength(0);
  });

  it('sends ping events while nothing else comes (bug: a proxy that gives up on a long prefill)', async () => {
    const { port, completions } = await startServer({}, { answerHeartbeatMs: 5 });
    const text = JSON.stringify({ ...base, stream: true });
    const head = 'POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
    const { received } = await openSocket(port, `${head}Content-Length: ${text.length}\r\n\r\n${text}`);
    const run = await completions.first();
    await waitFor('three pings', () => received().split('event: ping').length > 3);
    expect(received()).toContain('event: message_start');
    run.settle(ok(finished));
    await waitFor('the end', () => received().includes('event: message_stop'));
  });
});
