import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, jsonSchema, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { silentLogger } from '../../../src/main/base/index.ts';
import { createServer, type Server } from '../../../src/main/server/index.ts';
import { builtinPath, unwrap } from '../../support/engine.ts';
import { echo, runRandomClients } from '../../support/random-clients.ts';
import { realServices } from '../../support/real-services.ts';
import { waitFor } from '../../support/wait-for.ts';
import { FakeDispatcher } from './fakes.ts';

// The packages that people use, against the built-in model. What it says is its own matter: only what grammar, limits
// and the protocol force is asserted.

let folder: string;
let services: Awaited<ReturnType<typeof realServices>>;
let server: Server;
let url: string;
let openai: OpenAI;
let anthropic: Anthropic;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'dormouse-clients-'));
  // A second model, though the same file: known by an alias, and loaded by whoever names it.
  copyFileSync(builtinPath, join(folder, 'copy.gguf'));
  const alias = ['gpt-4o=builtin', `second=${join(folder, 'copy.gguf')}`];
  services = await realServices(folder, { alias, 'model-switch': true });
  server = createServer({
    ...services,
    dispatcher: new FakeDispatcher(),
    logger: silentLogger,
    options: {
      ...{ host: '127.0.0.1', port: 0, apiKey: null, ownerToken: () => null, corsOrigins: [], allowedHosts: [] },
      ...{ version: '1', rendererFolder: folder },
    },
  });
  ({ url } = unwrap(await server.start()));
  unwrap(await services.models.load('builtin'));
  openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 });
  anthropic = new Anthropic({ baseURL: url, apiKey: 'none', maxRetries: 0 });
});

afterAll(async () => {
  await server.close();
  await services.close();
  rmSync(folder, { recursive: true, force: true });
});

const model = 'gpt-4o';
const messages = [{ role: 'user' as const, content: 'What is the capital of Norway?' }];
const ping = {
  name: 'ping',
  description: 'Asks a number.',
  parameters: {
    type: 'object',
    properties: { number: { type: 'integer', minimum: 1, maximum: 9 } },
    required: ['number'],
    additionalProperties: false,
  },
};
const pingArguments = z.strictObject({ number: z.number().int().min(1).max(9) });
const tagged = {
  type: 'object',
  properties: { n: { type: 'integer' }, name: { type: 'string' }, tags: { type: 'array', items: { type: 'string' } } },
  required: ['n', 'name', 'tags'],
  additionalProperties: false,
};
const taggedAnswer = z.strictObject({ n: z.number().int(), name: z.string(), tags: z.array(z.string()) });
const idle = () => waitFor('an engine with nothing to do', () => services.models.status().state === 'ready');

