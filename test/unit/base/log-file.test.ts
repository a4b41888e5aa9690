import {
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import {
  createBatchedLogFile,
  createLogFile,
  createOwnLogStream,
  logPlaces,
  olderLog,
} from '../../../src/base/log-file.ts';
import { createProject } from '../../support/project.ts';

const fail = (problem: string) => {
  throw new Error(problem);
};

test('lines are written with their time, without terminal sequences', () => {
  const { dir } = createProject();
  createLogFile(join(dir, 'logs'), 'kid', fail)('\u001b[31mred\u001b[0m');

  expect(readFileSync(join(dir, 'logs/kid.log'), 'utf8')).toMatch(/^\d{4}-\d\d-\d\dT\S+Z red\n$/);
});

test('a name that is a path stays inside the folder', () => {
  const { dir } = createProject();
  createLogFile(join(dir, 'logs'), '../../evil', fail)('hello');

  expect(readdirSync(join(dir, 'logs'))).toEqual([
    expect.stringMatching(/^______evil-[0-9a-f]{8}\.log$/),
  ]);
});

test('a full file is renamed, and only one older file is kept', () => {
  const { dir } = createProject();
  const write = createLogFile(join(dir, 'logs'), 'kid', fail);
  for (let mebibyte = 0; mebibyte < 12; mebibyte++) write('x'.repeat(1 << 20));

  expect(readdirSync(join(dir, 'logs')).sort()).toEqual(['kid.log', 'kid.log.1']);
  expect(statSync(join(dir, 'logs/kid.log')).size).toBeLessThanOrEqual(5 << 20);
});

test('processes that share a file keep what another one has just rotated', () => {
  const { dir } = createProject();
  const [first, second] = ['kid', 'kid'].map((name) =>
    createLogFile(join(dir, 'logs'), name, fail),
  );
  for (let mebibyte = 0; mebibyte < 4; mebibyte++) second?.('x'.repeat(1 << 20));
  for (let mebibyte = 0; mebibyte < 2; mebibyte++) first?.('y'.repeat(1 << 20));
  second?.('z'.repeat(1 << 20));

  expect(statSync(join(dir, 'logs/kid.log.1')).size).toBeGreaterThan(4 << 20);
  expect(readFileSync(join(dir, 'logs/kid.log'), 'utf8')).toMatch(/z{9}/);
});

test('an unwritable folder is reported once, and nothing is thrown', () => {
  const { dir } = createProject();
  writeFileSync(join(dir, 'logs'), 'a file where a folder should be');
  const problems: string[] = [];
  const write = createLogFile(join(dir, 'logs'), 'kid', (problem) => problems.push(problem));
  write('one');
  write('two');

  expect(problems).toHaveLength(1);
  expect(existsSync(join(dir, 'logs/kid.log'))).toBe(false);
});

test('a log file that is a broken link creates no file elsewhere', () => {
  const { dir } = createProject({ 'logs/x': '' });
  const elsewhere = join(dir, 'elsewhere');
  symlinkSync(elsewhere, join(dir, 'logs/memory.log'));
  const problems: string[] = [];
  const write = createLogFile(join(dir, 'logs'), 'memory', (problem) => problems.push(problem));
  write('one');
  write('two');
  expect(existsSync(elsewhere)).toBe(false);
  expect(problems).toEqual([expect.stringContaining('which does not exist')]);
});

test('lines of one turn are written together', async () => {
  const { dir } = createProject();
  const write = createBatchedLogFile(join(dir, 'logs'), 'kid', fail);
  for (const line of ['one', 'ghp_0123456789abcdefghijABCDEFGHIJ012345', 'three']) write(line);
  const file = join(dir, 'logs/kid.log');
  expect(existsSync(file)).toBe(false);
  await vi.waitFor(() => expect(readFileSync(file, 'utf8')).toMatch(/one\n\S+ \S+\n\S+ three\n$/));
  expect(readFileSync(file, 'utf8')).not.toContain('ghp_0123');
  write('four');
  await vi.waitFor(() => expect(readFileSync(file, 'utf8')).toMatch(/four\n$/));
});

test('a log that is also someone’s stderr is emptied when full, and stays the same file', () => {
  const { dir } = createProject();
  const file = logPlaces(dir).background;
  const stream = createOwnLogStream(file);
  stream.write('first\n');
  const inode = statSync(file).ino;
  stream.write(`${'x'.repeat(3 << 20)}\n`);
  stream.write(`${'y'.repeat(3 << 20)}\n`);
  expect(statSync(file)).toMatchObject({ ino: inode, size: (3 << 20) + 1 });
  expect(readFileSync(olderLog(file), 'utf8')).toMatch(/^first\nx+\n$/);
  expect([file, olderLog(file)].map((one) => statSync(one).mode & 0o777)).toEqual([0o600, 0o600]);
  stream.write(`${'z'.repeat(3 << 20)}\n`);
  expect(readFileSync(olderLog(file), 'utf8')).toMatch(/^y+\n$/);
});
