import type { JsonSchema } from './engine.ts';

type Loose = Readonly<Record<string, unknown>>;

/** Deeper and larger than this a tool's parameters are described as any JSON. */
const deepest = 24;
const mostNodes = 4000;
const scalars = ['null', 'boolean', 'integer', 'number', 'string'];
/** Keywords that a description to the model keeps as they are. */
const kept = [...['description', 'minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties']];
/** Any JSON value, in the words of node-llama-cpp's own schema. */
const scalarOnly: Loose = { type: ['string', 'number', 'boolean', 'null'] };

/**
 * A tool's parameters in the small schema that node-llama-cpp's chat wrappers describe to the model, and hold it to when
 * the model calls by itself. What they do not know is left out rather than refused: a model that calls of its own will
 * is told of a tool as well as it can be. References are written out.
 */
export function describedParameters(schema: JsonSchema): Loose {
  if (typeof schema === 'boolean') return { type: 'object', additionalProperties: true };
  const made = new Describer(schema).describe(schema, 0);
  return made['type'] === 'object' || made['oneOf'] !== undefined ? made : { type: 'object', properties: {} };
}

class Describer {
  readonly #root: Loose;
  #nodes = 0;

  constructor(root: Loose) {
    this.#root = root;
  }

  describe(schema: unknown, depth: number): Loose {
    this.#nodes += 1;
    if (depth > deepest || this.#nodes > mostNodes || !isObject(schema)) return scalarOnly;
    const note = typeof schema['description'] === 'string' ? { description: schema['description'] } : {};
    if (typeof schema['$ref'] === 'string')
      return { ...this.describe(this.#target(schema['$ref']), depth + 1), ...note };
    const alternatives = schema['anyOf'] ?? schema['oneOf'];
    if (Array.isArray(alternatives) && alternatives.length > 0) {
      return { oneOf: alternatives.map((one: unknown) => this.describe(one, depth + 1)), ...note };
    }
    const all = schema['allOf'];
    if (Array.isArray(all) && all.length === 1) return { ...this.describe(all[0], depth + 1), ...note };
    if (isScalar(schema['const'])) return { const: schema['const'], ...note };
    if (Array.isArray(schema['enum'])) {
      const values = schema['enum'].filter(isScalar);
      if (values.length > 0) return { enum: values, ...note };
    }
    return this.#typed(schema, depth);
  }

  #typed(schema: Loose, depth: number): Loose {
    const type = schema['type'] ?? (schema['properties'] === undefined ? undefined : 'object');
    const keep = Object.fromEntries(Object.entries(schema).filter(([keyword]) => kept.includes(keyword)));
    if (Array.isArray(type)) {
      const types = type.filter((one): one is string => typeof one === 'string');
      if (types.length > 0 && types.every((one) => scalars.includes(one))) return { ...keepNote(keep), type: types };
      return { oneOf: types.map((one) => this.#typed({ ...schema, type: one }, depth + 1)) };
    }
    if (type === 'object') return { ...keep, type, ...this.#objectParts(schema, depth) };
    if (type === 'array') {
      const items = isObject(schema['items']) ? this.describe(schema['items'], depth + 1) : scalarOnly;
      return { ...keep, type, items };
    }
    return typeof type === 'string' && scalars.includes(type)
      ? { ...keep, type }
      : { ...keepNote(keep), ...scalarOnly };
  }

  #objectParts(schema: Loose, depth: number): Loose {
    const properties = isObject(schema['properties']) ? schema['properties'] : {};
    const described = Object.entries(properties).map(([name, one]) => [name, this.describe(one, depth + 1)] as const);
    const extra = schema['additionalProperties'];
    const free = described.length === 0 && (extra === undefined || extra === true);
    // Read by the model where its template shows the schema; the grammar asks for all properties anyway.
    const required = Array.isArray(schema['required']) ? { required: schema['required'] } : {};
    return {
      properties: Object.fromEntries(described),
      ...(isObject(extra)
        ? { additionalProperties: this.describe(extra, depth + 1) }
        : free
          ? { additionalProperties: true }
          : {}),
      ...(described.length === 0 ? {} : required),
    };
  }

  #target(reference: string): unknown {
    if (!reference.startsWith('#/')) return null;
    let at: unknown = this.#root;
    for (const step of reference.slice(2).split('/')) {
      const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
      at = isObject(at) && Object.hasOwn(at, key) ? at[key] : null;
    }
    return at;
  }
}

function keepNote(keep: Loose): Loose {
  return keep['description'] === undefined ? {} : { description: keep['description'] };
}

function isObject(value: unknown): value is Loose {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isScalar(value: unknown): value is string | number | boolean | null {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}
