import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkGgufOutline } from '../../../src/main/engine/gguf-outline.ts';
import { readGgufFacts } from '../../../src/main/engine/llama-gguf.ts';
import { builtinPath } from '../../support/engine.ts';
import { temporaryFolder } from '../../support/temp-folder.ts';

type Part = bigint | number | string;

function header(parts: readonly Part[]): string {
  const bytes = parts.map((part) => {
    if (typeof part === 'string') return Buffer.from(part, 'latin1');
    const number = Buffer.alloc(typeof part === 'bigint' ? 8 : 4);
    if (typeof part === 'bigint') number.writeBigUInt64LE(part);
    else number.writeUInt32LE(part);
    return number;
  });
  const path = join(temporaryFolder(), 'hostile.gguf');
  writeFileSync(path, Buffer.concat([...bytes, Buffer.alloc(64)]));
  return path;
}

describe('hostile headers end in an error value (a wrong length once ended the process)', () => {
  it.each([
    ['a key longer than the file', ['GGUF', 3, 0n, 1n, 3_000_000_000n], /longer than the file/],
    ['a key of 2^63 bytes', ['GGUF', 3, 0n, 1n, 2n ** 63n], /longer than the file/],
    ['2^40 entries', ['GGUF', 3, 0n, 2n ** 40n], /1099511627776 entries/],
    ['2^40 tensors', ['GGUF', 3, 2n ** 40n, 0n], /1099511627776 tensors/],
    ['a list of 2^31 numbers', ['GGUF', 3, 0n, 1n, 1n, 'k', 9, 4, 2n ** 31n], /longer than the file/],
    ['a list of lists', ['GGUF', 3, 0n, 1n, 1n, 'k', 9, 9, 1n], /list of lists/],
    ['a value of an unknown type', ['GGUF', 3, 0n, 1n, 1n, 'k', 77], /unknown type 77/],
    ['a tensor of 99 dimensions', ['GGUF', 3, 1n, 0n, 1n, 't', 99], /99 dimensions/],
  ] satisfies [string, Part[], RegExp][])('%s', async (_name, parts, words) => {
    const result = await readGgufFacts(header(parts));
    expect(result).toMatchObject({ ok: false, error: { code: 'model_truncated' } });
    expect(result.ok ? '' : result.error.message).toMatch(words);
  });

  it('300 copies of the built-in model with damaged headers: an error value or facts, never an exception', async () => {
    const model = readFileSync(builtinPath);
    const path = join(temporaryFolder(), 'mutated.gguf');
    let state = 7;
    const random = (limit: number) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return (state >>> 8) % limit;
    };
    for (let round = 0; round < 300; round++) {
      const copy = Buffer.from(model.subarray(0, 200_000));
      for (let change = 0; change < 1 + random(8); change++)
        copy[random(round % 2 === 0 ? 600 : 100_000)] = random(256);
      writeFileSync(path, copy);
      const result = await readGgufFacts(path);
      expect(result.ok || result.error.message.length > 10).toBe(true);
    }
  });
});

it('finds nothing wrong with sound files', async () => {
  expect(await checkGgufOutline(builtinPath)).toBeNull();
});
