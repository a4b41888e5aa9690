// Signatures of tools: required and optional parameters, types, enums, defaults, nesting, references; and
// that whatever is not shown is marked.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { signatureOf } from '../../../src/mcp/signature.ts';
import { disagreements, readSignature } from '../../support/signature.ts';
import { IS_THOROUGH } from '../../support/slow.ts';

const of = (inputSchema: unknown, name = 't') => signatureOf({ name, inputSchema });
const taking = (x: unknown, more: object = {}) =>
  of({ type: 'object', properties: { x }, required: ['x'], ...more });

test('required parameters come first, optional ones have a question mark, defaults a value', () => {
  const schema = {
    type: 'object',
    properties: {
      state: { type: 'string', enum: ['open', 'closed'], default: 'open' },
      title: { type: 'string' },
      labels: { type: 'array', items: { type: 'string' } },
    },
    required: ['title'],
  };
  expect(of(schema, 'create_issue')).toBe(
    'create_issue(title: string, state?: "open" | "closed" = "open", labels?: string[])',
  );
});

test.each([
  [{ type: 'integer' }, 'integer'],
  [{ type: ['string', 'null'] }, 'string | null'],
  [{ type: 'string', nullable: true }, 'string | null'],
  [{ const: 5 }, '5'],
  [{ enum: [1, 'a', null, true] }, '1 | "a" | null | true'],
  [{ type: 'string', enum: [] }, 'string'],
  [{ anyOf: [{ const: 'a' }, { const: 'b' }, { type: 'integer' }] }, '"a" | "b" | integer'],
  [{ oneOf: [{ type: 'string' }, { type: 'string', minLength: 1 }] }, 'string'],
  [{ anyOf: [{ type: 'string' }, {}] }, 'any'],
  [{}, 'any'],
  [true, 'any'],
  [false, 'never'],
  [{ type: 'unheard-of' }, 'any'],
  [{ type: 'array' }, 'any[]'],
  [{ type: 'array', items: { enum: ['a', 'b'] } }, '("a" | "b")[]'],
  [{ type: 'array', items: { type: ['string', 'null'] } }, '(string | null)[]'],
  [{ items: { type: 'array', items: { type: 'number' } } }, 'number[][]'],
  [{ prefixItems: [{ type: 'number' }, { type: 'string' }] }, '[number, string]'],
  [{ type: 'array', items: [{ type: 'number' }] }, '[number]'],
  [{ prefixItems: [{ const: 1 }], items: { enum: ['a', 'b'] } }, '[1, ...("a" | "b")[]]'],
  [{ type: 'object' }, 'object'],
  [{ type: 'object', additionalProperties: { type: 'string' } }, '{[key]: string}'],
  [{ properties: { a: { type: 'string' } } }, '{a?: string}'],
  [{ properties: { a: {} }, additionalProperties: { type: 'string' } }, '{a?: any, [key]: string}'],
  [{ properties: { a: { type: 'number', default: 1 } }, required: ['a'] }, '{a: number = 1}'],
  [{ type: 'object', required: ['b'] }, '{b: any}'],
  [{ allOf: [{ properties: { a: {} } }, { properties: { b: {} } }] }, '{a?: any, b?: any}'],
  [
    { properties: { a: {} }, anyOf: [{ properties: { b: {} } }, { properties: { c: {} } }] },
    '{a?: any} & ({b?: any} | {c?: any})',
  ],
  [
    { properties: { a: {}, b: {} }, anyOf: [{ required: ['a'] }, { required: ['b'] }] },
    '{a?: any, b?: any}',
  ],
  [{ type: 'number', anyOf: [{ const: 1 }, { const: 2 }] }, '1 | 2'],
])('%j is %s', (schema, type) => {
  expect(taking(schema)).toBe(`t(x: ${type})`);
});

test.each([
  [undefined, 't()'],
  [{ type: 'object' }, 't()'],
  [{ type: 'object', properties: {} }, 't()'],
  [{ additionalProperties: { type: 'number' } }, 't([key]: number)'],
  [
    { type: 'object', oneOf: [{ properties: { a: {} } }, { properties: { b: {} } }] },
    't({a?: any} | {b?: any})',
  ],
])('a tool with %j is %s', (schema, signature) => {
  expect(of(schema)).toBe(signature);
});

test('names are quoted if they could be misread, and hidden characters escaped', () => {
  const properties = { 'resource-group': {}, 'a b': {}, 'c?': {}, 'd\u202ee': {}, 天気: {} };
  expect(of({ properties }, 'do it')).toBe(
    String.raw`"do it"(resource-group?: any, "a b"?: any, "c?"?: any, "d\u202ee"?: any, 天気?: any)`,
  );
  expect(taking({ enum: ['a\u200bb\n', '\u{e0041}'] })).toBe(
    String.raw`t(x: "a\u200bb\n" | "\udb40\udc41")`,
  );
});

test.each(['constructor', '__proto__', 'toString'])('a parameter can be called %s', (name) => {
  const schema = JSON.parse(`{"properties": {"${name}": {"type": "string"}}}`) as unknown;
  expect(of(schema)).toBe(`t(${name}?: string)`);
  expect(taking({ $ref: `#/$defs/${name}` })).toBe('t(x: any)');
});

