import { mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeFolder } from '../../../src/base/make-folder.ts';
import { temporaryFolder } from '../../support/fake-child.ts';

const modeOf = (path: string) => statSync(path).mode & 0o777;

test('creates a folder and missing parents, private to this user', () => {
  const folder = join(temporaryFolder(), 'a/b/c');
  makeFolder(folder);
  expect([modeOf(folder), modeOf(join(folder, '..'))]).toEqual([0o700, 0o700]);
  makeFolder(folder);
});

test('leaves an existing folder unchanged', () => {
  const folder = join(temporaryFolder(), 'a');
  mkdirSync(folder, { mode: 0o755 });
  const before = modeOf(folder);
  makeFolder(folder);
  expect(modeOf(folder)).toBe(before);
  makeFolder(join(folder, 'b'), 0o750);
  expect(modeOf(join(folder, 'b'))).toBe(0o750);
});

test.each(['file', 'file/below', 'nowhere', 'nowhere/below'])(
  'names what is in the way: %s',
  (path) => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'file'), '');
    symlinkSync(join(folder, 'missing'), join(folder, 'nowhere'));
    expect(() => makeFolder(join(folder, path))).toThrow(/EEXIST|ENOTDIR/);
  },
);

test('a link to a folder is followed', () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'real'));
  symlinkSync(join(folder, 'real'), join(folder, 'link'));
  makeFolder(join(folder, 'link/below'));
  expect(statSync(join(folder, 'real/below')).isDirectory()).toBe(true);
});

test('throws if nothing can be created', () => {
  expect(() => makeFolder('/proc/switchboard/below')).toThrow(/ENOENT|EACCES|EROFS/);
});
