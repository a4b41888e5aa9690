import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { freeName, toToolName } from '../../../src/mcp/names.ts';

test('characters hosts do not accept become underscores', () => {
  expect(toToolName('../../évil name_suite')).toBe('_______vil_name_suite');
});

test('a name beyond 46 characters keeps 41 and gains a unique digest', () => {
  const one = toToolName(`${'a'.repeat(60)}1_suite`);
  const other = toToolName(`${'a'.repeat(60)}2_suite`);

  expect(one).toMatch(/^a{41}_[0-9a-f]{4}$/);
  expect(one).not.toBe(other);
});

test('any name becomes one that every host accepts', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), (name) => {
      expect(toToolName(name)).toMatch(/^[A-Za-z0-9_-]{1,46}$/);
    }),
  );
});

test('a taken name gets the first free number, within the length', () => {
  const taken = new Set(['x', 'x_2', 'y'.repeat(46)]);

  expect(freeName('z', taken)).toBe('z');
  expect(freeName('x', taken)).toBe('x_3');
  expect(freeName('y'.repeat(46), taken)).toBe(`${'y'.repeat(44)}_2`);
});