describe('references', () => {
  test('are resolved anywhere in the schema', () => {
    const $defs = { 'a/b': { type: 'string', default: 'z' } };
    expect(taking({ $ref: '#/$defs/a~1b' }, { $defs })).toBe('t(x: string = "z")');
    expect(taking({ $ref: '#/$defs/a~1b', default: 'own' }, { $defs })).toContain('= "own"');
    const properties = { x: { type: 'number' }, y: { $ref: '#/properties/x' } };
    expect(of({ properties })).toBe('t(x?: number, y?: number)');
    const list = { anyOf: [{ type: 'string' }, { $ref: '#/properties/x' }] };
    expect(of({ properties: { ...properties, list } })).toContain('list?: string | number');
  });

  test.each(['#/$defs/gone', 'https://example.com/schema.json', '#named', '#/%'])(
    '%s does not resolve: it accepts anything',
    ($ref) => {
      expect(taking({ $ref })).toBe('t(x: any)');
    },
  );

  test('that are recursive are cut and marked', () => {
    const node = {
      type: 'object',
      properties: { value: { type: 'string' }, next: { $ref: '#/$defs/node' } },
    };
    expect(taking({ $ref: '#/$defs/node' }, { $defs: { node } })).toBe(
      't(x: {value?: string, next?: …})',
    );
    expect(taking({ $ref: '#' })).toBe('t(x: …)');
    expect(taking({ $ref: '#/$defs/a' }, { $defs: { a: { $ref: '#/$defs/a' } } })).toBe('t(x: …)');
  });

  test('that multiply are limited', () => {
    const level = (next: number) => ({
      properties: Object.fromEntries([1, 2, 3].map((n) => [n, { $ref: `#/$defs/${next}` }])),
    });
    const $defs = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [n, level(n + 1)]));
    expect(taking({ $ref: '#/$defs/0' }, { $defs })).toContain('{…}');
  });
});

describe('too long', () => {
  test('enum values beyond a line are counted', () => {
    const values = Array.from({ length: 200 }, (_, n) => `value-${n}`);
    const signature = taking({ enum: values });
    expect(signature).toMatch(/^t\(x: "value-0" \| .* \| … 18\d more\)$/);
    expect(signature.length).toBeLessThan(300);
    expect(taking({ enum: ['x'.repeat(10_000), 'b'] })).toBe('t(x: … 2 more)');
  });

  test('a long default is marked', () => {
    expect(taking({ default: 'x'.repeat(1_000) })).toBe('t(x: any = …)');
  });

  test('the most deeply nested parts are left out first', () => {
    const wide = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`property_${n}`, {}]));
    const schema = { properties: { a: { type: 'object', properties: wide }, b: {} } };
    expect(of(schema)).toBe('t(a?: {…}, b?: any)');
  });

  test('optional parameters are left out last, and counted', () => {
    const wide = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`property_${n}`, {}]));
    const signature = of({ properties: wide, required: ['property_4999'] });
    expect(signature).toMatch(/^t\(property_4999: any, property_0\?: .*, … 4\d\d\d more\)$/);
    expect(signature.length).toBeLessThan(4_200);
  });
});

test('a signature agrees with its schema, according to a validator', () => {
  const leaf = fc.oneof(
    fc.constantFrom({ type: 'string' }, { type: 'number' }, { type: 'boolean' }, { type: 'null' }),
    fc.record({ enum: fc.uniqueArray(fc.oneof(fc.string(), fc.integer()), { minLength: 1 }) }),
    fc.record({ $ref: fc.constantFrom('#/$defs/name', '#/$defs/point') }),
  );
  const { schema } = fc.letrec<{ schema: object }>((tie) => ({
    schema: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      leaf,
      fc.record({ type: fc.constant('array'), items: tie('schema') }),
      fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
      objectSchema(tie('schema')),
    ),
  }));
  const $defs = {
    name: { type: 'string' },
    point: { type: 'object', properties: { x: { type: 'number' } }, required: ['x'] },
  };
  fc.assert(
    fc.property(objectSchema(schema), (object) => {
      const tool = { name: 'tool', inputSchema: { ...object, $defs } };
      const problems = disagreements(tool).filter((problem) => problem !== 'a part is cut');
      expect(problems).toEqual([]);
    }),
    { numRuns: IS_THOROUGH ? 100 : 20 },
  );
});

function objectSchema(schema: fc.Arbitrary<object>): fc.Arbitrary<object> {
  // The validator ignores a property of this name.
  const name = fc.string({ minLength: 1 }).filter((text) => text !== '__proto__');
  const properties = fc.dictionary(name, schema, { maxKeys: 4 });
  return properties.chain((all) =>
    fc.record({
      type: fc.constant('object'),
      properties: fc.constant(all),
      required: fc.subarray(Object.keys(all)),
    }),
  );
}

test('every tool has a readable signature', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string({ minLength: 1 }), (schema, name) => {
      expect(readSignature(of(schema, name)).name).toBe(name);
    }),
  );
});
