// The words of a definition: every string a model reads, with its path. Types, limits and required lists aren't
// words, because honest releases change them all the time.
import { createHash } from 'node:crypto';
import { isObject } from '../../base/object.ts';

export type Words = readonly (readonly [path: string, text: string])[];

/** Members of an item that no model reads, or that count as rights. */
const NOT_READ = new Set(['_meta', 'icons', 'execution']);
const SCHEMAS = new Set(['inputSchema', 'outputSchema']);
/** Schema keywords that hold schemas by name. */
const NAMED = new Set([
  'properties',
  'patternProperties',
  'dependentSchemas',
  '$defs',
  'definitions',
]);
/** Schema keywords whose values a model may have to send, so numbers count as well. */
const VALUES = new Set(['enum', 'const', 'default', 'examples', 'dependentRequired']);
/** Other keywords. An unknown one is itself a word: it can be any sentence. */
const KEYWORDS = new Set(
  [
    [
      '$schema',
      '$id',
      '$ref',
      '$anchor',
      '$dynamicRef',
      '$dynamicAnchor',
      '$comment',
      '$vocabulary',
    ],
    ['type', 'title', 'description', 'required', 'format', 'pattern', 'nullable', 'deprecated'],
    ['readOnly', 'writeOnly', 'contentEncoding', 'contentMediaType', 'contentSchema'],
    ['items', 'prefixItems', 'additionalItems', 'unevaluatedItems', 'contains', 'uniqueItems'],
    ['minItems', 'maxItems', 'minContains', 'maxContains', 'propertyNames', 'minProperties'],
    ['maxProperties', 'additionalProperties', 'unevaluatedProperties', 'dependencies'],
    ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minLength'],
    ['maxLength', 'anyOf', 'oneOf', 'allOf', 'not', 'if', 'then', 'else', 'discriminator'],
  ].flat(),
);
const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']);
const SCHEMA_ADDRESS = /^https?:\/\/json-schema\.org\/[\w./#-]*$/;

/** The words of a tool or a prompt. */
export function wordsOf(item: Readonly<Record<string, unknown>>): Words {
  const words = new Collector();
  for (const [key, member] of sorted(item)) {
    if (NOT_READ.has(key)) continue;
    if (SCHEMAS.has(key)) words.schema(member, key);
    else if (key === 'annotations') words.prose(member, key);
    else words.values(member, key);
  }
  return words.found;
}

/** The words of a text, such as a server's instructions. */
export function wordsOfText(text: string): Words {
  return [['', text]];
}

export function sha256Of(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}

class Collector {
  readonly found: (readonly [string, string])[] = [];

  schema(value: unknown, path: string): void {
    if (typeof value === 'string') this.#add(path, value);
    else if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) this.schema(item, `${path}.${index}`);
    } else if (isObject(value)) {
      for (const [key, member] of sorted(value)) this.#member(value, key, member, `${path}.${key}`);
    }
  }

  /** Every string, number and name. */
  values(value: unknown, path: string): void {
    if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) this.values(item, `${path}.${index}`);
    } else if (isObject(value)) {
      for (const [key, member] of sorted(value)) {
        this.#add(path, key);
        this.values(member, `${path}.${key}`);
      }
    } else if (value !== undefined) {
      this.#add(path, typeof value === 'string' ? value : JSON.stringify(value));
    }
  }

  /** Strings only: the other annotations are rights. */
  prose(value: unknown, path: string): void {
    for (const [key, member] of sorted(isObject(value) ? value : {})) {
      if (typeof member !== 'boolean') this.values(member, `${path}.${key}`);
    }
  }

  #member(
    schema: Readonly<Record<string, unknown>>,
    key: string,
    member: unknown,
    path: string,
  ): void {
    if (NAMED.has(key) && isObject(member)) {
      for (const [name, inner] of sorted(member)) {
        this.#add(path, name);
        this.schema(inner, `${path}.${name}`);
      }
      return;
    }
    if (VALUES.has(key)) return this.values(member, path);
    if (key === 'type' && isTypes(member)) return;
    if (key === '$schema' && typeof member === 'string' && SCHEMA_ADDRESS.test(member)) return;
    if (key === 'required' && namesProperties(member, schema['properties'])) return;
    if (!KEYWORDS.has(key)) this.#add(path, key);
    this.schema(member, path);
  }

  #add(path: string, text: string): void {
    this.found.push([path, text]);
  }
}

/** The order of members isn't a change. */
function sorted(value: Readonly<Record<string, unknown>>): [string, unknown][] {
  return Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
}

function isTypes(value: unknown): boolean {
  const types: unknown[] = Array.isArray(value) ? value : [value];
  return types.every((type) => typeof type === 'string' && TYPES.has(type));
}

function namesProperties(required: unknown, properties: unknown): boolean {
  if (!Array.isArray(required)) return false;
  const known = isObject(properties) ? properties : {};
  return required.every((name) => typeof name === 'string' && Object.hasOwn(known, name));
}
