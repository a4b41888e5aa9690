// Parses a signature and checks it against its schema with a JSON Schema validator: arguments built from the
// signature must be valid, and others must not.
import { Ajv2020 } from 'ajv/dist/2020.js';
import { signatureOf } from '../../src/mcp/signature.ts';
import type { Tool } from '../../src/mcp/tools.ts';

type ReadType =
  | { readonly kind: 'any' | 'never' | 'cut' }
  | { readonly kind: 'plain'; readonly name: string }
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'array'; readonly items: ReadType }
  | { readonly kind: 'tuple'; readonly items: readonly ReadType[] }
  | { readonly kind: 'object'; readonly members: readonly ReadMember[] }
  | { readonly kind: 'union' | 'all'; readonly of: readonly ReadType[] };

interface ReadMember {
  readonly name: string;
  readonly isRequired: boolean;
  readonly type: ReadType;
  readonly default?: unknown;
}

const ANY_NAME = '[key]';
const PLAIN = ['string', 'number', 'integer', 'boolean', 'object', 'any', 'never'];

export function readSignature(text: string): { name: string; takes: ReadType } {
  const reader = new Reader(text);
  const name = reader.name();
  reader.expect('(');
  const takes = reader.parameters();
  reader.expect(')');
  if (!reader.isAtEnd) throw reader.error('the end');
  return { name, takes };
}

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#text.length;
  }

  error(expected: string): Error {
    return new Error(
      `Expected ${expected} at ${this.#at}: ${this.#text.slice(this.#at, this.#at + 40)}`,
    );
  }

  expect(word: string): void {
    if (!this.#skip(word)) throw this.error(word);
  }

  name(): string {
    if (this.#peek('"')) return this.#json() as string;
    if (this.#skip(ANY_NAME)) return ANY_NAME;
    return this.#match(/[\p{L}\p{N}_$][\p{L}\p{N}_$.@/-]*/uy) ?? '';
  }

  parameters(): ReadType {
    if (this.#peek(')')) return { kind: 'object', members: [] };
    if (this.#peek('{') || this.#peek('(')) return this.type();
    return { kind: 'object', members: this.#members() };
  }

  type(): ReadType {
    return this.#joined(' | ', 'union', () => this.#joined(' & ', 'all', () => this.#postfix()));
  }

  #joined(operator: string, kind: 'union' | 'all', read: () => ReadType): ReadType {
    const of = [read()];
    while (this.#skip(operator)) of.push(read());
    const [only] = of;
    return of.length === 1 && only ? only : { kind, of };
  }

  #postfix(): ReadType {
    let type = this.#primary();
    while (this.#skip('[]')) type = { kind: 'array', items: type };
    return type;
  }

  #primary(): ReadType {
    if (this.#skip('{…}') || this.#match(/…(?: \d+ more)?/uy)) return { kind: 'cut' };
    if (this.#skip('(')) {
      const type = this.type();
      this.expect(')');
      return type;
    }
    if (this.#skip('{')) {
      const members = this.#members();
      this.expect('}');
      return { kind: 'object', members };
    }
    if (this.#skip('[')) return this.#tuple();
    for (const name of PLAIN) if (this.#skip(name)) return plain(name);
    return { kind: 'value', value: this.#json() };
  }

  #tuple(): ReadType {
    const items: ReadType[] = [];
    while (!this.#skip(']')) {
      if (items.length > 0) this.expect(', ');
      if (this.#skip('...')) this.type();
      else items.push(this.type());
    }
    return { kind: 'tuple', items };
  }

  #members(): ReadMember[] {
    const members: ReadMember[] = [];
    do {
      if (this.#match(/… \d+ more/uy)) continue;
      const name = this.name();
      const isRequired = !this.#skip('?') && name !== ANY_NAME;
      this.expect(': ');
      const type = this.type();
      const initial = this.#skip(' = ') ? { default: this.#default() } : {};
      members.push({ name, isRequired, type, ...initial });
    } while (this.#skip(', '));
    return members;
  }

  #default(): unknown {
    return this.#skip('…') ? Symbol('cut') : this.#json();
  }

  /** The longest JSON value from here. */
  #json(): unknown {
    const scalar = this.#match(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null/uy);
    if (scalar !== undefined) return JSON.parse(scalar) as unknown;
    for (let end = this.#at + 1; end <= this.#text.length; end++) {
      if (!'}]'.includes(this.#text.charAt(end - 1))) continue;
      try {
        const value: unknown = JSON.parse(this.#text.slice(this.#at, end));
        this.#at = end;
        return value;
      } catch {
        // not complete yet
      }
    }
    throw this.error('JSON');
  }

  #peek(word: string): boolean {
    return this.#text.startsWith(word, this.#at);
  }

  #skip(word: string): boolean {
    const isThere = this.#peek(word);
    if (isThere) this.#at += word.length;
    return isThere;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }
}

function plain(name: string): ReadType {
  if (name === 'object') return { kind: 'object', members: [] };
  if (name === 'any' || name === 'never') return { kind: name };
  return { kind: 'plain', name };
}

/** The ways in which a tool's signature contradicts its schema. */
export function disagreements(tool: Tool): string[] {
  const signature = signatureOf(tool);
  const { name, takes } = readSignature(signature);
  const found: string[] = name === tool.name ? [] : [`its name is ${name}`];
  const schema = withoutConstraints(tool['inputSchema']);
  const validate = new Ajv2020({ strict: false, logger: false, ownProperties: true }).compile(
    schema as object,
  );
  const isValid = (value: unknown): boolean => validate(value);
  const minimal = sample(takes, 0, false);
  if (minimal === CUT) return [...found, 'a required part is cut'];
  if (!isValid(minimal)) found.push(`refused: ${JSON.stringify(minimal)}`);
  for (let variant = 0; variant < 4; variant++) {
    const full = sample(takes, variant, true);
    if (!isValid(full)) found.push(`refused: ${JSON.stringify(full)?.slice(0, 200)}`);
  }
  if (takes.kind === 'object') {
    found.push(...memberDisagreements(takes.members, schema, minimal as object, isValid));
  }
  if (/\{…\}|(?<!\| )…(?! \d+ more)/u.test(signature)) found.push('a part is cut');
  return found;
}

function memberDisagreements(
  members: readonly ReadMember[],
  schema: unknown,
  minimal: object,
  isValid: (value: unknown) => boolean,
): string[] {
  const found: string[] = [];
  const { properties = {} } = (schema ?? {}) as {
    properties?: Record<string, { default?: unknown }>;
  };
  const names = new Set(members.map((member) => member.name));
  for (const name of Object.keys(properties)) {
    if (!names.has(name)) found.push(`${name} is missing`);
  }
  for (const { name, isRequired, type, ...rest } of members) {
    if (name === ANY_NAME) continue;
    const { [name as keyof typeof minimal]: _dropped, ...without } = minimal;
    if (isRequired && isValid(without)) found.push(`${name} is not required`);
    for (const wrong of wrongFor(type)) {
      if (isValid({ ...minimal, [name]: wrong })) {
        found.push(`${name} may be ${JSON.stringify(wrong)}`);
      }
    }
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (JSON.stringify(property?.default) !== JSON.stringify(rest.default)) {
      found.push(`the default of ${name} is ${JSON.stringify(property?.default)}`);
    }
  }
  return found;
}

const CUT = Symbol('cut');

/** A value of the type; the variant chooses among alternatives. */
function sample(type: ReadType, variant: number, isFull: boolean): unknown {
  switch (type.kind) {
    case 'any':
      return 'anything';
    case 'never':
    case 'cut':
      return CUT;
    case 'plain':
      return { string: 'text', number: 1.5, integer: 3, boolean: true }[type.name];
    case 'value':
      return type.value;
    case 'array': {
      const item = isFull ? sample(type.items, variant, isFull) : CUT;
      return item === CUT ? [] : [item];
    }
    case 'tuple':
      return type.items.map((item) => sample(item, variant, isFull));
    case 'object':
      return sampleObject(type.members, variant, isFull);
    case 'union': {
      const samples = type.of.map((one) => sample(one, variant, isFull));
      const usable = samples.filter((value) => value !== CUT);
      return usable.length === 0 ? CUT : usable[variant % usable.length];
    }
    case 'all':
      return Object.assign({}, ...type.of.map((one) => sample(one, variant, isFull)));
  }
}

function sampleObject(members: readonly ReadMember[], variant: number, isFull: boolean): unknown {
  const entries: (readonly [string, unknown])[] = [];
  for (const { name, isRequired, type } of members) {
    if (!isRequired && !isFull) continue;
    const value = sample(type, variant, isFull);
    if (value === CUT && isRequired) return CUT;
    if (value !== CUT) entries.push([name, value]);
  }
  return Object.fromEntries(entries);
}

/** Values the type doesn't accept. */
function wrongFor(type: ReadType): unknown[] {
  const kinds = kindsOf(type);
  if (kinds.has('any') || kinds.has('cut')) return [];
  const wrong: [string, unknown][] = [
    ['string', 'no such value'],
    ['number', 123_456.5],
    ['boolean', false],
    ['null', null],
    ['object', { no: 'such value' }],
    ['array', ['no such value']],
  ];
  return wrong.flatMap(([kind, value]) => (kinds.has(kind) ? [] : [value]));
}

/** The kinds of value the type accepts. Listed values are checked by the list. */
function kindsOf(type: ReadType): Set<string> {
  switch (type.kind) {
    case 'plain':
      return new Set([type.name === 'integer' ? '' : type.name]);
    case 'value':
      return new Set(
        type.value === null ? ['null'] : [typeof type.value === 'boolean' ? 'boolean' : ''],
      );
    case 'tuple':
      return new Set(['array']);
    case 'union':
    case 'all':
      return new Set(type.of.flatMap((one) => [...kindsOf(one)]));
    case 'any':
    case 'never':
    case 'cut':
    case 'array':
    case 'object':
      return new Set([type.kind]);
  }
}

const CONSTRAINTS = new Set(
  `pattern format minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems
  maxItems uniqueItems contains minProperties maxProperties propertyNames not if then else dependentRequired
  dependentSchemas $schema $id`.split(/\s+/),
);

/** A schema without the constraints a signature doesn't show. Property names stay. */
function withoutConstraints(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutConstraints);
  if (typeof schema !== 'object' || schema === null) return schema;
  const entries = Object.entries(schema).flatMap(([key, value]) => {
    if (['properties', '$defs', 'definitions', 'patternProperties'].includes(key)) {
      const named = Object.entries((value ?? {}) as object);
      return [
        [key, Object.fromEntries(named.map(([name, one]) => [name, withoutConstraints(one)]))],
      ];
    }
    if (key === 'enum' && Array.isArray(value) && value.length === 0) return [];
    if (['enum', 'const', 'default', 'required', 'type'].includes(key)) return [[key, value]];
    // Without constraints, several branches can match.
    if (key === 'oneOf') return [['anyOf', withoutConstraints(value)]];
    return CONSTRAINTS.has(key) ? [] : [[key, withoutConstraints(value)]];
  });
  return Object.fromEntries(entries) as unknown;
}
