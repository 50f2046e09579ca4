import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AnswerPart, ChatTurn, GenerateRequest, ToolCall, ToolUse } from '../../../src/main/engine/index.ts';
import { ask, builtinLoad, createEngine, requestOf, unwrap } from '../../support/engine.ts';

const engine = createEngine();
beforeAll(async () => void unwrap(await engine.load(builtinLoad)));
afterAll(() => engine.close());

const textPrompt = (text: string): Partial<GenerateRequest> => ({ prompt: { kind: 'text', text } });
const schemaOf = (schema: object): Partial<GenerateRequest> => ({
  output: { kind: 'json_schema', schema: schema as Record<string, unknown> },
});

async function askForParts(request: GenerateRequest) {
  const parts: AnswerPart[] = [];
  const off = engine.on((event) => {
    if (event.type === 'part' && event.generationId === request.id) parts.push(event.part);
  });
  const outcome = unwrap(await engine.generate(request));
  off();
  const calls: ToolCall[] = [];
  for (const part of parts) {
    if (part.kind !== 'tool_call') continue;
    const before = calls[part.index]?.arguments ?? '';
    calls[part.index] = { id: part.id, name: part.name, arguments: before + part.text };
  }
  return { parts, calls, outcome };
}

describe('raw texts', () => {
  it('goes on where the text ends, without a template (bug: the chat format slips in)', async () => {
    const chat = '<|im_start|>user\nWhat is the capital city of Norway, please?<|im_end|>\n<|im_start|>assistant\n';
    const raw = await ask(engine, '', { ...textPrompt(chat), sampling: { temperature: 0, maxTokens: 8 } });
    const plain = await ask(engine, 'What is the capital city of Norway, please?');
    // As letters the template's marks take more tokens than as marks.
    expect(raw.timings.promptTokens).toBeGreaterThan(plain.timings.promptTokens + 4);
    expect(raw.outcome.stopReason).toBe('max_tokens');
    expect(raw.timings.predictedTokens).toBe(8);
  });

  it('gives the same text for the same seed, and ends at a stop string that spans tokens', async () => {
    const more = { ...textPrompt('The capital of'), sampling: { temperature: 1, seed: 5, maxTokens: 60 } };
    const whole = await ask(engine, '', more);
    const middle = Math.floor(whole.text.length / 2);
    const stop = whole.text.slice(middle, middle + 6);
    const cut = await ask(engine, '', { ...more, stop: ['never in there', stop] });
    expect(cut.text).toBe(whole.text.slice(0, whole.text.indexOf(stop)));
    expect(cut.outcome.stopReason).toBe('stop_string');
  });

  it('bans a token by its bias and answers the rest (bug: bias or penalties do not reach the sampler)', async () => {
    const more = { ...textPrompt('one two three'), sampling: { temperature: 0, maxTokens: 30 } };
    const free = await ask(engine, '', more);
    const penalised = await ask(engine, '', {
      ...more,
      sampling: { ...more.sampling, frequencyPenalty: 2, presencePenalty: 2 },
    });
    expect(penalised.text).not.toBe(free.text);
    const bias = new Map(Array.from({ length: 200 }, (_, token) => [token, -100] as const));
    const biased = await ask(engine, '', { ...more, logitBias: bias });
    expect(biased.text).not.toBe(free.text);
    expect(
      (
        await ask(engine, '', {
          ...more,
          logitBias: new Map([
            [-1, 100],
            [999_999, 100],
          ]),
        })
      ).text,
    ).toBe(free.text);
  });
});