describe('openai', () => {
  it('answers whole and streamed alike at temperature 0 (bug: a stream that loses text)', async () => {
    const body = { model, messages, temperature: 0, max_completion_tokens: 30 };
    const whole = await openai.chat.completions.create(body);
    const stream = openai.chat.completions.stream({ ...body, stream_options: { include_usage: true } });
    const streamed = await stream.finalChatCompletion();
    expect(streamed.choices[0]!.message.content).toBe(whole.choices[0]!.message.content);
    expect(streamed.usage).toMatchObject({ completion_tokens: whole.usage!.completion_tokens });
    expect(whole.model).toBe('builtin');
  });

  it('frees the engine when a stream is aborted (bug: a stuck slot)', async () => {
    const stream = await openai.chat.completions.create({ model, messages, stream: true, max_completion_tokens: 400 });
    for await (const _ of stream) stream.controller.abort();
    await idle();
    expect((await openai.chat.completions.create({ model, messages, max_completion_tokens: 3 })).choices).toHaveLength(
      1,
    );
  });

  it('calls a tool that is forced, streamed or not, and takes its result back (bug: arguments that are no JSON)', async () => {
    const tools = [{ type: 'function' as const, function: ping }];
    const tool_choice = { type: 'function' as const, function: { name: 'ping' } };
    const first = await openai.chat.completions.create({
      model,
      messages,
      tools,
      tool_choice,
      parallel_tool_calls: false,
    });
    const { message, finish_reason: reason } = first.choices[0]!;
    const calls = message.tool_calls!.map((call) => (call.type === 'function' ? call : expect.fail('another type')));
    expect([calls.length, reason]).toEqual([1, 'tool_calls']);
    pingArguments.parse(JSON.parse(calls[0]!.function.arguments));
    const streamed = openai.chat.completions.stream({
      model,
      messages,
      tools,
      tool_choice,
      parallel_tool_calls: false,
    });
    const [call] = (await streamed.finalChatCompletion()).choices[0]!.message.tool_calls!;
    pingArguments.parse(JSON.parse((call as (typeof calls)[0]).function.arguments));
    const result = { role: 'tool' as const, tool_call_id: calls[0]!.id, content: '{"pong": 7}' };
    const last = await openai.chat.completions.create({
      ...{ model, messages: [...messages, message, result], tools, tool_choice: 'none', max_completion_tokens: 10 },
    });
    const plain = await openai.chat.completions.create({ model, messages, max_completion_tokens: 1 });
    expect(last.usage!.prompt_tokens).toBeGreaterThan(plain.usage!.prompt_tokens);
  });

  it('keeps to a schema and ends by itself (bug: JSON cut off, or without end)', async () => {
    const format = { type: 'json_schema' as const, json_schema: { name: 'tagged', schema: tagged } };
    const answer = await openai.chat.completions.create({ model, messages, response_format: format });
    expect(answer.choices[0]!.finish_reason).toBe('stop');
    taggedAnswer.parse(JSON.parse(answer.choices[0]!.message.content!));
    const response = await openai.responses.create({
      ...{ model, input: 'Hi', text: { format: { type: 'json_schema', name: 'tagged', schema: tagged } } },
    });
    taggedAnswer.parse(JSON.parse(response.output_text));
  });

  it('continues a text and ends at a stop text (bug: a template around a bare prompt)', async () => {
    const answer = await openai.completions.create({
      model,
      prompt: 'Once upon',
      max_tokens: 20,
      stop: [' '],
      temperature: 0,
    });
    expect(answer.choices[0]!.text).not.toContain(' ');
    expect(answer.usage!.prompt_tokens).toBeLessThan(10);
  });

  it('streams responses with a forced call (bug: events that the client cannot join)', async () => {
    const tools = [{ type: 'function' as const, strict: true, ...ping }];
    const stream = openai.responses.stream({
      model,
      input: 'Hi',
      tools,
      tool_choice: { type: 'function', name: 'ping' },
    });
    const { output, status } = await stream.finalResponse();
    const call = output.find((item) => item.type === 'function_call');
    expect(status).toBe('completed');
    pingArguments.parse(JSON.parse(call!.arguments));
  });

  it('embeds texts and their tokens as vectors of length 1, the same for the same text (bug: vectors of what was left over)', async () => {
    const { data, usage } = await openai.embeddings.create({ model, input: ['Hello there', 'Goodbye', 'Hello there'] });
    const [first, other, again] = data.map(({ embedding }) => embedding);
    const dot = (a: readonly number[], b: readonly number[]) =>
      a.reduce((sum, value, index) => sum + value * b[index]!, 0);
    for (const vector of [first!, other!]) expect(dot(vector, vector)).toBeCloseTo(1, 3);
    expect(dot(first!, again!)).toBeCloseTo(1, 3);
    expect(dot(first!, other!)).toBeLessThan(0.9999);
    expect(usage.prompt_tokens).toBeGreaterThan(2);
  });

  it('gets each error as its class, with both numbers where a prompt is too long (bug: a retry of what can never work)', async () => {
    const words = 'word '.repeat(4000);
    const create = (body: object) =>
      openai.chat.completions.create({ model, messages, ...body }).catch((error: unknown) => error);
    const tooLong = await create({ messages: [{ role: 'user', content: words }] });
    expect(tooLong).toBeInstanceOf(OpenAI.BadRequestError);
    expect(tooLong).toMatchObject({ code: 'context_length_exceeded' });
    expect(String(tooLong).match(/\d[\d,]*/g)!.length).toBeGreaterThan(1);
    expect(await create({ model: 'gone' })).toBeInstanceOf(OpenAI.NotFoundError);
    expect(await create({ temperature: -1 })).toBeInstanceOf(OpenAI.BadRequestError);
    const recursive = { $defs: { a: { type: 'object', properties: { a: { $ref: '#/$defs/a' } } } }, $ref: '#/$defs/a' };
    const format = { type: 'json_schema', json_schema: { name: 'a', schema: recursive } };
    expect(await create({ response_format: format })).toMatchObject({ status: 400, code: 'schema_unsupported' });
    expect((await openai.chat.completions.create({ model, messages, max_completion_tokens: 3 })).choices).toHaveLength(
      1,
    );
  });
});

