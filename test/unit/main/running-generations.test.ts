import { expect, it } from 'vitest';
import { EngineStateMachine } from '../../../src/main/engine/engine-state.ts';
import { RunningGenerations } from '../../../src/main/engine/running-generations.ts';

it('makes one state of several answers (bug: one that ends shows the engine as ready)', () => {
  const state = new EngineStateMachine(
    () => 0,
    () => undefined,
  );
  state.to('loading');
  state.to('ready');
  let now = 0;
  const running = new RunningGenerations(state, () => now);
  running.begin('a');
  running.begin('b');
  running.prefill('a', 5, 10);
  expect(state.status).toMatchObject({ state: 'prefill', prefill: { done: 5, total: 10 } });
  running.decodes('a');
  expect(state.status.state).toBe('generating');
  running.decodes('b');
  now = 1000;
  running.decoded('a', 10);
  running.decoded('b', 20);
  now = 2000;
  running.decoded('b', 20);
  expect(state.status.tokensPerSecond).toBeCloseTo(25);
  running.begin('c');
  running.end('a');
  running.end('b');
  expect(state.status).toMatchObject({ state: 'prefill', tokensPerSecond: null });
  running.end('c');
  expect(state.status.state).toBe('ready');
});
