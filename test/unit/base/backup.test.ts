import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { keepBackup, readBackups } from '../../../src/base/backup.ts';

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-backup-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'backups');
}

test('several in one millisecond are all kept, in order', () => {
  vi.useFakeTimers({ now: 0, toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const folder = createFolder();
  const texts = Array.from({ length: 12 }, (_, index) => `${index}`);
  const kept = texts.map((text) => keepBackup(text, { file: '/a/file.json', folder }));
  expect(kept.toSorted()).toEqual(kept);
  expect(kept.map((file) => readFileSync(file, 'utf8'))).toEqual(texts);
  expect(kept.map((file) => statSync(file).mode & 0o777)).toEqual(kept.map(() => 0o600));
});

test('the last twenty of each file are kept', () => {
  const folder = createFolder();
  const other = keepBackup('other', { file: '/b/file.json', folder });
  for (let text = 1; text <= 25; text++) keepBackup(`${text}`, { file: '/a/file.json', folder });
  expect(readdirSync(folder)).toHaveLength(21);
  expect(readFileSync(other, 'utf8')).toBe('other');
});

test('earlier versions are read back, newest first', () => {
  const folder = createFolder();
  const place = { file: '/a/file.json', folder };
  expect(readBackups(place)).toEqual([]);
  for (const text of ['1', '2']) keepBackup(text, place);
  keepBackup('other', { file: '/b/file.json', folder });
  expect(readBackups(place).map(String)).toEqual(['2', '1']);
});
