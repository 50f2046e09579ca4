import { LlamaContextSequence } from 'node-llama-cpp';
import { afterEach, expect, it, vi } from 'vitest';
import type { AnswerPart, LoadRequest, ToolUse } from '../../../src/main/engine/index.ts';
import { builtinLoad, createEngine, requestOf, unwrap } from '../../support/engine.ts';

/*
 * The built-in model does not call by itself, so its tokens are scripted here; the chat format's way to call, its grammars
 * and the engine are the real ones.
 */
afterEach(() => vi.restoreAllMocks());

const tools: ToolUse['tools'] = [
  {
    name: 'get_weather',
    description: 'Weather',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
  { name: 'now', description: null, parameters: null },
];

const opening = '<tool_call>\n{"name": "';
const oslo = ['{"city": "Oslo"}', '\n\n\n\n'];

async function callsOf(chatFormat: LoadRequest['chatFormat'], script: readonly string[], parallel: boolean) {
  const engine = createEngine();
  unwrap(await engine.load({ ...builtinLoad, chatFormat }));
  // LlamaChat begins a new evaluation with each part of a call.
  const pieces = script.flatMap((part) => part.match(/[^]{1,3}/gu) ?? []);
  vi.spyOn(LlamaContextSequence.prototype, 'evaluate').mockImplementation(async function* (this: LlamaContextSequence) {
    for (let piece = pieces.shift(); piece !== undefined; piece = pieces.shift()) yield* this.model.tokenize(piece);
    const end = this.model.tokens.eot ?? this.model.tokens.eos;
    if (end !== null) yield end;
  });
  const parts: AnswerPart[] = [];
  engine.on((event) => void (event.type === 'part' && parts.push(event.part)));
  const outcome = unwrap(await engine.generate(requestOf('Weather?', { tools: { tools, choice: 'auto', parallel } })));
  await engine.close();
  const calls = new Map<string, { name: string; index: number; text: string }>();
  for (const part of parts) {
    if (part.kind !== 'tool_call') continue;
    const { id, name, index } = part;
    calls.set(id, { name, index, text: (calls.get(id)?.text ?? '') + part.text });
  }
  const textOf = (kind: string) => parts.map((part) => (part.kind === kind ? part.text : '')).join('');
  return { calls: [...calls.values()], text: textOf('text'), thought: textOf('thought'), outcome };
}

it('a model that calls by itself: text before it, arguments in pieces, the end says so', async () => {
  const script = ['Let me see.\n', opening, 'get_weather\n', ...oslo];
  const { calls, text, outcome } = await callsOf('qwen', script, false);
  expect(text.trim()).toBe('Let me see.');
  expect(calls).toEqual([{ name: 'get_weather', index: 0, text: '{"city": "Oslo"}' }]);
  expect(outcome.stopReason).toBe('tool_calls');
});

it('thinking stays apart from a call', async () => {
  const script = ['<think>\nWeather, so.\n</think>\n\n', opening, 'get_weather\n', ...oslo];
  const { calls, thought, outcome } = await callsOf('qwen', script, false);
  expect(thought.trim()).toBe('Weather, so.');
  expect(calls).toEqual([{ name: 'get_weather', index: 0, text: '{"city": "Oslo"}' }]);
  expect(outcome.stopReason).toBe('tool_calls');
});

it('several calls have their own index and id, and a tool without parameters gets an empty object', async () => {
  // What is no end of the calls begins the next one: the format's own opening is put in then.
  const script = [opening, 'get_weather\n', ...oslo, '\n', 'now\n'];
  const { calls, outcome } = await callsOf('qwen', script, true);
  expect(calls).toEqual([
    { name: 'get_weather', index: 0, text: '{"city": "Oslo"}' },
    { name: 'now', index: 1, text: '{}' },
  ]);
  expect(outcome.stopReason).toBe('tool_calls');
});
