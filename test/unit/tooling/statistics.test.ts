import { expect, it } from 'vitest';
import { quantile, quartiles, spread } from '../../../scripts/lib/statistics.mjs';

it('interpolates quantiles', () => {
  expect(quantile([4, 1, 3, 2], 0.5)).toBe(2.5);
  expect(quantile([7], 0.25)).toBe(7);
  expect(quartiles([1, 2, 3, 4, 5])).toEqual([2, 3, 4]);
});

it('tells how much the same arm differs from run to run', () => {
  expect(spread([10, 10, 10])).toBe(0);
  expect(spread([10, 11, 11])).toBeCloseTo(0.05);
  expect(spread([10])).toBe(0);
});
