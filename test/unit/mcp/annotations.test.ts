import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type Hints,
  hintsOf,
  isReadOnly,
  weakestHints,
  withoutGrowth,
} from '../../../src/mcp/annotations.ts';

test('only boolean hints are read from annotations', () => {
  const annotations = {
    readOnlyHint: true,
    openWorldHint: 'no',
    title: 'x',
    idempotentHint: false,
  };
  expect(hintsOf({ name: 'a', annotations })).toEqual({
    readOnlyHint: true,
    idempotentHint: false,
  });
  expect(hintsOf({ name: 'a' })).toEqual({});
  expect(hintsOf({ name: 'a', annotations: [] })).toEqual({});
});

const READS = { readOnlyHint: true };
const ADDS = { readOnlyHint: false, destructiveHint: false, openWorldHint: false };
const SILENT = {};

test.each([
  ['nothing is known', [], {}],
  ['no tool says anything', [SILENT, SILENT], {}],
  ['all only read', [READS, READS], { ...READS, destructiveHint: false, idempotentHint: true }],
  ['one does not say', [READS, SILENT], {}],
  ['one writes', [READS, ADDS], { readOnlyHint: false, destructiveHint: false }],
  [
    'one destroys',
    [ADDS, { destructiveHint: true }],
    { readOnlyHint: false, destructiveHint: true },
  ],
  [
    'all stay at home',
    [ADDS, { openWorldHint: false }],
    { readOnlyHint: false, openWorldHint: false },
  ],
  [
    'one contradicts itself',
    [{ readOnlyHint: true, destructiveHint: true }],
    { readOnlyHint: false, destructiveHint: true },
  ],
])('combined hints are as safe as the least safe tool: %s', (_, hints, together) => {
  expect(weakestHints(hints)).toEqual(together);
});

test('a destructive tool is not read-only, even if it claims to be', () => {
  expect(isReadOnly({ readOnlyHint: true })).toBe(true);
  expect(isReadOnly({ readOnlyHint: true, destructiveHint: true })).toBe(false);
  expect(isReadOnly({})).toBe(false);
});

test('adding a tool never makes the combined hints safer', () => {
  const hint = fc.option(fc.boolean(), { nil: undefined });
  const hints = fc.record(
    { readOnlyHint: hint, destructiveHint: hint, idempotentHint: hint, openWorldHint: hint },
    { requiredKeys: [] },
  );
  const defined = (some: object) =>
    Object.fromEntries(Object.entries(some).filter(([, value]) => value !== undefined));
  const safe = { readOnlyHint: true, destructiveHint: false, openWorldHint: false };
  const claimsOf = (some: Hints) =>
    Object.entries(safe).filter(([name, value]) => some[name as keyof typeof safe] === value);
  fc.assert(
    fc.property(fc.array(hints, { minLength: 1 }), hints, (some, more) => {
      const before = claimsOf(weakestHints(some.map(defined)));
      const after = claimsOf(weakestHints([...some, more].map(defined)));
      expect(before).toEqual(expect.arrayContaining(after));
    }),
  );
});

test.each<[accepted: Hints, now: Hints, inForce: Hints | undefined]>([
  [{}, {}, undefined],
  [{}, { readOnlyHint: true }, {}],
  [{ readOnlyHint: false }, { readOnlyHint: true }, { readOnlyHint: false }],
  [{ readOnlyHint: true }, { readOnlyHint: false }, undefined],
  [{ readOnlyHint: true }, {}, undefined],
  [{}, { destructiveHint: false }, {}],
  [{ destructiveHint: true }, { destructiveHint: false }, { destructiveHint: true }],
  [{ readOnlyHint: true }, { readOnlyHint: true, destructiveHint: false }, undefined],
  [{ readOnlyHint: true }, { destructiveHint: false }, undefined],
  [{}, { openWorldHint: false, readOnlyHint: false }, { readOnlyHint: false }],
  [{}, { idempotentHint: true }, undefined],
  [{}, { readOnlyHint: true, destructiveHint: true }, undefined],
])('of %j and then %j, %j is in force', (accepted, now, inForce) => {
  expect(withoutGrowth(accepted, now)).toEqual(inForce);
});
