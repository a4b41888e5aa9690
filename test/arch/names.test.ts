// An exported name means one thing in the whole program, so a reader never has to ask which one is meant.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from '../support/project.ts';

const SOURCE = join(ROOT, 'src');
const EXPORTED =
  /^export (?:async |abstract )?(?:function\*?|class|const|interface|type|enum) (\w+)/gm;

test('no two files export the same name', () => {
  const filesByName = new Map<string, string[]>();
  for (const file of readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts')) continue;
    for (const [, name = ''] of readFileSync(join(SOURCE, file), 'utf8').matchAll(EXPORTED)) {
      const files = filesByName.get(name) ?? [];
      filesByName.set(name, files.includes(file) ? files : [...files, file]);
    }
  }
  const shared = [...filesByName].filter(([, files]) => files.length > 1);
  expect(filesByName.size).toBeGreaterThan(500);
  expect(shared).toEqual([]);
});