describe('anthropic', () => {
  const base = { model, max_tokens: 30, messages };
  const greedy = { ...base, temperature: 0 };

  it('answers whole and streamed, and counts what it was asked (bug: a count of something else)', async () => {
    const whole = await anthropic.messages.create(greedy);
    const streamed = await anthropic.messages.stream(greedy).finalMessage();
    const texts = [whole, streamed].map(({ content }) => content.filter((block) => block.type === 'text'));
    expect(texts[1]!.map(({ text }) => text)).toEqual(texts[0]!.map(({ text }) => text));
    const counted = await anthropic.messages.countTokens({ model, messages });
    const { input_tokens: fresh, cache_read_input_tokens: cached } = whole.usage;
    expect(counted.input_tokens).toBe(fresh + (cached ?? 0));
  });

  it('calls a forced tool and takes its result back (bug: a block without input)', async () => {
    const tools = [{ name: 'ping', description: 'Asks.', input_schema: ping.parameters as Anthropic.Tool.InputSchema }];
    const tool_choice = { type: 'tool' as const, name: 'ping', disable_parallel_tool_use: true };
    const first = await anthropic.messages.stream({ ...base, max_tokens: 100, tools, tool_choice }).finalMessage();
    const call = first.content.find((block) => block.type === 'tool_use')!;
    expect(first.stop_reason).toBe('tool_use');
    pingArguments.parse(call.input);
    const back = { type: 'tool_result' as const, tool_use_id: call.id, content: 'pong' };
    const next = [
      ...messages,
      { role: 'assistant' as const, content: first.content },
      { role: 'user' as const, content: [back] },
    ];
    const last = await anthropic.messages.create({ ...base, messages: next, tools, tool_choice: { type: 'none' } });
    expect(last.role).toBe('assistant');
  });

  it('frees the engine when a stream is aborted, and gets errors as classes (bug: a stuck slot)', async () => {
    const stream = anthropic.messages.stream({ ...base, max_tokens: 400 });
    stream.on('text', () => stream.abort());
    await expect(stream.finalMessage()).rejects.toBeInstanceOf(Anthropic.APIUserAbortError);
    await idle();
    const long = [{ role: 'user' as const, content: 'word '.repeat(4000) }];
    const failed = await anthropic.messages.create({ ...base, messages: long }).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(Anthropic.BadRequestError);
  });
});

describe('ai, with its OpenAI-compatible provider', () => {
  const chosen = () => createOpenAICompatible({ name: 'dormouse', baseURL: `${url}/v1` }).chatModel(model);

  it('generates and streams the same text (bug: a chunk that its schema refuses)', async () => {
    const options = { model: chosen(), prompt: 'What is the capital of Norway?', temperature: 0, maxOutputTokens: 30 };
    const { text, usage } = await generateText(options);
    const streamed = streamText(options);
    expect(await streamed.text).toBe(text);
    expect(usage.outputTokens).toBeGreaterThan(0);
  });

  it('makes the tool round trip by itself, first step forced (bug: a call that it cannot run)', async () => {
    const asked: unknown[] = [];
    const tools = {
      ping: tool({
        description: 'Asks a number.',
        inputSchema: jsonSchema<{ number: number }>(ping.parameters as Parameters<typeof jsonSchema>[0]),
        execute: async (input) => {
          asked.push(input);
          return { pong: input.number };
        },
      }),
    };
    const result = await generateText({
      ...{ model: chosen(), prompt: 'Ping.', tools, maxOutputTokens: 100 },
      toolChoice: { type: 'tool', toolName: 'ping' },
    });
    expect(result.toolResults.length).toBeGreaterThan(0);
    for (const input of asked) pingArguments.parse(input);
  });
});

describe('many clients', () => {
  it('switch between two models, each answered by the one it named (bug: an answer of another model)', async () => {
    const names = ['gpt-4o', 'second', 'copy', 'gpt-4o', 'second'];
    const answers = await Promise.all(
      names.map((name) => openai.chat.completions.create({ model: name, messages, max_completion_tokens: 3 })),
    );
    expect(answers.map((answer) => answer.model)).toEqual(['builtin', 'copy', 'copy', 'builtin', 'copy']);
    expect(services.models.status().model?.id).toBe('copy');
    expect((await openai.models.list()).data.map(({ id }) => id)).toEqual(['copy', 'builtin', 'gpt-4o', 'second']);
  });

  it('one after another and all at once, aborted, bad and good: each gets its own number, no slot stays taken (bug: answers mixed up)', async () => {
    const report = await runRandomClients({ url, seed: 7, requests: 60, atOnce: 12 });
    expect(report.wrong).toEqual([]);
    expect(report.echoed).toBeGreaterThan(10);
    await idle();
    const numbers = Array.from({ length: 20 }, (_, index) => 1000 + index);
    expect(await Promise.all(numbers.map((number) => echo(url, number, number % 4)))).toEqual(numbers.map(String));
  });
});
