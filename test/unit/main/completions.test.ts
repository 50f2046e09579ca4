import { expect, it } from 'vitest';
import { defaultFlagValues, ok } from '../../../src/main/contract/index.ts';
import { EngineCompletions } from '../../../src/main/services/completions.ts';
import type { AnsweringEngine } from '../../../src/main/services/request-gate.ts';
import type { CompletionRequest } from '../../../src/main/services/interfaces.ts';
import { noTimings, ScriptedEngine } from '../../support/scripted-engine.ts';

function bench(waiting = 0) {
  const scripted = new ScriptedEngine();
  const engine: AnsweringEngine = Object.assign(scripted, { waiting: () => waiting });
  const models = { known: () => [{ id: 'one', path: '/one.gguf', loaded: true }] };
  const flags = { ...defaultFlagValues, queue: 3 };
  return { engine: scripted, completions: new EngineCompletions({ engine, models, flags, createId: () => 'id' }) };
}

const request: CompletionRequest = {
  prompt: { kind: 'text', text: 'a' },
  ...{ sampling: {}, logitBias: new Map(), stop: [], output: { kind: 'text' }, tools: null, model: 'one' },
};
const never = new AbortController().signal;

it('puts calls together by their index, and hands the path of the model on', async () => {
  const { engine, completions } = bench();
  const running = completions.complete(request, () => undefined, never);
  expect(engine.requests[0]?.modelPath).toBe('/one.gguf');
  const call = { kind: 'tool_call', name: 'n' } as const;
  engine.part('id', { ...call, index: 0, id: 'x', text: '{"a"' });
  engine.part('id', { ...call, index: 1, id: 'y', text: '{}' });
  engine.part('id', { ...call, index: 0, id: 'x', text: ':1}' });
  engine.part('other', { kind: 'text', text: 'not mine' });
  await engine.end('id', ok({ stopReason: 'tool_calls', timings: noTimings }));
  expect(await running).toMatchObject({
    ok: true,
    data: {
      ...{ text: '', end: 'tool_calls' },
      toolCalls: [
        { id: 'x', name: 'n', arguments: '{"a":1}' },
        { id: 'y', name: 'n', arguments: '{}' },
      ],
    },
  });
});

it('refuses what is one too many, and an unknown model (bug: a line that grows without end)', async () => {
  const full = bench(3).completions;
  expect(await full.complete(request, () => undefined, never)).toMatchObject({
    ok: false,
    error: { code: 'queue_full' },
  });
  expect(await full.embed({ inputs: ['a'], model: null }, never)).toMatchObject({ error: { code: 'queue_full' } });
  expect(full.retryAfterSeconds()).toBeGreaterThanOrEqual(1);
  const unknown = await bench().completions.complete({ ...request, model: 'two' }, () => undefined, never);
  expect(unknown).toMatchObject({ ok: false, error: { code: 'model_not_found' } });
});
