// The token: made once, for one user, the same for every program.
import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { SwitchboardError } from '../../../../src/base/errors.ts';
import { checkToken, httpTokenFile, keptToken } from '../../../../src/host/http/token.ts';
import { eventually } from '../../../support/processes.ts';
import { createProject, FIXTURES } from '../../../support/project.ts';

test('is generated once, from 256 random bits, and only its user can read it', () => {
  const home = join(createProject().dir, 'new', 'home');
  const token = keptToken(home);
  expect(token).toMatch(/^[0-9a-f]{64}$/);
  expect(keptToken(home)).toBe(token);
  expect(statSync(httpTokenFile(home)).mode & 0o777).toBe(0o600);
  expect(statSync(home).mode & 0o777).toBe(0o700);
  expect(readdirSync(home)).toEqual(['http-token']);
  expect(keptToken(join(createProject().dir, 'other'))).not.toBe(token);
});

test('a file others can read is made private', () => {
  const { dir } = createProject();
  const token = keptToken(dir);
  chmodSync(httpTokenFile(dir), 0o644);
  expect(keptToken(dir)).toBe(token);
  expect(statSync(httpTokenFile(dir)).mode & 0o777).toBe(0o600);
});

test('a file without a token is neither overwritten nor used', () => {
  for (const text of ['', '\n', 'short', 'a token with spaces that is long enough for one']) {
    const { dir } = createProject({ 'http-token': text });
    expect(() => keptToken(dir)).toThrow(/does not contain a valid token/);
    expect(readFileSync(httpTokenFile(dir), 'utf8')).toBe(text);
  }
});

test('an unusable home is reported in a sentence', () => {
  const { dir } = createProject({ home: 'a file' });
  expect(() => keptToken(join(dir, 'home'))).toThrow(/^Cannot store the HTTP token: /);
});

test("the user's own token must fit into a header and be hard to guess", () => {
  const long = '0123456789-._~+/ABCDEFGHIJKLMNO=';
  expect(checkToken(long)).toBe(long);
  for (const token of ['with space', 'line\nbreak', 'é', '"quoted"']) {
    expect(refusalOf(token.padEnd(40, 'x'))).toBe(
      'SWITCHBOARD_HTTP_TOKEN contains invalid characters. Use letters and digits. To generate one, run: openssl rand -hex 32',
    );
  }
  for (const token of ['x', 'secret', long.slice(1)]) {
    expect(refusalOf(token)).toBe(
      'SWITCHBOARD_HTTP_TOKEN is too short. Use at least 32 characters. To generate one, run: openssl rand -hex 32',
    );
  }
});

function refusalOf(token: string): string {
  try {
    return checkToken(token);
  } catch (error) {
    return (error as SwitchboardError).text;
  }
}

test('programs that generate it at once all get the same', async () => {
  const { dir } = createProject();
  const home = join(dir, 'home');
  mkdirSync(home);
  const programs = Array.from({ length: 4 }, () => startProgram(home));
  expect(await eventually(() => programs.every(({ lines }) => lines().length === 1))).toBe(true);
  writeFileSync(join(home, 'go'), '');
  await Promise.all(programs.map(({ ended }) => ended));
  const tokens = programs.map(({ lines }) => lines()[1]);
  expect(tokens[0]).toMatch(/^[0-9a-f]{64}$/);
  expect(new Set(tokens).size).toBe(1);
  expect(readFileSync(httpTokenFile(home), 'utf8')).toBe(`${tokens[0]}\n`);
  expect(readdirSync(home).sort()).toEqual(['go', 'http-token']);
}, 90_000);

function startProgram(home: string) {
  const program = join(FIXTURES, 'programs', 'http-token.ts');
  const child = spawn(process.execPath, ['--import', 'tsx', program, home], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  return { ended, lines: () => text.split('\n').filter(Boolean) };
}
