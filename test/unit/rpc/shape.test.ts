import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseWithin } from '../../../src/rpc/json-text.ts';
import { findExceeded, SMALL_BYTES, TooComplex } from '../../../src/rpc/shape.ts';

/** More blanks than the size up to which nothing is checked. */
const BLANKS = ' '.repeat(SMALL_BYTES);

const exceeds = (json: string, depth: number, members: number) =>
  findExceeded(Buffer.from(BLANKS + json), { depth, members })?.name;

test.each([
  ['1', 0, 0],
  ['[]', 1, 0],
  ['[ \n ]', 1, 0],
  ['{}', 1, 0],
  ['[1]', 1, 1],
  ['[1,2,3]', 1, 3],
  ['{"a":1,"b":2}', 1, 2],
  ['[[],[[]]]', 3, 3],
  ['{"a":[1,{"b":[]}],"c":{}}', 4, 5],
  ['["[[,,,{{"]', 1, 1],
  [String.raw`["\"[,","\\",[1]]`, 2, 4],
])('%s nests %d deep and has %d members', (json, depth, members) => {
  expect(exceeds(json, depth, members)).toBeUndefined();
  expect(exceeds(json, depth - 1, members)).toBe(depth > 0 ? 'depth' : undefined);
  expect(exceeds(json, depth, members - 1)).toBe(members > 0 ? 'members' : undefined);
});

test.each([200, 255, 256, 257, 1_000, 100_000])(
  'a string of %d characters counts as one',
  (length) => {
    for (const filler of ['x', '[', String.raw`\"`, String.raw`\\`, String.raw`x\"`, 'é', '漢']) {
      const json = `["${filler.repeat(length)}",[1]]`;
      expect(exceeds(json, 2, 3)).toBeUndefined();
      expect(exceeds(json, 1, 3)).toBe('depth');
      expect(exceeds(json, 2, 2)).toBe('members');
    }
  },
);

/** The same, counted on the value. */
function measure(value: unknown): { depth: number; members: number } {
  if (typeof value !== 'object' || value === null) return { depth: 0, members: 0 };
  const inner = Object.values(value).map(measure);
  return {
    depth: 1 + Math.max(0, ...inner.map(({ depth }) => depth)),
    members: inner.length + inner.reduce((sum, { members }) => sum + members, 0),
  };
}

test('the count matches that of the parsed value', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(undefined, 1, '\t'), (value, indent) => {
      const json = JSON.stringify(value, null, indent);
      const { depth, members } = measure(JSON.parse(json));
      expect(exceeds(json, depth, members)).toBeUndefined();
      expect(exceeds(json, depth - 1, members)).toBe(depth > 0 ? 'depth' : undefined);
      expect(exceeds(json, depth, members - 1)).toBe(members > 0 ? 'members' : undefined);
    }),
  );
});

test('any bytes can be counted', () => {
  const limits = { depth: 3, members: 10 };
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 500 }), (bytes) => {
      const json = Buffer.concat([Buffer.from(BLANKS), bytes]);
      expect(() => findExceeded(json, limits)).not.toThrow();
    }),
  );
});

test('text up to 64 KB is always parsed, larger text within the limits', () => {
  const limits = { depth: 10, members: 100 };
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
  expect(parseWithin(nested(30_000), limits)).toBeInstanceOf(Array);
  expect(parseWithin(nested(33_000), limits)).toMatchObject({ name: 'depth', most: 10 });
  const flat = (count: number) =>
    JSON.stringify(Array.from({ length: count }, () => 'x'.repeat(1_000)));
  expect(parseWithin(flat(100), limits)).toHaveLength(100);
  expect(parseWithin(flat(101), limits)).toBeInstanceOf(TooComplex);
  expect(parseWithin(`${flat(70)}]`, limits)).toBeUndefined();
});
