/** A part of a JSON schema with its keywords. */
export type SchemaObject = Readonly<Record<string, unknown>>;

/** Why a schema cannot be turned into a grammar; thrown and caught within the compiler. */
export class UnsupportedSchema extends Error {}

/** What decides over a part of a schema. */
export type SchemaForm =
  | { readonly kind: 'reference'; readonly reference: string }
  | { readonly kind: 'only'; readonly schema: unknown }
  | { readonly kind: 'alternatives'; readonly schemas: readonly unknown[]; readonly exclusive: boolean }
  | { readonly kind: 'values'; readonly values: readonly unknown[] }
  | { readonly kind: 'types'; readonly types: readonly string[] };

/** Keywords that demand something which a grammar does not promise. */
const refused = [
  ...['not', 'if', 'then', 'else', 'pattern', 'patternProperties', 'propertyNames', 'contains', 'minContains'],
  ...['maxContains', 'dependencies', 'dependentRequired', 'dependentSchemas', '$dynamicRef', '$recursiveRef'],
];
/** Keywords that say something about the value; all others describe only. */
const asserting = [
  ...['type', 'enum', 'const', 'anyOf', 'oneOf', 'allOf', '$ref', 'properties', 'required', 'additionalProperties'],
  ...['minProperties', 'maxProperties', 'items', 'prefixItems', 'minItems', 'maxItems', 'uniqueItems', 'minLength'],
  ...['maxLength', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'nullable'],
];
const kinds = ['null', 'boolean', 'integer', 'number', 'string', 'array', 'object'];
/** What a part without a type is about, by its keywords. */
const hints: readonly (readonly [string, readonly string[]])[] = [
  ['object', ['properties', 'required', 'additionalProperties', 'minProperties', 'maxProperties']],
  ['array', ['items', 'prefixItems', 'minItems', 'maxItems', 'uniqueItems']],
  ['string', ['minLength', 'maxLength']],
  ['number', ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']],
];

/** Sorts out which keyword decides. @throws UnsupportedSchema where several would have to be held at once. */
export function typesOf(schema: SchemaObject): SchemaForm {
  for (const keyword of refused) {
    if (schema[keyword] !== undefined) throw new UnsupportedSchema(`"${keyword}" cannot be promised`);
  }
  const said = asserting.filter((keyword) => schema[keyword] !== undefined);
  const alone = (keyword: string, beside: readonly string[] = []) => {
    const other = said.find((name) => name !== keyword && !beside.includes(name));
    if (other !== undefined) throw new UnsupportedSchema(`"${keyword}" beside "${other}" cannot be promised`);
  };
  const { $ref, allOf, anyOf, oneOf } = schema;
  if ($ref !== undefined) {
    alone('$ref');
    if (typeof $ref !== 'string') throw new UnsupportedSchema('a reference in it is no text');
    return { kind: 'reference', reference: $ref };
  }
  if (allOf !== undefined) {
    alone('allOf');
    if (!Array.isArray(allOf) || allOf.length !== 1) throw new UnsupportedSchema('"allOf" cannot be promised');
    return { kind: 'only', schema: allOf[0] };
  }
  for (const [keyword, list] of Object.entries({ anyOf, oneOf })) {
    if (list === undefined) continue;
    alone(keyword, schema['type'] === undefined ? [] : ['type']);
    if (!Array.isArray(list) || list.length === 0) throw new UnsupportedSchema(`"${keyword}" is no list`);
    const schemas = list.map((one: unknown) => withType(one, schema['type']));
    return { kind: 'alternatives', schemas, exclusive: keyword === 'oneOf' };
  }
  return valuesOrTypes(schema, said);
}

/** A type beside alternatives counts for those that have none of their own. */
function withType(alternative: unknown, type: unknown): unknown {
  if (type === undefined || typeof alternative !== 'object' || alternative === null) return alternative;
  const own = (alternative as SchemaObject)['type'];
  if (own === undefined && !('$ref' in alternative)) return { ...alternative, type };
  if (own === type) return alternative;
  throw new UnsupportedSchema('a type beside alternatives of other types cannot be promised');
}

function valuesOrTypes(schema: SchemaObject, said: readonly string[]): SchemaForm {
  const types = namedTypes(schema);
  if (schema['const'] !== undefined || schema['enum'] !== undefined) {
    const listed = schema['const'] === undefined ? schema['enum'] : [schema['const']];
    if (!Array.isArray(listed)) throw new UnsupportedSchema('"enum" is no list');
    const other = said.find((keyword) => !['const', 'enum', 'type', 'nullable'].includes(keyword));
    if (other !== undefined) throw new UnsupportedSchema(`"${other}" beside listed values cannot be promised`);
    const values = listed.filter((value) => types === null || types.some((type) => isOfType(value, type)));
    if (values.length === 0) throw new UnsupportedSchema('none of its listed values is allowed');
    return { kind: 'values', values };
  }
  const { multipleOf } = schema;
  const whole = types !== null && types.every((type) => type !== 'number');
  if (multipleOf !== undefined && !(multipleOf === 1 && whole)) throw new UnsupportedSchema('"multipleOf" is not 1');
  if (types !== null) return { kind: 'types', types };
  const about = hints
    .filter(([, keywords]) => keywords.some((keyword) => said.includes(keyword)))
    .map(([type]) => type);
  return { kind: 'types', types: about.length === 0 ? ['any'] : about };
}

function namedTypes(schema: SchemaObject): readonly string[] | null {
  const { type, nullable } = schema;
  if (type === undefined) return null;
  const types: unknown[] = Array.isArray(type) ? type : [type];
  const unknown = types.find((one) => typeof one !== 'string' || !kinds.includes(one));
  if (unknown !== undefined || types.length === 0) throw new UnsupportedSchema('a type in it is not known');
  return [...new Set([...(types as string[]), ...(nullable === true ? ['null'] : [])])];
}

function isOfType(value: unknown, type: string): boolean {
  return type === 'number'
    ? typeof value === 'number'
    : type === 'integer'
      ? Number.isInteger(value)
      : typeName(value) === type;
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/**
 * Whether no value can match two of the alternatives, as `oneOf` demands: they are of different types, or objects that
 * differ in a required constant. @throws UnsupportedSchema where that cannot be seen.
 */
export function alternativesExclude(schemas: readonly unknown[], resolve: (reference: string) => unknown): void {
  const described = schemas.map((schema) => {
    const reference = (schema as SchemaObject | null)?.['$ref'];
    const whole = typeof reference === 'string' ? resolve(reference) : schema;
    return typeof whole === 'object' && whole !== null ? (whole as SchemaObject) : {};
  });
  for (const [index, one] of described.entries()) {
    for (const other of described.slice(index + 1)) {
      if (!differ(one, other)) {
        throw new UnsupportedSchema(
          'alternatives of "oneOf" may overlap; use "anyOf", or tell them apart by a constant',
        );
      }
    }
  }
}

function differ(one: SchemaObject, other: SchemaObject): boolean {
  const [mine, theirs] = [valuesOf(one), valuesOf(other)];
  if (mine !== null && theirs !== null) return !mine.some((value) => theirs.includes(value));
  const [types, otherTypes] = [broadTypes(one, mine), broadTypes(other, theirs)];
  if (types === null || otherTypes === null) return false;
  if (!types.some((type) => otherTypes.includes(type))) return true;
  const shared = types.filter((type) => otherTypes.includes(type));
  return shared.every((type) => type === 'object') && differInConstant(one, other);
}

/** Listed values as JSON texts. */
function valuesOf(schema: SchemaObject): readonly string[] | null {
  if (schema['const'] !== undefined) return [JSON.stringify(schema['const'])];
  return Array.isArray(schema['enum']) ? schema['enum'].map((value) => JSON.stringify(value)) : null;
}

function broadTypes(schema: SchemaObject, values: readonly string[] | null): readonly string[] | null {
  if (values !== null) return values.map((text) => typeName(JSON.parse(text)));
  const types = namedTypes(schema) ?? (schema['properties'] === undefined ? null : ['object']);
  return types === null ? null : types.map((type) => (type === 'integer' ? 'number' : type));
}

function differInConstant(one: SchemaObject, other: SchemaObject): boolean {
  const [mine, theirs] = [requiredConstants(one), requiredConstants(other)];
  return [...mine].some(([name, values]) => theirs.get(name)?.every((value) => !values.includes(value)) === true);
}

function requiredConstants(schema: SchemaObject): ReadonlyMap<string, readonly string[]> {
  const required: unknown = schema['required'];
  const constants = new Map<string, readonly string[]>();
  for (const [name, property] of Object.entries((schema['properties'] ?? {}) as SchemaObject)) {
    const values = typeof property === 'object' && property !== null ? valuesOf(property as SchemaObject) : null;
    if (values !== null && Array.isArray(required) && required.includes(name)) constants.set(name, values);
  }
  return constants;
}
