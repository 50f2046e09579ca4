import { fail, ok, type Result } from '../contract/index.ts';
import type { JsonSchema } from './engine.ts';
import {
  commonRules,
  integersBetween,
  largestInteger,
  listOf,
  literal,
  longestInteger,
  longestNumber,
  numbersBetween,
  stringFormats,
  stringOf,
} from './json-grammar-parts.ts';
import { alternativesExclude, UnsupportedSchema, typesOf, type SchemaObject } from './json-schema-keywords.ts';

/** A rule of the grammar and the most characters it can make. */
type Rule = { readonly name: string; readonly longest: number };

/** What is not bounded by the schema itself gets these bounds, so that a weak model comes to an end. */
type Bounds = { readonly text: number; readonly items: number; readonly depth: number };

/** From generous to tight; the first one whose longest answer fits is taken, else the last. */
const bounds: readonly Bounds[] = [
  { text: 8192, items: 128, depth: 6 },
  { text: 4096, items: 64, depth: 6 },
  { text: 2048, items: 64, depth: 6 },
  { text: 1024, items: 32, depth: 5 },
  { text: 512, items: 16, depth: 5 },
  { text: 256, items: 16, depth: 4 },
  { text: 128, items: 8, depth: 3 },
  { text: 64, items: 8, depth: 2 },
  { text: 32, items: 4, depth: 2 },
  { text: 16, items: 3, depth: 1 },
];

/** Largest schema that is compiled: values in it, how deep they lie, and characters of the grammar. */
const mostNodes = 5000;
const deepest = 48;
const longestGrammar = 400_000;
const mostRepeats = 60_000;
/** Most items or characters that a schema may demand. */
const mostDemanded = 4096;
/** In a small context every character may cost a token; elsewhere a token has two and more. */
const smallRoom = 4096;

/**
 * Makes a grammar, in llama.cpp's GBNF, that lets through only JSON which `schema` allows, and of bounded length.
 * Not everything that the schema allows: spaces only after colons and commas, no properties beyond the named ones.
 * @param room tokens that the answer may have.
 * @returns `schema_unsupported` for what no such grammar can promise: recursion, patterns, unknown references.
 */
export function jsonSchemaGrammar(schema: JsonSchema, room: number): Result<string> {
  const budget = room < smallRoom ? room : room * 2;
  try {
    let compiled: SchemaCompiler | null = null;
    for (const limit of bounds) {
      compiled = new SchemaCompiler(schema, limit);
      if (compiled.longest <= budget) break;
    }
    return ok(compiled?.grammar() ?? '');
  } catch (error) {
    if (!(error instanceof UnsupportedSchema)) throw error;
    return fail('schema_unsupported', `The JSON schema cannot be held: ${error.message}.`, 'Simplify the schema.');
  }
}

class SchemaCompiler {
  readonly longest: number;
  readonly #root: JsonSchema;
  readonly #bounds: Bounds;
  readonly #rules: string[] = [...commonRules];
  readonly #strings = new Map<string, Rule>();
  readonly #references = new Map<string, Rule>();
  readonly #open = new Set<string>();
  #nodes = 0;
  #size = 0;
  #repeats = 0;

  constructor(root: JsonSchema, limits: Bounds) {
    this.#root = root;
    this.#bounds = limits;
    const { name, longest } = this.#compile(root, 0);
    this.longest = longest;
    this.#rules.push(`root ::= ${name}`);
  }

  grammar(): string {
    return this.#rules.join('\n');
  }

