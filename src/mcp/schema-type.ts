// Reduces a JSON Schema to a small type tree: references are resolved, different spellings of the same type are
// unified, and constraints such as `minLength` are dropped. Schemas are untrusted, so the work is bounded.
import { isObject } from '../base/object.ts';

export type Type =
  | { readonly kind: 'any' | 'never' }
  | { readonly kind: 'plain'; readonly name: PlainName }
  | { readonly kind: 'literals'; readonly values: readonly unknown[] }
  | { readonly kind: 'array'; readonly items: Type }
  | { readonly kind: 'tuple'; readonly items: readonly Type[]; readonly rest: Type | undefined }
  | ObjectType
  | { readonly kind: 'union' | 'all'; readonly of: readonly Type[] }
  /** Not read any further: recursive, or too large. */
  | { readonly kind: 'cut' };

type PlainName = 'string' | 'number' | 'integer' | 'boolean' | 'null';

export interface ObjectType {
  readonly kind: 'object';
  /** Required members first. */
  readonly members: readonly Member[];
  /** The type of members with any other name, if the schema gives one. */
  readonly others: Type | undefined;
}

export interface Member {
  readonly name: string;
  readonly type: Type;
  readonly isRequired: boolean;
  /** Undefined if there is none (JSON has no undefined). */
  readonly default: unknown;
}

const ANY: Type = { kind: 'any' };
const NEVER: Type = { kind: 'never' };
const CUT: Type = { kind: 'cut' };
const NULL: Type = { kind: 'plain', name: 'null' };

const PLAIN = new Set<unknown>(['string', 'number', 'integer', 'boolean', 'null']);
const OBJECT_KEYS = ['properties', 'additionalProperties', 'patternProperties'];
const ARRAY_KEYS = ['items', 'prefixItems'];

/** References can multiply: a small schema may expand to millions of subschemas. */
const MOST_SCHEMAS = 4_000;

export function typeOfSchema(schema: unknown): Type {
  return new SchemaReader(schema).read(schema);
}

class SchemaReader {
  readonly #root: unknown;
  /** The schemas being read, outermost first: meeting one again means recursion. */
  readonly #above = new Set<object>();
  #left = MOST_SCHEMAS;

  constructor(root: unknown) {
    this.#root = root;
  }

  read(schema: unknown): Type {
    if (schema === false) return NEVER;
    if (!isObject(schema)) return ANY;
    if (this.#left-- <= 0 || this.#above.has(schema)) return CUT;
    this.#above.add(schema);
    try {
      const type = intersection(this.#readParts(schema));
      return schema['nullable'] === true ? union([type, NULL]) : type;
    } finally {
      this.#above.delete(schema);
    }
  }

  /** All of these must hold. */
  #readParts(schema: Schema): Type[] {
    const { $ref, anyOf, oneOf, allOf } = schema;
    const parts: Type[] = [];
    if (typeof $ref === 'string') parts.push(this.read(this.#resolve($ref)));
    parts.push(this.#readOwn(schema));
    for (const choice of [anyOf, oneOf]) {
      if (Array.isArray(choice) && choice.length > 0) {
        parts.push(union(choice.map((one) => this.read(one))));
      }
    }
    if (Array.isArray(allOf)) parts.push(...allOf.map((one) => this.read(one)));
    return parts;
  }

  #readOwn(schema: Schema): Type {
    if (Object.hasOwn(schema, 'const')) return { kind: 'literals', values: [schema['const']] };
    const { type, enum: values } = schema;
    // An empty enum would accept nothing: in practice it is a generator's mistake.
    if (Array.isArray(values) && values.length > 0) return literals(values);
    if (Array.isArray(type)) return union(type.map((name) => this.#readNamed(name, schema)));
    if (type !== undefined) return this.#readNamed(type, schema);
    const has = (keys: readonly string[]) => keys.some((key) => Object.hasOwn(schema, key));
    if (has(OBJECT_KEYS)) return this.#readObject(schema);
    return has(ARRAY_KEYS) ? this.#readArray(schema) : ANY;
  }

  #readNamed(name: unknown, schema: Schema): Type {
    if (name === 'object') return this.#readObject(schema);
    if (name === 'array') return this.#readArray(schema);
    return PLAIN.has(name) ? { kind: 'plain', name: name as PlainName } : ANY;
  }

  #readObject(schema: Schema): ObjectType {
    const { properties, required, additionalProperties, patternProperties } = schema;
    const known = new Map(Object.entries(isObject(properties) ? properties : {}));
    const names = new Set(Array.isArray(required) ? required.filter(isString) : []);
    const optional = [...known.keys()].filter((name) => !names.has(name));
    const members = [...names, ...optional].map((name) => ({
      name,
      type: this.read(known.get(name)),
      isRequired: names.has(name),
      default: this.#defaultOf(known.get(name)),
    }));
    const patterns = isObject(patternProperties) ? Object.values(patternProperties) : [];
    const others = [...patterns, ...(isObject(additionalProperties) ? [additionalProperties] : [])];
    return {
      kind: 'object',
      members,
      others: others.length > 0 ? union(others.map((one) => this.read(one))) : undefined,
    };
  }

  #readArray({ items, prefixItems }: Schema): Type {
    // Before draft 2020-12, tuples were written as `items`.
    const first = Array.isArray(prefixItems) ? prefixItems : items;
    if (!Array.isArray(first)) return { kind: 'array', items: this.read(items) };
    const hasRest = first === prefixItems && isObject(items);
    return {
      kind: 'tuple',
      items: first.map((one) => this.read(one)),
      rest: hasRest ? this.read(items) : undefined,
    };
  }

  /** Its own, or that of the schema it refers to. */
  #defaultOf(schema: unknown): unknown {
    if (!isObject(schema)) return undefined;
    if (Object.hasOwn(schema, 'default')) return schema['default'];
    const { $ref } = schema;
    const target = typeof $ref === 'string' ? this.#resolve($ref) : undefined;
    return isObject(target) && Object.hasOwn(target, 'default') ? target['default'] : undefined;
  }

  /** Resolves JSON pointers within the schema; undefined for anything else. */
  #resolve(ref: string): unknown {
    if (ref === '#') return this.#root;
    if (!ref.startsWith('#/')) return undefined;
    let found: unknown = this.#root;
    for (const token of ref.slice(2).split('/')) {
      const key = unescapeToken(token);
      if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) {
        return undefined;
      }
      found = (found as Schema)[key];
    }
    return found;
  }
}

