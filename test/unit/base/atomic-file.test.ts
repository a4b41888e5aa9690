import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { followLinks, writeAtomically, writeCacheFile } from '../../../src/base/atomic-file.ts';

function createFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-whole-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return { folder, file: join(folder, 'file') };
}

const modeOf = (file: string) => statSync(file).mode & 0o7777;

test('writes a file with its mode, and leaves nothing else', () => {
  const { folder, file } = createFolder();
  writeFileSync(file, 'old');
  writeAtomically(file, 'new', { mode: 0o600 });
  expect(readFileSync(file, 'utf8')).toBe('new');
  expect(modeOf(file)).toBe(0o600);
  expect(readdirSync(folder)).toEqual(['file']);
});

test('writes a cache for this user only, and leaves nothing else', async () => {
  const { folder, file } = createFolder();
  writeFileSync(file, 'old');
  await writeCacheFile(file, 'new');
  expect(readFileSync(file, 'utf8')).toBe('new');
  expect(modeOf(file)).toBe(0o600);
  mkdirSync(join(folder, 'taken'));
  await expect(writeCacheFile(join(folder, 'taken'), 'new')).rejects.toThrow('EISDIR');
  expect(readdirSync(folder)).toEqual(['file', 'taken']);
});

test('keeps the mode of the file it replaces', () => {
  const { file } = createFolder();
  writeFileSync(file, 'old');
  chmodSync(file, 0o664);
  writeAtomically(file, 'new', { mode: 0o600, like: statSync(file) });
  expect(modeOf(file)).toBe(0o664);
});

test('on any failure, the old file is intact and nothing is left next to it', () => {
  const { folder, file } = createFolder();
  writeFileSync(file, 'old');
  const beforeReplacing = () => {
    throw new Error('no');
  };
  expect(() => writeAtomically(file, 'new', { mode: 0o600, beforeReplacing })).toThrow('no');
  expect(() => writeAtomically(folder, 'new', { mode: 0o600 })).toThrow('EISDIR');
  expect(readFileSync(file, 'utf8')).toBe('old');
  expect(readdirSync(folder)).toEqual(['file']);
  expect(existsSync(`${folder}.new`)).toBe(false);
});

// Only an administrator can make a file that its owner cannot make again.
test.runIf(process.getuid?.() === 0)(
  'where the group cannot be kept, what it was allowed goes to no other group',
  () => {
    const { folder, file } = createFolder();
    const [nobody, strangers] = [65_534, 42_424];
    chownSync(folder, nobody, nobody);
    writeFileSync(file, 'old');
    chownSync(file, nobody, strangers);
    chmodSync(file, 0o664);
    process.setegid?.(nobody);
    process.seteuid?.(nobody);
    onTestFinished(() => {
      process.seteuid?.(0);
      process.setegid?.(0);
    });
    writeAtomically(file, 'new', { mode: 0o600, like: statSync(file) });
    expect(modeOf(file)).toBe(0o600);
  },
);

test('links are followed to their target, and refused if it is missing', () => {
  const { folder, file } = createFolder();
  const link = join(folder, 'link');
  symlinkSync('link', join(folder, 'to-link'));
  symlinkSync('file', link);
  const nothing = `${join(folder, 'to-link')} is a link to ${link}, which does not exist`;
  expect(() => followLinks(join(folder, 'to-link'))).toThrow(nothing);
  expect(followLinks(file)).toBe(file);
  writeFileSync(file, '');
  expect(followLinks(join(folder, 'to-link'))).toBe(file);
});
