import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { setKey } from '../../../src/config/change/edit.ts';
import { revertKey } from '../../../src/config/change/revert.ts';
import { rewriteFile } from '../../../src/config/change/rewrite.ts';

const PATH = ['suites', 'a', 'assistant'];
const set = (text: string | undefined) => setKey(text ?? '{}\n', PATH, true);

function createFile(content?: string) {
  const home = mkdtempSync(join(tmpdir(), 'switchboard-take-back-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const file = join(home, 'file.json');
  if (content !== undefined) writeFileSync(file, content);
  return {
    file,
    read: () => readFileSync(file, 'utf8'),
    set: () => rewriteFile(file, set, { home, mode: 0o600 }),
    revertKey: () => revertKey(file, { path: PATH, set, home }),
  };
}

test.each(['{}', '{ }\n', '{\n}', '{ "suites": { "a": {} } }', '{ "suites": {}, }\r\n'])(
  '%j is restored, which the text alone could not tell',
  async (text) => {
    const file = createFile(text);
    await file.set();
    expect(file.read()).not.toBe(text);
    await file.revertKey();
    expect(file.read()).toBe(text);
  },
);

test('a file created for it is removed with it', async () => {
  const file = createFile();
  await file.set();
  expect(await file.revertKey()).toMatchObject({ isChanged: true, isRemoved: true });
  expect(existsSync(file.file)).toBe(false);
  expect(await file.revertKey()).toEqual({ isChanged: false, backup: undefined });
});

test('a file changed since only loses the key', async () => {
  const file = createFile('{ "suites": {} }');
  await file.set();
  writeFileSync(file.file, file.read().replace('{ "suites"', '{ "era": "auto", "suites"'));
  await file.revertKey();
  expect(file.read()).toBe('{ "era": "auto" }');
});

test('a backup that already has the key is not the earlier version', async () => {
  const file = createFile('{ "suites": { "a": { "assistant": true } } }');
  // Leaves a backup of the text with the key, and the same text again.
  await rewriteFile(file.file, async () => '{}', { home: join(file.file, '..'), mode: 0o600 });
  writeFileSync(file.file, '{ "suites": { "a": { "assistant": true } } }');
  await file.revertKey();
  expect(file.read()).toBe('{}');
});

test('backups that are not configurations are ignored', async () => {
  const file = createFile('[1, 2');
  const home = join(file.file, '..');
  await rewriteFile(file.file, async () => '[]', { home, mode: 0o600 });
  await rewriteFile(file.file, async () => '{"a":1}', { home, mode: 0o600 });
  await file.set();
  await file.revertKey();
  expect(file.read()).toBe('{"a":1}');
});
