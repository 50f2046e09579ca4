import { expect, it } from 'vitest';
import { hideKey } from '../../../scripts/lib/hide-key.mjs';

it.each([
  ['apart', ['--serve', '--api-key', 'k', '--port', '1'], ['--serve', '--port', '1']],
  ['joined', ['--api-key=k', '--serve'], ['--serve']],
])('a key given %s goes to the child as a variable (bug: a key in the process list)', (_name, args, rest) => {
  expect(hideKey(args)).toEqual({ args: rest, env: { DORMOUSE_API_KEY: 'k' } });
});

it.each([
  [['--serve']],
  [['--api-key']],
  [['--api-key', '--serve']],
  [['--api-key=']],
  [['--api-key', 'a', '--api-key', 'b']],
])('%j stays as it is, for the app to say what is wrong (bug: a mistake that nobody is told of)', (args) => {
  expect(hideKey(args)).toEqual({ args, env: {} });
});