type Schema = Record<string, unknown>;

function unescapeToken(token: string): string {
  const text = token.replaceAll('~1', '/').replaceAll('~0', '~');
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a stray percent sign
  }
}

function literals(values: readonly unknown[]): Type {
  const unique = new Map(values.map((value) => [JSON.stringify(value), value]));
  return { kind: 'literals', values: [...unique.values()] };
}

function union(types: readonly Type[]): Type {
  const flat = types.flatMap((type) => (type.kind === 'union' ? type.of : [type]));
  if (flat.some(({ kind }) => kind === 'any')) return ANY;
  const values = flat.flatMap((type) => (type.kind === 'literals' ? type.values : []));
  const others = flat.filter(({ kind }) => kind !== 'literals' && kind !== 'never');
  const all = [...(values.length > 0 ? [literals(values)] : []), ...others];
  const unique = [...new Map(all.map((type) => [JSON.stringify(type), type])).values()];
  const [only = NEVER] = unique;
  return unique.length > 1 ? { kind: 'union', of: unique } : only;
}

function intersection(parts: readonly Type[]): Type {
  const said = parts.filter(({ kind }) => kind !== 'any');
  if (said.some(({ kind }) => kind === 'never')) return NEVER;
  // `type: "object"` next to an `anyOf` of objects adds nothing.
  const specific = said.filter((type) => !isVague(type));
  const [first = ANY, ...rest] = specific.length > 0 ? specific : said.slice(0, 1);
  if (rest.length === 0) return first;
  const objects = [first, ...rest].filter((type) => type.kind === 'object');
  const others = [first, ...rest].filter((type) => type.kind !== 'object');
  const merged = objects.length > 0 ? [mergeObjects(objects), ...others] : others;
  const [only = ANY] = merged;
  return merged.length > 1 ? { kind: 'all', of: merged } : only;
}

function isVague(type: Type): boolean {
  if (type.kind === 'plain') return true;
  if (type.kind === 'object') return type.members.length === 0 && type.others === undefined;
  if (type.kind === 'array') return type.items.kind === 'any';
  return type.kind === 'union' && type.of.every(isVague);
}

function mergeObjects(objects: readonly ObjectType[]): ObjectType {
  const members = new Map<string, Member>();
  for (const member of objects.flatMap((object) => object.members)) {
    const before = members.get(member.name);
    members.set(member.name, before ? mergeMembers(before, member) : member);
  }
  const all = [...members.values()];
  return {
    kind: 'object',
    members: [...all.filter((one) => one.isRequired), ...all.filter((one) => !one.isRequired)],
    others: objects.find(({ others }) => others !== undefined)?.others,
  };
}

function mergeMembers(one: Member, other: Member): Member {
  return {
    name: one.name,
    type: intersection([one.type, other.type]),
    isRequired: one.isRequired || other.isRequired,
    default: one.default === undefined ? other.default : one.default,
  };
}

function isString(value: unknown): value is string {
  return typeof value === 'string';
}
