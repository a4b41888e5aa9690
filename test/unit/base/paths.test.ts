import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { pathInside } from '../../../src/base/paths.ts';

const FOLDER = resolve('/work/project');

test.each([
  ['a.txt', 'a.txt'],
  [join('a', 'b'), join('a', 'b')],
  [join('..notes', 'x'), join('..notes', 'x')],
  ['...', '...'],
  [join('a', '..', 'b'), 'b'],
])('%s is inside its folder, as %s', (path, inside) => {
  expect(pathInside(FOLDER, resolve(FOLDER, path))).toBe(inside);
});

test.each(['.', '..', join('..', 'other'), '/work/project-2', '/'])('%s is not inside', (path) => {
  expect(pathInside(FOLDER, resolve(FOLDER, path))).toBeUndefined();
});

test('any two paths, whatever they look like', () => {
  const part = fc.constantFrom('a', 'b', 'ab', '.', '..', '', '...', '.a', 'a.');
  const path = fc.array(part, { maxLength: 5 }).map((parts) => `/${parts.join('/')}`);
  fc.assert(
    fc.property(path, path, (folder, below) => {
      const expected = relative(folder, below);
      const isOutside = /^(?:\.\.)?$/.test(expected) || expected.startsWith(`..${sep}`);
      expect(pathInside(folder, below)).toBe(
        isOutside || isAbsolute(expected) ? undefined : expected,
      );
    }),
    { numRuns: 2_000 },
  );
});
