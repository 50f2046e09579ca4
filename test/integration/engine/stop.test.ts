import { afterAll, beforeAll, expect, it } from 'vitest';
import { ask, builtinLoad, createEngine, requestOf, unwrap } from '../../support/engine.ts';
import { slowModelPath } from '../../support/gguf.ts';

const engine = createEngine();
beforeAll(async () => void unwrap(await engine.load({ ...builtinLoad, batchSize: 32 })));
afterAll(() => engine.close());

const longPrompt = `${'mouse '.repeat(600)} What is 8 plus 6, please?`;

it('stops between tokens and keeps what there is', async () => {
  const request = requestOf('Tell me a story about a fox');
  let text = '';
  const off = engine.on((event) => {
    if (event.type !== 'part') return;
    text += event.part.text;
    if (text.length > 40) engine.stop(request.id);
  });
  const outcome = unwrap(await engine.generate(request));
  off();
  expect(outcome.stopReason).toBe('stopped');
  expect(text.length).toBeGreaterThan(40);
  expect(text.length).toBeLessThan(80);
});

it('stops in prefill at the next batch, and the sequence goes on where it stood', async () => {
  const request = requestOf(longPrompt);
  const off = engine.on((event) => {
    if (event.type === 'status' && (event.status.prefill?.done ?? 0) > 0) engine.stop(request.id);
    else if (event.type === 'status' && event.status.state === 'prefill') engine.stop(request.id);
  });
  const outcome = unwrap(await engine.generate(request));
  off();
  expect(outcome.stopReason).toBe('stopped');
  expect(outcome.timings.predictedTokens).toBe(0);
  expect(outcome.timings.promptTokensEvaluated).toBeLessThan(outcome.timings.promptTokens / 2);
  const next = await ask(engine, 'What is 8 plus 6, please?');
  expect(next.text).toBe('8 + 6 = 14.');
});

it('keeps the batches that a stopped prefill has evaluated', async () => {
  const fresh = createEngine();
  unwrap(await fresh.load({ ...builtinLoad, builtin: false, path: slowModelPath(), batchSize: 32 }));
  const request = requestOf('mouse '.repeat(3000), { sampling: { temperature: 0, maxTokens: 3 } });
  const off = fresh.on((event) => {
    if (event.type === 'status' && (event.status.prefill?.done ?? 0) > 0) fresh.stop(request.id);
  });
  const stopped = unwrap(await fresh.generate(request));
  off();
  expect(stopped.stopReason).toBe('stopped');
  expect(stopped.timings.promptTokensEvaluated).toBeGreaterThan(0);
  const whole = await ask(fresh, 'mouse '.repeat(3000), { sampling: { temperature: 0, maxTokens: 3 } });
  expect(whole.timings.promptTokensEvaluated).toBe(whole.timings.promptTokens - stopped.timings.promptTokensEvaluated);
  await fresh.close();
});

it('stops while queued without touching the running answer', async () => {
  const first = ask(engine, 'Tell me a story about a fox');
  const queued = requestOf('What is 8 plus 6, please?');
  const second = engine.generate(queued);
  expect(engine.status().waiting).toBe(1);
  expect(engine.stop(queued.id)).toBe(true);
  const [answer, outcome] = [await first, unwrap(await second)];
  expect(answer.outcome.stopReason).toBe('end');
  expect(outcome).toMatchObject({ stopReason: 'stopped', timings: { promptTokensEvaluated: 0, predictedTokens: 0 } });
  expect(engine.status().waiting).toBe(0);
});

it('answers in the order of the requests', async () => {
  const order: number[] = [];
  await Promise.all(
    [1, 2, 3].map(async (index) => {
      await ask(engine, `What is ${index} plus 6, please?`);
      order.push(index);
    }),
  );
  expect(order).toEqual([1, 2, 3]);
});

it('survives a stop at every token of an answer (a half-fed sequence would answer nonsense)', async () => {
  const whole = await ask(engine, 'Could you write a little poem about the moon?');
  for (let parts = 1; parts < 30; parts += 4) {
    const request = requestOf('Could you write a little poem about the moon?');
    let seen = 0;
    const off = engine.on((event) => {
      if (event.type === 'part' && ++seen === parts) engine.stop(request.id);
    });
    expect(unwrap(await engine.generate(request)).stopReason).toBe('stopped');
    off();
    expect((await ask(engine, 'Could you write a little poem about the moon?')).text).toBe(whole.text);
  }
});

it('does not know a generation that has ended', async () => {
  const request = requestOf('What is 8 plus 6, please?');
  unwrap(await engine.generate(request));
  expect(engine.stop(request.id)).toBe(false);
  expect(engine.stop('never')).toBe(false);
});
