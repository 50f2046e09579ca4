import { expect, test } from 'vitest';
import { makePlan, readArguments } from '../../../scripts/lib/bench/plan.mjs';
import { makeRows, verdictOf } from '../../../scripts/lib/bench/rows.mjs';

type Run = { round: number; place: number; arm: string; values: Record<string, number> };

/** One round per list, one load per arm. */
function runs(loads: readonly (readonly number[])[]): Run[] {
  const arms = ['stock', '20ms', 'always', 'stock'];
  return loads.flatMap((values, round) =>
    values.map((load, place) => ({ round, place, arm: arms[place] ?? '', values: { load } })),
  );
}

function loadRow(loads: readonly (readonly number[])[]) {
  return makeRows('q4_k', runs(loads), [])[0]!;
}

test('an arm is compared with the stock run of its round that is nearest in time', () => {
  const row = loadRow([[1, 2, 8, 4]]);
  expect(row.ratio['20ms/stock']).toBe(2);
  expect(row.ratio['always/stock']).toBe(2);
  expect(row.ratio['always/20ms']).toBe(4);
});

test('a difference within the A/A spread is no result, and neither is one of a few pairs', () => {
  const steady = [1, 2, 2, 1];
  const noisy = [1, 2, 2, 3];
  expect(verdictOf(loadRow([steady, steady, steady]), '20ms/stock')).toBe('more');
  expect(verdictOf(loadRow([noisy, noisy, noisy]), '20ms/stock')).toMatch('within the A/A spread');
  expect(verdictOf(loadRow([steady, steady]), '20ms/stock')).toMatch('too few pairs');
  expect(
    verdictOf(
      loadRow([
        [1, 0.5, 1, 1],
        [1, 4, 1, 1],
        [1, 4, 1, 1],
        [1, 0.5, 1, 1],
      ]),
      '20ms/stock',
    ),
  ).toMatch('both sides');
});

test('half and twice are equally far from the same', () => {
  expect(loadRow([[1, 1, 1, 2]]).aa).toBe(1);
  expect(loadRow([[2, 1, 1, 1]]).aa).toBe(1);
});

test('rows beyond the context are there, as not applicable', () => {
  const rows = makeRows('builtin', runs([[1, 1, 1, 1]]), ['prefill']);
  expect(rows.find(({ row }) => row === 'prefill')).toMatchObject({ arms: {}, note: 'n/a: beyond the context' });
});

test('every row takes at least nine rounds in the full run, and chosen rows only are run', () => {
  for (const { rounds } of makePlan(readArguments(['--full'])).models) {
    for (const [task, times] of Object.entries(rounds)) expect(times, task).toBe(task === 'output' ? 1 : 9);
  }
  const plan = makePlan(readArguments(['--rows', 'load,decode', '--models', 'q4_k', '--pairs', '5']));
  expect(plan.models.map(({ rounds }) => rounds)).toEqual([{ load: 5, decode: 5 }]);
  expect(() => readArguments(['--rows', 'lod'])).toThrow('"lod" is none of');
  expect(() => readArguments(['--pairs', '0'])).toThrow('whole number');
  expect(() => readArguments(['--help-me'])).toThrow('unknown');
});
