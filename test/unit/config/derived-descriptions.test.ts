// Lines about servers that nobody has described, kept on disk by what is started or asked.
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ChildConfig } from '../../../src/config/config.ts';
import {
  derivedFor,
  isDescribed,
  readDerived,
  rememberDerived,
} from '../../../src/config/server/derived-descriptions.ts';
import { childConfig } from '../../support/child-config.ts';
import { createProject } from '../../support/project.ts';

function server(line: string, some: Partial<ChildConfig> = {}): ChildConfig {
  const [cmd = '', ...args] = line.split(' ');
  return childConfig({ name: 'any', command: { cmd, args, env: {} }, ...some });
}

function remembered(first: ChildConfig, second: ChildConfig): string | undefined {
  const { dir } = createProject();
  rememberDerived(dir, [[first, 'a line']]);
  return derivedFor(readDerived(dir), second);
}

const DENY = { expose: { allow: undefined, deny: ['x'] } };
const REMOTE = (url: string, headers = {}) =>
  childConfig({ name: 'r', command: undefined, remote: { type: 'http', url, headers } });

test.each([
  ['another name', server('npx -y x'), server('npx -y x', { name: 'other' })],
  ['another folder, for what npx starts', server('npx x .'), server('npx x .', { cwd: '/other' })],
  [
    'another folder, for a whole path',
    server('node /a/b.js'),
    server('node /a/b.js', { cwd: '/o' }),
  ],
  ['other headers', REMOTE('https://a.example'), REMOTE('https://a.example', { key: 'k' })],
])('%s is the same server', (_what, first, second) => {
  expect(remembered(first, second)).toBe('a line');
});

test.each([
  ['other arguments', server('npx -y x'), server('npx -y y')],
  ['another folder, for a path in it', server('node b.js'), server('node b.js', { cwd: '/other' })],
  ['another folder, for a program in it', server('./b'), server('./b', { cwd: '/other' })],
  ['another address', REMOTE('https://a.example'), REMOTE('https://b.example')],
  ['other rules for its tools', server('npx -y x'), server('npx -y x', DENY)],
])('%s is another server', (_what, first, second) => {
  expect(remembered(first, second)).toBeUndefined();
});

test('descriptions are added and replaced', () => {
  const { dir } = createProject();
  const [one, two] = [server('npx one'), server('npx two')];
  rememberDerived(dir, [[one, 'first']]);
  rememberDerived(dir, [[two, 'second']]);
  rememberDerived(dir, [[one, 'third']]);
  const derived = readDerived(dir);
  expect([derivedFor(derived, one), derivedFor(derived, two)]).toEqual(['third', 'second']);
  expect(statSync(join(dir, 'cache/descriptions.json')).mode & 0o777).toBe(0o600);
});

test('only the newest are kept', () => {
  const { dir } = createProject();
  const many = Array.from({ length: 1_005 }, (_, n) => [server(`npx s${n}`), `${n}`] as const);
  rememberDerived(dir, many);
  const derived = readDerived(dir);
  expect(derived.size).toBe(1_000);
  expect(derivedFor(derived, server('npx s4'))).toBeUndefined();
  expect(derivedFor(derived, server('npx s1004'))).toBe('1004');
});

test.each([
  '',
  '{',
  '[]',
  '{"form": 2, "servers": {"a": "b"}}',
  '{"form": 1, "servers": {"a": 5}}',
])('a file with %j is ignored and rewritten', (text) => {
  const { dir } = createProject();
  mkdirSync(join(dir, 'cache'));
  const file = join(dir, 'cache/descriptions.json');
  writeFileSync(file, text);
  expect(readDerived(dir).size).toBe(0);
  rememberDerived(dir, [[server('npx x'), 'a line']]);
  expect(readFileSync(file, 'utf8')).toContain('a line');
});

test.each(['switchboardDescription', 'suiteDescription', 'description', 'notedDescription'])(
  'a server with a %s is described',
  (key) => {
    expect(isDescribed(server('x', { [key]: 'For tea.' }))).toBe(true);
    expect(isDescribed(server('x', { [key]: ' ' }))).toBe(false);
  },
);
