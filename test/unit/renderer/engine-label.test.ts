import { expect, it } from 'vitest';
import type { EngineStatus, SleepStatus } from '../../../src/main/contract/index.ts';
import { engineLabel } from '../../../src/renderer/features/chat/engine-label.ts';

const resting = (sleep: SleepStatus | null): EngineStatus => ({
  state: 'ready',
  since: 0,
  model: null,
  loadProgress: null,
  prefill: null,
  tokensPerSecond: null,
  pool: null,
  sleep,
  gpu: null,
  placement: null,
  waiting: 0,
  error: null,
});

it.each([
  [null, 'Ready', 'sleep claimed without a pool to look at'],
  [{ step: 'spinning', since: 0, cores: 0.01 }, 'Falling asleep', 'asleep while workers spin'],
  [{ step: 'asleep', since: 0, cores: null }, 'Asleep', 'a figure before it was measured'],
  [{ step: 'asleep', since: 0, cores: 0.0000865 }, 'Asleep · 0.00 cores', 'the measured figure missing'],
  [{ step: 'asleep', since: 0, cores: 0.987 }, 'Asleep · 0.99 cores', 'a hard-coded 0.00'],
] satisfies [SleepStatus | null, string, string][])('%o -> %s (else: %s)', (sleep, label, _mistake) => {
  expect(engineLabel(resting(sleep))).toBe(label);
});

it.each([
  ['hibernated', 'empty', 'Hibernated', 'a model that comes back by itself shown as no model'],
  ['waking', 'loading', 'Waking… 2.1 s', 'a wake shown as somebody loading a model'],
  ['waking', 'generating', 'Generating', 'a step that is older than the state'],
  ['light', 'ready', 'Asleep · 0.00 cores', 'a step that the state tells better'],
] as const)('%s while %s -> %s (bug: %s)', (step, state, label, _mistake) => {
  const status = { ...resting({ step: 'asleep', since: 0, cores: 0 }), state };
  const ladder = { step, since: 1000, wokeInMs: null, idleUnloadMinutes: 30 };
  expect(engineLabel(status, ladder, 3100)).toBe(label);
});
