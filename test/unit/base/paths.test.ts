import { join, resolve } from 'node:path';
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
