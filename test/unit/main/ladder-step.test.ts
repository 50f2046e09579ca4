import { describe, expect, it } from 'vitest';
import {
  ladderStep,
  shouldHibernate,
  untilNextStep,
  type LadderFacts,
} from '../../../src/main/services/ladder-step.ts';

const minute = 60_000;

describe('the step', () => {
  const rest: LadderFacts = {
    ...{ engine: 'ready', sleep: 'asleep', hasModel: true, hibernated: false, waking: false },
    ...{ requests: 0, seen: true, idleMs: 0, idleUnloadMs: 30 * minute },
  };
  const slept = { hasModel: false, hibernated: true, engine: 'empty' } as const;
  it.each<[string, Partial<LadderFacts>, string]>([
    ['an answer is written', { engine: 'generating', sleep: 'computing', requests: 1 }, 'computing'],
    ['a prompt is read without a pool', { engine: 'prefill', sleep: null, requests: 1 }, 'computing'],
    ['the workers’ last chunk is not over yet', { sleep: 'computing' }, 'computing'],
    ['workers spin after work', { sleep: 'spinning' }, 'spinning'],
    ['workers spin although nobody asked for a minute', { sleep: 'spinning', idleMs: 2 * minute }, 'spinning'],
    ['all workers sleep', {}, 'asleep'],
    ['there is no pool', { sleep: null }, 'asleep'],
    ['59 s without a request', { idleMs: minute - 1 }, 'asleep'],
    ['60 s without a request', { idleMs: minute }, 'light'],
    ['no page is seen', { seen: false }, 'light'],
    ['no page is seen, but a request waits', { seen: false, requests: 1 }, 'asleep'],
    ['a model is being loaded', { engine: 'loading', idleMs: 2 * minute }, 'asleep'],
    ['no model was loaded yet', { engine: 'empty', hasModel: false, idleMs: 2 * minute }, 'light'],
    ['a load failed', { engine: 'failed', hasModel: false, idleMs: 2 * minute }, 'light'],
    ['the model is on its way out', { hibernated: true, engine: 'unloading', idleMs: 40 * minute }, 'light'],
    ['a person unloads it', { engine: 'unloading', idleMs: 40 * minute }, 'asleep'],
    ['the model has left memory', slept, 'hibernated'],
    ['it could not be woken', { ...slept, engine: 'failed' }, 'hibernated'],
    ['it comes back', { ...slept, waking: true, engine: 'loading', requests: 1 }, 'waking'],
  ])('%s', (_name, facts, step) => expect(ladderStep({ ...rest, ...facts })).toBe(step));

  it.each<[string, Partial<LadderFacts>, boolean]>([
    ['at the limit', { idleMs: 30 * minute }, true],
    ['at the limit, seen or not', { idleMs: 30 * minute, seen: false }, true],
    ['before the limit', { idleMs: 30 * minute - 1 }, false],
    ['switched off', { idleMs: 1e9, idleUnloadMs: null }, false],
    ['a request waits', { idleMs: 1e9, requests: 1 }, false],
    ['an answer is written', { idleMs: 1e9, engine: 'generating' }, false],
    ['a model is being loaded', { idleMs: 1e9, engine: 'loading' }, false],
    ['nothing is loaded', { idleMs: 1e9, engine: 'empty', hasModel: false }, false],
    ['hibernated already', { idleMs: 1e9, hibernated: true }, false],
  ])('leaves memory only when nobody waits: %s', (_name, facts, expected) =>
    expect(shouldHibernate({ ...rest, ...facts })).toBe(expected),
  );

  it('a timer runs to the next step only, and none where time changes nothing', () => {
    expect(untilNextStep({ ...rest, idleMs: 1000 })).toBe(59_000);
    expect(untilNextStep({ ...rest, idleMs: 2 * minute })).toBe(28 * minute);
    expect(untilNextStep({ ...rest, seen: false })).toBe(30 * minute);
    expect(untilNextStep({ ...rest, idleMs: 2 * minute, idleUnloadMs: null })).toBeNull();
    expect(untilNextStep({ ...rest, ...slept, idleMs: 2 * minute })).toBeNull();
    expect(untilNextStep({ ...rest, requests: 1 })).toBeNull();
  });
});