describe('JSON by grammar', () => {
  const person = {
    type: 'object',
    properties: {
      n: { type: 'integer' },
      name: { type: 'string' },
      tags: { type: 'array', items: { type: 'string' } },
    },
    required: ['n', 'name', 'tags'],
    additionalProperties: false,
  };

  it.each([0, 1.5])(
    'a weak model ends by itself under a schema (bug: a string or list without an end), temperature %d',
    async (temperature) => {
      const { text, outcome } = await ask(engine, 'Give me a person.', {
        ...schemaOf(person),
        sampling: { temperature, seed: 3 },
      });
      expect(outcome.stopReason).toBe('end');
      const value = JSON.parse(text) as { n: unknown; name: unknown; tags: unknown[] };
      expect(Object.keys(value)).toEqual(['n', 'name', 'tags']);
      expect(Number.isInteger(value.n)).toBe(true);
      expect(typeof value.name).toBe('string');
      expect(value.tags.every((tag) => typeof tag === 'string')).toBe(true);
    },
  );

  it('any JSON object, also for a raw text', async () => {
    for (const more of [{}, textPrompt('An object:')]) {
      const { text, outcome } = await ask(engine, 'An object, please.', { ...more, output: { kind: 'json' } });
      expect(text.startsWith('{')).toBe(true);
      if (outcome.stopReason === 'end') expect(typeof JSON.parse(text)).toBe('object');
      else expect(outcome.stopReason).toBe('context_full');
    }
  });

  it('max_tokens cuts it and says so', async () => {
    const { outcome } = await ask(engine, 'A person.', {
      ...schemaOf(person),
      sampling: { temperature: 0, maxTokens: 3 },
    });
    expect(outcome.stopReason).toBe('max_tokens');
  });

  it('echoes constants with special characters letter by letter (bug: escapes of JSON and grammar mixed up)', async () => {
    const odd = 'a"b\\c\n\t\u0000/é🐭\u2028]"\'[^-]{2}|x ::= "y" #';
    const { text } = await ask(engine, 'Go.', schemaOf({ const: { [odd]: [odd, 1.5, null, true] } }));
    expect(JSON.parse(text)).toEqual({ [odd]: [odd, 1.5, null, true] });
  });

  it('refuses what it cannot promise, and goes on', async () => {
    const recursive = {
      $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } },
      $ref: '#/$defs/node',
    };
    expect(await engine.generate(requestOf('Go.', schemaOf(recursive)))).toMatchObject({
      ok: false,
      error: { code: 'schema_unsupported' },
    });
    expect(engine.status().state).toBe('ready');
    expect((await ask(engine, 'What is 8 plus 6, please?')).text).toBe('8 + 6 = 14.');
  });
});

const weather: ToolUse['tools'][number] = {
  name: 'get_weather',
  description: 'Weather of a city',
  parameters: {
    type: 'object',
    properties: {
      city: { type: 'string', maxLength: 20 },
      unit: { enum: ['celsius', 'fahrenheit'] },
      days: { type: 'integer', minimum: 1, maximum: 7 },
    },
    required: ['city', 'unit', 'days'],
    additionalProperties: false,
  },
};
const clock: ToolUse['tools'][number] = { name: 'get', description: null, parameters: null };
const use = (choice: ToolUse['choice'], tools = [weather, clock]): ToolUse => ({ tools, choice, parallel: true });

