// What a module has to be given. One process may serve several projects, so nothing below the command line takes a
// server's environment or folder from the process; and whoever carries a message is told what it is.
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

test('only the command line reads the environment and the folder of this process', () => {
  const edges = /^(cli\/|index\.ts|assistant-entry\.ts|load-start\.ts)/;
  expect(matches(/\bprocess\.(env|cwd)\b/g, (file) => !edges.test(file)).sort()).toEqual([
    // The SDK would send headers from the process's environment: these are the ones it must not.
    'assistant/providers/anthropic.ts: process.env',
    // How `ps` prints, and where Windows keeps its programs: the same for every project.
    'base/process-table.ts: process.env',
    'base/process.ts: process.env',
  ]);
});

test('nobody parses a message that is on its way out', () => {
  const carriers = /^(session|host|child)\//;
  const reading =
    /\b(\w*parse\w*|exec|test|match)\(json\b|\bjson\.(includes|match|slice|indexOf)\b/gi;
  expect(matches(reading, (file) => carriers.test(file))).toEqual([]);
});
