import { getLlama, type LlamaGrammar } from 'node-llama-cpp';
import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { jsonSchemaGrammar } from '../../../src/main/engine/json-schema-grammar.ts';
import { unwrap } from '../../support/engine.ts';

/*
 * llama.cpp itself says what a grammar lets through. `_testText` is node-llama-cpp's door to that; it wants the text to be
 * complete.
 */
const llama = await getLlama({ gpu: false, build: 'never' });

async function accepts(schema: object | boolean, room = 100_000): Promise<(text: string) => boolean> {
  const grammar = await llama.createGrammar({ grammar: unwrap(jsonSchemaGrammar(schema as never, room)) });
  return (text) => (grammar as LlamaGrammar & { _testText(text: string): boolean })._testText(text);
}

describe('what a schema lets through', () => {
  const cases: [name: string, schema: object | boolean, good: string[], bad: string[]][] = [
    ['integers', { type: 'integer' }, ['0', '-7', '123456'], ['01', '1.5', '-', '1e3', '-0', '""']],
    [
      'ranges',
      { type: 'integer', minimum: -12, maximum: 105 },
      ['-12', '-1', '0', '9', '99', '105'],
      ['-13', '106', '00', '-0'],
    ],
    ['open ranges', { type: 'integer', exclusiveMinimum: 0, exclusiveMaximum: 3 }, ['1', '2'], ['0', '3', '-1']],
    ['numbers', { type: 'number' }, ['0', '-1.5', '2e-7'], ['.5', '1.', '+1', 'NaN']],
    ['shares', { type: 'number', minimum: 0, maximum: 1 }, ['0', '1', '0.25'], ['1.1', '-0.1', '2']],
    ['prices', { type: 'number', exclusiveMinimum: 0 }, ['0.5', '1', '12.75'], ['0', '-1', '0.0']],
    [
      'strings',
      { type: 'string', minLength: 1, maxLength: 3 },
      ['"a"', '"é🐭\\n"', '"\\""'],
      ['""', '"abcd"', '"\n"', 'a'],
    ],
    ['long strings', { type: 'string', maxLength: 1000 }, [`"${'x'.repeat(600)}"`], [`"${'x'.repeat(1001)}"`]],
    [
      'dates',
      { type: 'string', format: 'date' },
      ['"2026-02-28"', '"2026-12-31"'],
      ['"2026-02-30"', '"2026-13-01"', '"x"'],
    ],
    [
      'times',
      { type: 'string', format: 'date-time' },
      ['"2026-01-02T23:59:59Z"'],
      ['"2026-01-02"', '"2026-01-02T24:00:00Z"'],
    ],
    [
      'lists',
      { type: 'array', items: { type: 'integer' }, minItems: 1, maxItems: 3 },
      ['[1]', '[1, 2, 3]', '[1,2]'],
      ['[]', '[1,2,3,4]', '[1,]', '[ 1]'],
    ],
    [
      'tuples',
      { type: 'array', prefixItems: [{ const: 'a' }, { type: 'null' }], items: { type: 'boolean' }, maxItems: 3 },
      ['["a", null]', '["a", null, true]'],
      ['["a"]', '["a", null, 1]'],
    ],
    ['listed values', { enum: ['x"y', 3, null, { a: [1] }] }, ['"x\\"y"', '3', 'null', '{"a":[1]}'], ['"x"', '4']],
    ['types beside values', { type: 'string', enum: ['a', 1] }, ['"a"'], ['1']],
    ['several types', { type: ['string', 'null'], maxLength: 2 }, ['"ab"', 'null'], ['"abc"', '1']],
    ['anyOf', { anyOf: [{ type: 'boolean' }, { const: 1 }] }, ['true', '1'], ['2']],
    [
      'references',
      {
        $defs: { 'a/b': { type: 'boolean' } },
        type: 'object',
        properties: { x: { $ref: '#/$defs/a~1b' }, y: { $ref: '#/$defs/a~1b' } },
        required: ['x', 'y'],
      },
      ['{"x": true, "y":false}'],
      ['{"x":1,"y":true}', '{"x":true}'],
    ],
    ['nothing inside', { type: 'object', properties: {}, additionalProperties: false }, ['{}'], ['{"a":1}', '{ }']],
    [
      'maps',
      { type: 'object', additionalProperties: { type: 'integer' } },
      ['{}', '{"a": 1, "b": 2}'],
      ['{"a":"b"}', '{"a":1,}'],
    ],
    ['anything', true, ['1', '{"a": [1, {"b": null}]}', '"x"'], ['', '{', 'x']],
    [
      'kinds told apart',
      {
        oneOf: [
          { type: 'object', properties: { k: { const: 'a' } }, required: ['k'] },
          { type: 'object', properties: { k: { const: 'b' }, n: { type: 'integer' } }, required: ['k', 'n'] },
        ],
      },
      ['{"k": "a"}', '{"k": "b", "n": 1}'],
      ['{"k":"b"}', '{"k":"c"}'],
    ],
  ];
  it.each(cases)('%s', async (_name, schema, good, bad) => {
    const matches = await accepts(schema);
    for (const text of good) expect([text, matches(text)]).toEqual([text, true]);
    for (const text of bad) expect([text, matches(text)]).toEqual([text, false]);
  });

  it('optional properties come in any combination, in order, with commas only between (bug: a comma too many)', async () => {
    const properties = { a: { const: 1 }, b: { const: 2 }, c: { const: 3 }, d: { const: 4 } };
    const matches = await accepts({ type: 'object', properties, required: ['b'] });
    for (let bits = 0; bits < 16; bits++) {
      const chosen = Object.entries(properties).filter((_, index) => (bits >> index) & 1);
      const text = JSON.stringify(Object.fromEntries(chosen.map(([name, { const: value }]) => [name, value])));
      expect([text, matches(text)]).toEqual([text, (bits & 2) !== 0]);
    }
    for (const text of ['{,"b":2}', '{"b":2,}', '{"b":2,"a":1}', '{"b":2,"x":1}']) expect(matches(text)).toBe(false);
  });

  it('every integer range holds exactly its integers', async () => {
    const limit = fc.integer({ min: -2000, max: 2000 });
    await fc.assert(
      fc.asyncProperty(limit, limit, async (one, other) => {
        const [minimum, maximum] = [Math.min(one, other), Math.max(one, other)];
        const matches = await accepts({ type: 'integer', minimum, maximum });
        for (const value of [minimum - 1, minimum, (minimum + maximum) >> 1, maximum, maximum + 1, -minimum, 0]) {
          expect([minimum, maximum, value, matches(String(value))]).toEqual([
            ...[minimum, maximum, value, value >= minimum && value <= maximum],
          ]);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('any text stands as a constant and as a property name', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 12 }), async (text) => {
        const value = { [text]: text };
        const matches = await accepts({ const: value });
        expect(matches(JSON.stringify(value))).toBe(true);
        expect(
          (await accepts({ type: 'object', properties: { [text]: { const: 1 } }, required: [text] }))(
            JSON.stringify({ [text]: 1 }),
          ),
        ).toBe(true);
      }),
      { numRuns: 40 },
    );
  });
});

describe('what is refused', () => {
  const loop = {
    $defs: { a: { type: 'array', items: { $ref: '#/$defs/b' } }, b: { anyOf: [{ $ref: '#/$defs/a' }] } },
    $ref: '#/$defs/a',
  };
  const deep = (levels: number): object =>
    levels === 0 ? { type: 'null' } : { type: 'array', items: deep(levels - 1) };
  const refused: [string, unknown][] = [
    ['recursion over two references', loop],
    ['recursion to the root', { type: 'object', properties: { self: { $ref: '#' } } }],
    ['an unknown reference', { $ref: '#/$defs/nothing' }],
    ['a reference to elsewhere', { $ref: 'https://example.com/schema' }],
    ['a pattern', { type: 'string', pattern: '^a' }],
    ['not', { not: { type: 'null' } }],
    ['uniqueItems', { type: 'array', uniqueItems: true }],
    ['overlapping oneOf', { oneOf: [{ type: 'integer' }, { type: 'number' }] }],
    ['no such type', { type: 'text' }],
    ['no schema', { type: 'object', properties: { a: 7 } }],
    ['a list as a schema', []],
    ['an empty enum', { enum: [] }],
    ['impossible lengths', { type: 'string', minLength: 5, maxLength: 2 }],
    ['demands without end', { type: 'array', minItems: 1_000_000 }],
    ['negative lengths', { type: 'string', maxLength: -1 }],
    ['false', { type: 'object', properties: { a: false }, required: ['a'] }],
    ['too deep', deep(60)],
    ['too large', { anyOf: Array.from({ length: 6000 }, () => ({ type: 'string' })) }],
    ['too many values', { enum: Array.from({ length: 50_000 }, (_, index) => `value ${index}`) }],
  ];
  it.each(refused)('%s', (_name, schema) => {
    expect(jsonSchemaGrammar(schema as never, 1000)).toMatchObject({
      ok: false,
      error: { code: 'schema_unsupported' },
    });
  });

  it('references that double at every level stay small (bug: a short schema that makes an endless grammar)', async () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 20 }, (_, level) => {
        const inner = level === 19 ? { const: 1 } : { $ref: `#/$defs/d${level + 1}` };
        return [`d${level}`, { type: 'object', properties: { a: inner, b: inner } }];
      }),
    );
    expect(unwrap(jsonSchemaGrammar({ $defs, $ref: '#/$defs/d0' }, 1000)).length).toBeLessThan(50_000);
    expect((await accepts({ $defs, $ref: '#/$defs/d0' }))('{}')).toBe(true);
  });
});