  #compile(schema: unknown, depth: number): Rule {
    if (++this.#nodes > mostNodes) throw new UnsupportedSchema(`it has more than ${mostNodes} parts`);
    if (depth > deepest) throw new UnsupportedSchema(`it is deeper than ${deepest} levels`);
    if (schema === true) return this.#any(this.#bounds.depth);
    if (schema === false) throw new UnsupportedSchema('a part of it allows nothing (false)');
    if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) {
      throw new UnsupportedSchema('a part of it is neither an object nor true or false');
    }
    return this.#compileObject(schema as SchemaObject, depth);
  }

  #compileObject(schema: SchemaObject, depth: number): Rule {
    const form = typesOf(schema);
    switch (form.kind) {
      case 'reference':
        return this.#reference(form.reference, depth);
      case 'only':
        return this.#compile(form.schema, depth + 1);
      case 'alternatives':
        if (form.exclusive) alternativesExclude(form.schemas, (reference) => this.#resolve(reference));
        return this.#choice(form.schemas.map((one) => this.#compile(one, depth + 1)));
      case 'values': {
        const texts = form.values.map((value) => JSON.stringify(value));
        const longest = Math.max(...texts.map((text) => text.length));
        return this.#rule(texts.map(literal).join(' | '), longest);
      }
      case 'types':
        return this.#choice(form.types.map((type) => this.#typed(type, schema, depth)));
    }
  }

  #typed(type: string, schema: SchemaObject, depth: number): Rule {
    switch (type) {
      case 'null':
        return this.#rule('"null"', 4);
      case 'boolean':
        return this.#rule('"true" | "false"', 5);
      case 'integer':
      case 'number':
        return this.#number(schema, type === 'integer');
      case 'string':
        return this.#string(schema);
      case 'array':
        return this.#array(schema, depth);
      case 'object':
        return this.#object(schema, depth);
      case 'any':
        return this.#any(this.#bounds.depth);
      default:
        throw new UnsupportedSchema(`the type ${JSON.stringify(type)} is not known`);
    }
  }

  #number(schema: SchemaObject, integer: boolean): Rule {
    const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
    const isOpen = [minimum, maximum, exclusiveMinimum, exclusiveMaximum].every((limit) => limit === undefined);
    if (isOpen) return { name: integer ? 'integer' : 'number', longest: integer ? longestInteger : longestNumber };
    const floor = [limitOf(minimum, 'minimum'), limitOf(exclusiveMinimum, 'exclusiveMinimum')] as const;
    const ceiling = [limitOf(maximum, 'maximum'), limitOf(exclusiveMaximum, 'exclusiveMaximum')] as const;
    const bound = largestInteger;
    const low = Math.max(-bound, Math.ceil(floor[0] ?? -bound), Math.floor(floor[1] ?? -bound - 1) + 1);
    const high = Math.min(bound, Math.floor(ceiling[0] ?? bound), Math.ceil(ceiling[1] ?? bound + 1) - 1);
    const around = [
      Math.max(-bound, Math.ceil(Math.max(floor[0] ?? -bound, floor[1] ?? -bound))),
      Math.min(bound, Math.floor(Math.min(ceiling[0] ?? bound, ceiling[1] ?? bound))),
    ] as const;
    const made = integer ? integersBetween(low, high) : numbersBetween([low, high], around);
    if (made === null) throw new UnsupportedSchema('a range in it holds no number that can be promised');
    return this.#rule(made, longestNumber);
  }

  #string(schema: SchemaObject): Rule {
    const format = typeof schema['format'] === 'string' ? stringFormats[schema['format']] : undefined;
    const bare = schema['minLength'] === undefined && schema['maxLength'] === undefined;
    if (format !== undefined && bare) return this.#rule(`"\\"" ${format.piece} "\\""`, format.longest + 2);
    return this.#text(schema['minLength'], schema['maxLength']);
  }

  #text(least?: unknown, most?: unknown): Rule {
    const min = countOf(least, 'minLength') ?? 0;
    const max = Math.min(countOf(most, 'maxLength') ?? Number.POSITIVE_INFINITY, Math.max(min, this.#bounds.text));
    checkRange(min, countOf(most, 'maxLength'), 'minLength');
    const key = `${min},${max}`;
    const rule = this.#strings.get(key) ?? this.#rule(stringOf(min, max), max + 2, Math.min(max, 512));
    this.#strings.set(key, rule);
    return rule;
  }

  #array(schema: SchemaObject, depth: number): Rule {
    const { prefixItems, items, minItems, maxItems, uniqueItems } = schema;
    if (Array.isArray(items)) throw new UnsupportedSchema('items is a list; use prefixItems');
    if (prefixItems !== undefined && !Array.isArray(prefixItems)) throw new UnsupportedSchema('prefixItems is no list');
    const first = (prefixItems ?? []).map((item) => this.#compile(item, depth + 1));
    const min = countOf(minItems, 'minItems') ?? 0;
    const wanted = countOf(maxItems, 'maxItems');
    checkRange(min, wanted, 'minItems');
    if (uniqueItems === true && wanted !== 0 && wanted !== 1) {
      throw new UnsupportedSchema('uniqueItems cannot be promised');
    }
    if (wanted !== null && wanted < first.length) throw new UnsupportedSchema('maxItems is below prefixItems');
    const closed = items === false || (first.length > 0 && items === undefined);
    if (closed && min > first.length) throw new UnsupportedSchema('minItems is above prefixItems');
    const most = closed ? first.length : (wanted ?? Math.max(min, first.length, this.#bounds.items));
    if (most === 0) return this.#rule('"[]"', 2);
    const rest = most - first.length;
    const item = rest > 0 ? this.#compile(items ?? true, depth + 1) : null;
    const longest = 2 + first.reduce((sum, rule) => sum + rule.longest + 2, 0) + rest * ((item?.longest ?? 0) + 2);
    const lead = first.map((rule) => rule.name).join(' "," sp ');
    if (item === null) return this.#rule(`"[" ${lead} "]"`, longest);
    const least = Math.max(0, min - first.length);
    const tail = lead === '' ? listOf(item.name, least, rest) : `("," sp ${item.name}){${least},${rest}}`;
    return this.#rule(`"[" ${lead} ${tail} "]"`, longest, rest);
  }

  #object(schema: SchemaObject, depth: number): Rule {
    const properties = plainObject(schema['properties'], 'properties');
    const required = schema['required'] ?? [];
    if (!Array.isArray(required) || !required.every((name) => typeof name === 'string')) {
      throw new UnsupportedSchema('required is no list of names');
    }
    const extra = schema['additionalProperties'];
    const names = [...new Set([...Object.keys(properties), ...required])];
    const min = countOf(schema['minProperties'], 'minProperties') ?? 0;
    const max = countOf(schema['maxProperties'], 'maxProperties');
    checkRange(min, max, 'minProperties');
    if (names.length === 0) return this.#map(extra, min, max, depth);
    if (required.length < min) throw new UnsupportedSchema('minProperties is above the required properties');
    if (max !== null && required.length > max) throw new UnsupportedSchema('maxProperties is below required');
    // Where not all can be there at once, the optional ones at the end are left out.
    let optional = max === null ? Number.POSITIVE_INFINITY : max - required.length;
    const pairs: { readonly text: string; readonly must: boolean; readonly longest: number }[] = [];
    for (const name of names) {
      const must = required.includes(name);
      if (!must && optional-- <= 0) continue;
      const value = this.#compile(Object.hasOwn(properties, name) ? properties[name] : (extra ?? true), depth + 1);
      const key = JSON.stringify(name);
      pairs.push({ text: `${literal(key)} ":" sp ${value.name}`, must, longest: key.length + value.longest + 4 });
    }
    return this.#pairs(pairs);
  }

  /** Pairs in this order, each at most once, commas only between those that are there. */
  #pairs(pairs: readonly { readonly text: string; readonly must: boolean; readonly longest: number }[]): Rule {
    let afterSome = '';
    let afterNone = '';
    for (const { text, must } of pairs.toReversed()) {
      const some = `"," sp ${text} ${afterSome}`;
      const none = `${text} ${afterSome}`;
      const nextSome = this.#rule(must ? some : `(${some}) | ${afterSome || '""'}`, 0).name;
      afterNone = this.#rule(must ? none : `(${none}) | ${afterNone || '""'}`, 0).name;
      afterSome = nextSome;
    }
    const longest = 2 + pairs.reduce((sum, pair) => sum + pair.longest, 0);
    return this.#rule(`"{" ${afterNone} "}"`, longest);
  }

  /** An object whose keys are not named. */
  #map(extra: unknown, min: number, max: number | null, depth: number): Rule {
    const most = extra === false ? 0 : Math.min(max ?? Number.POSITIVE_INFINITY, Math.max(min, this.#bounds.items));
    if (most < min) throw new UnsupportedSchema('minProperties demands properties that are not allowed');
    // Keys of their own cannot be told apart in a grammar: two may be the same.
    if (min > 1) throw new UnsupportedSchema('minProperties without named properties cannot be promised');
    if (most === 0) return this.#rule('"{}"', 2);
    const open = extra === undefined || extra === true;
    const value = open ? this.#any(this.#bounds.depth - 1) : this.#compile(extra, depth + 1);
    const key = this.#key();
    const pair = this.#rule(`${key.name} ":" sp ${value.name}`, key.longest + value.longest + 2);
    const longest = open ? this.#looseLength() : 2 + most * (pair.longest + 2);
    return this.#rule(`"{" ${listOf(pair.name, min, most)} "}"`, longest, most);
  }

  #key(): Rule {
    const longest = Math.min(64, this.#bounds.text);
    return this.#text(1, longest);
  }

  /** Any JSON value, so and so deep. */
  #any(depth: number): Rule {
    const known = this.#strings.get(`any${depth}`);
    if (known !== undefined) return known;
    const plain = `${this.#text().name} | number | "true" | "false" | "null"`;
    const rule = depth <= 0 ? this.#rule(plain, this.#looseLength()) : this.#nested(plain, depth);
    this.#strings.set(`any${depth}`, rule);
    return rule;
  }

  #nested(plain: string, depth: number): Rule {
    const inner = this.#any(depth - 1).name;
    const { items } = this.#bounds;
    const pair = this.#rule(`${this.#key().name} ":" sp ${inner}`, 0).name;
    const [list, map] = [listOf(inner, 0, items), listOf(pair, 0, items)];
    return this.#rule(`${plain} | "[" ${list} "]" | "{" ${map} "}"`, this.#looseLength(), 2 * items);
  }

  /** What is free in form can get longer than anybody writes: counted as a few texts. */
  #looseLength(): number {
    return 8 * this.#bounds.text;
  }

  #reference(reference: string, depth: number): Rule {
    const known = this.#references.get(reference);
    if (known !== undefined) return known;
    if (this.#open.has(reference)) throw new UnsupportedSchema(`it refers to itself (${reference})`);
    this.#open.add(reference);
    const rule = this.#compile(this.#resolve(reference), depth + 1);
    this.#open.delete(reference);
    this.#references.set(reference, rule);
    return rule;
  }

  #resolve(reference: string): unknown {
    if (reference === '#') throw new UnsupportedSchema('it refers to itself (#)');
    if (!reference.startsWith('#/')) throw new UnsupportedSchema(`the reference ${reference} leads out of it`);
    let at: unknown = this.#root;
    for (const step of reference.slice(2).split('/')) {
      const key = decodeStep(step);
      if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) {
        throw new UnsupportedSchema(`the reference ${reference} leads nowhere`);
      }
      at = (at as Record<string, unknown>)[key];
    }
    return at;
  }

  #choice(rules: readonly Rule[]): Rule {
    const [first] = rules;
    if (first === undefined) throw new UnsupportedSchema('a choice in it is empty');
    if (rules.length === 1) return first;
    const names = [...new Set(rules.map((rule) => rule.name))];
    return this.#rule(names.join(' | '), Math.max(...rules.map((rule) => rule.longest)));
  }

  /** @param repeats how many times llama.cpp writes something out for it. */
  #rule(text: string, longest: number, repeats = 0): Rule {
    this.#size += text.length;
    this.#repeats += repeats;
    if (this.#size > longestGrammar || this.#repeats > mostRepeats) throw new UnsupportedSchema('it is too large');
    const name = `r${this.#rules.length}`;
    this.#rules.push(`${name} ::= ${text}`);
    return { name, longest };
  }
}

function decodeStep(step: string): string {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    throw new UnsupportedSchema('a reference in it is not valid');
  }
}

function plainObject(value: unknown, name: string): Readonly<Record<string, unknown>> {
  if (value === undefined) return {};
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new UnsupportedSchema(`${name} is no object`);
}

function countOf(value: unknown, name: string): number | null {
  if (value === undefined) return null;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value;
  throw new UnsupportedSchema(`${name} is no whole number from 0`);
}

function checkRange(min: number, max: number | null, name: string): void {
  if (max !== null && max < min) throw new UnsupportedSchema(`${name} is above its maximum`);
  if (min > mostDemanded) throw new UnsupportedSchema(`${name} is above ${mostDemanded}`);
}

function limitOf(value: unknown, name: string): number | null {
  if (value === undefined) return null;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw new UnsupportedSchema(`${name} is no number`);
}
