// Every threat we know of is in docs/security.md, with tests that exist.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from '../support/project.ts';

const THREATS = 27;
const page = readFileSync(join(ROOT, 'docs/security.md'), 'utf8');
const rows = [...page.matchAll(/^\| (S\d\d) \| (.+) \| (.+) \| (.+) \|$/gm)].map(
  ([, id = '', , , tests = '']) => ({
    id,
    tests: [...tests.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
  }),
);

test('docs/security.md has every threat, in order', () => {
  const ids = Array.from(
    { length: THREATS },
    (_, index) => `S${String(index + 1).padStart(2, '0')}`,
  );
  expect(rows.map(({ id }) => id)).toEqual(ids);
});

test.each(rows)('the tests named for $id exist', ({ tests }) => {
  expect(tests).not.toEqual([]);
  const missing = tests.filter((name) => !existsSync(join(ROOT, 'test', `${name}.test.ts`)));
  expect(missing).toEqual([]);
});
