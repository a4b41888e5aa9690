// Whoever carries a message gets what it is along with its text, so nobody has to read the text again.
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix, sep } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from '../support/project.ts';

const SOURCE = join(ROOT, 'src');
const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
  .map((file) => file.split(sep).join(posix.sep))
  .filter((file) => file.endsWith('.ts'));

/** The lines of these files that match, as `file: match`. */
function matches(pattern: RegExp, isMeant: (file: string) => boolean): string[] {
  return files
    .filter(isMeant)
    .flatMap((file) =>
      [...readFileSync(join(SOURCE, file), 'utf8').matchAll(pattern)].map(
        ([match]) => `${file}: ${match}`,
      ),
    );
}

test('nobody parses a message that is on its way out', () => {
  const carriers = /^(session|host|child)\//;
  const reading =
    /\b(\w*parse\w*|exec|test|match)\(json\b|\bjson\.(includes|match|slice|indexOf)\b/gi;
  expect(matches(reading, (file) => carriers.test(file))).toEqual([]);
});