describe('tools', () => {
  it.each([
    [{ name: 'get_weather' }, [weather, clock]],
    ['required', [weather]],
  ] as const)('a demanded call (%j) comes with valid arguments, in pieces, under one id', async (choice, tools) => {
    const request = requestOf('What is the weather in Oslo?', { tools: use(choice, [...tools]) });
    const { parts, calls, outcome } = await askForParts(request);
    expect(outcome.stopReason).toBe('tool_calls');
    expect(parts.every((part) => part.kind === 'tool_call' && part.index === 0)).toBe(true);
    expect(new Set(parts.map((part) => part.kind === 'tool_call' && part.id)).size).toBe(1);
    expect(parts.length).toBeGreaterThan(3);
    expect(calls).toHaveLength(1);
    expect(calls[0]?.name).toBe('get_weather');
    expect(calls[0]?.id).toMatch(/^call_/);
    const { city, unit, days } = JSON.parse(calls[0]?.arguments ?? '') as Record<string, unknown>;
    expect(typeof city).toBe('string');
    expect(['celsius', 'fahrenheit']).toContain(unit);
    expect(Number(days) >= 1 && Number(days) <= 7).toBe(true);
  });

  it('chooses among several, also where one name begins like another; none without parameters has none', async () => {
    const { calls, outcome } = await askForParts(requestOf('What time is it?', { tools: use('required') }));
    expect(outcome.stopReason).toBe('tool_calls');
    expect(['get_weather', 'get']).toContain(calls[0]?.name);
    expect(typeof JSON.parse(calls[0]?.arguments ?? '')).toBe('object');
    const named = await askForParts(requestOf('What time is it?', { tools: use({ name: 'get' }) }));
    expect(named.calls[0]).toMatchObject({ name: 'get', arguments: '{}' });
  });

  it('takes results back in (bug: results lost, or shown as if a person had written them)', async () => {
    const turns: ChatTurn[] = [
      { role: 'user', text: 'What is the weather in Oslo?' },
      { role: 'assistant', text: '', toolCalls: [{ id: 'call_1', name: 'get_weather', arguments: '{"city":"Oslo"}' }] },
      { role: 'tool', callId: 'call_1', text: '{"sky":"clear"}' },
    ];
    const count = async (some: ChatTurn[]) =>
      unwrap(await engine.countTokens({ prompt: { kind: 'chat', turns: some }, tools: use('auto'), modelPath: null }));
    expect(await count(turns)).toBeGreaterThan(await count(turns.slice(0, 2)));
    const answered = await ask(engine, turns, { tools: use('auto'), sampling: { temperature: 0, maxTokens: 20 } });
    expect(answered.timings.promptTokens).toBe(await count(turns));
    const orphan = requestOf([
      { role: 'user', text: 'Hi' },
      { role: 'tool', callId: 'never', text: 'x' },
    ]);
    expect(await engine.generate(orphan)).toMatchObject({ ok: false, error: { code: 'invalid_input' } });
  });

  it('refuses bad names, unknown choices and tools with a format', async () => {
    const bad = async (more: Partial<GenerateRequest>) => {
      const result = await engine.generate(requestOf('Go.', more));
      return result.ok ? null : result.error.code;
    };
    expect(await bad({ tools: use('auto', [{ ...clock, name: 'no good' }]) })).toBe('invalid_input');
    expect(await bad({ tools: use('auto', [clock, clock]) })).toBe('invalid_input');
    expect(await bad({ tools: use({ name: 'other' }) })).toBe('invalid_input');
    expect(await bad({ tools: use('auto'), output: { kind: 'json' } })).toBe('schema_unsupported');
    const pattern = { ...clock, parameters: { type: 'object', properties: { a: { type: 'string', pattern: 'x' } } } };
    expect(await bad({ tools: use('required', [pattern]) })).toBe('schema_unsupported');
    expect(await bad({ tools: use('auto', [pattern]), sampling: { maxTokens: 2 } })).toBe(null);
  });
});

describe('counting and embeddings', () => {
  it('counts what a prompt will take', async () => {
    const turns: ChatTurn[] = [{ role: 'user', text: 'What is 8 plus 6, please?' }];
    const counted = unwrap(await engine.countTokens({ prompt: { kind: 'chat', turns }, tools: null, modelPath: null }));
    expect((await ask(engine, turns)).timings.promptTokens).toBe(counted);
  });

  it('gives vectors of length 1, the same for text and for its tokens, different for different texts', async () => {
    const embed = async (inputs: (string | number[])[]) =>
      unwrap(await engine.embed({ id: 'embedding', inputs, modelPath: null }));
    const { vectors, promptTokens } = await embed([
      'The capital of Norway',
      'The capital of Norway',
      'mouse',
      [5, 6, 7],
    ]);
    const [first, second, third, ids] = vectors;
    expect(vectors).toHaveLength(4);
    for (const vector of vectors) expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
    expect(second).toEqual(first);
    expect(third).not.toEqual(first);
    expect(ids?.length).toBe(first?.length);
    expect(promptTokens).toBeGreaterThan(8);
    expect(engine.status().state).toBe('ready');
    expect((await ask(engine, 'What is 8 plus 6, please?')).text).toBe('8 + 6 = 14.');
  });

  it('refuses inputs that are too long, with both numbers, empty, or no tokens of the model', async () => {
    const embed = (input: string | number[]) =>
      engine.embed({ id: 'embedding', inputs: ['ok', input], modelPath: null });
    const long = await embed('mouse '.repeat(1100));
    expect(long).toMatchObject({ ok: false, error: { code: 'prompt_too_long' } });
    expect(long.ok ? '' : long.error.message).toMatch(/\d{4} tokens.*1024/);
    expect(await embed('')).toMatchObject({ ok: false, error: { code: 'prompt_empty' } });
    expect(await embed([10_000_000])).toMatchObject({ ok: false, error: { code: 'invalid_input' } });
    expect(await embed([1.5])).toMatchObject({ ok: false, error: { code: 'invalid_input' } });
  });
});
