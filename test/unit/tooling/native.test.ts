import { expect, it } from 'vitest';
import { explainMissing } from '../../../scripts/lib/native.mjs';

it('says in one sentence what the native build lacks', () => {
  expect(explainMissing(['cmake'])).toMatch(/^The expert pool is not built, as cmake is missing \(.+\)\. .+\.$/);
  expect(explainMissing(['cmake', 'g++', 'make'])).toContain('cmake, a C++ compiler and make are missing');
});
