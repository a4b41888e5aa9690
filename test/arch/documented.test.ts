// What the program can say and do stands in the documentation, and nothing stands there that it
// cannot.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ERRORS } from '../../src/base/errors.ts';
import { PROGRAM, ROOT } from '../support/project.ts';

const doc = (name: string) => readFileSync(join(ROOT, 'docs', name), 'utf8');

test('docs/errors.md has every error code with its exit status, and no other', () => {
  const rows = [...doc('errors.md').matchAll(/^\| `([A-Z_]+)` \| (\d+) \|/gm)];
  const documented = Object.fromEntries(
    rows.map(([, code, exit]) => [code, { exit: Number(exit) }]),
  );
  expect(documented).toEqual(ERRORS);
});

test.each([
  [],
  ['serve'],
  ['tools'],
  ['call'],
  ['show'],
  ['doctor'],
  ['status'],
  ['reload'],
  ['login'],
  ['logout'],
  ['config'],
  ['config', 'check'],
  ['config', 'print'],
  ['config', 'schema'],
  ['skill'],
  ['skill', 'install'],
  ['skill', 'uninstall'],
  ['import'],
])('docs/cli.md shows the help of `switchboard %s %s` as it is printed', (...command) => {
  const help = execFileSync(process.execPath, [PROGRAM, ...command.filter(Boolean), '--help'], {
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1' },
  });
  expect(doc('cli.md')).toContain(help.trim());
});
