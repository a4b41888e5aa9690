import {
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createLogFile } from '../../../src/base/log-file.ts';
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
