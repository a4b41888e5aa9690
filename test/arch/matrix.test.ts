// The matrix of features and eras has one truth, test/e2e/matrix/cells.ts: docs/matrix.md is written
// from it, and every feature in it is tried by the tests of its group, and by no others.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { formatMatrix } from '../../scripts/matrix-doc.ts';
import { FEATURES } from '../e2e/matrix/cells.ts';
import { ROOT } from '../support/project.ts';

const FOLDER = join(ROOT, 'test/e2e/matrix');
const files = readdirSync(FOLDER).filter((file) => file.endsWith('.test.ts'));
/** The files in which a feature is tried, in one of the ways there are to do that. */
function triedIn(id: string): string[] {
  const attempt = new RegExp(
    `(?:tryCell\\(|describeEnding\\(\\s*|cellIn\\('\\w+', |\\bid: )'${id}'`,
  );
  return files.filter((file) => attempt.test(readFileSync(join(FOLDER, file), 'utf8')));
}

test('docs/matrix.md is what would be written', () => {
  // If not: npm run generate
  expect(readFileSync(join(ROOT, 'docs/matrix.md'), 'utf8')).toBe(formatMatrix());
});

test.each(Object.entries(FEATURES))('%s is tried by the tests of its group', (id, { group }) => {
  expect(triedIn(id)).toEqual([`${group}.test.ts`]);
});
