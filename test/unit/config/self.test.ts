import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isSelf } from '../../../src/config/server/self.ts';
import { temporaryFolder } from '../../support/fake-child.ts';

const is = (key: string, cmd: string | undefined, ...args: string[]) =>
  isSelf({ key, cmd, args, cwd: undefined });

type Row = [string, string | undefined, ...string[]];

test.each<Row>([
  ['Switchboard', 'anything'],
  ['switchboard', undefined],
  ['a', 'switchboard'],
  ['a', '/usr/local/bin/switchboard'],
  ['a', 'C:\\tools\\switchboard.cmd'],
  ['a', 'switchboard-mcp'],
  ['a', '/opt/switchboard-mcp-x86_64'],
  ['a', 'npx', '-y', 'switchboard'],
  ['a', 'npx', '--yes', 'switchboard@latest', 'serve'],
  ['a', 'npx', '-p', 'switchboard', 'other'],
  ['a', 'npx', '--package=switchboard@1.2.3', 'other'],
  ['a', 'npx', '-y', 'switchboard-mcp@2'],
  ['a', 'bunx', 'switchboard'],
  ['a', 'pnpm', 'dlx', 'switchboard'],
  ['a', 'cmd', '/c', 'npx', '-y', 'switchboard'],
  ['a', 'node', '/x/node_modules/switchboard/dist/index.js'],
  ['a', 'node', '--no-warnings', 'C:\\x\\switchboard\\dist\\switchboard'],
])('%s: %s %s %s %s is Switchboard', (key, cmd, ...args) => {
  expect(is(key, cmd, ...args)).toBe(true);
});

test.each<Row>([
  ['a', undefined],
  ['switchboards', 'server'],
  ['a', 'telephone-switchboard'],
  ['a', 'npx', '-y', '@modelcontextprotocol/server-memory'],
  ['a', 'npx', '-y', 'server', 'switchboard'],
  ['a', 'npx', '-y', '@other/switchboard'],
  ['a', 'node', '/x/other/dist/index.js'],
  ['a', 'grep', '/x/switchboard/dist/index.js'],
])('%s: %s %s %s %s is another server', (key, cmd, ...args) => {
  expect(is(key, cmd, ...args)).toBe(false);
});

test('the running program is recognized under any path', () => {
  const folder = realpathSync(temporaryFolder());
  mkdirSync(join(folder, 'dist'));
  const program = join(folder, 'dist', 'index.js');
  writeFileSync(program, '');
  symlinkSync(program, join(folder, 'link.js'));
  const isOurs = (cmd: string, ...args: string[]) =>
    isSelf({ key: 'a', cmd, args, cwd: folder }, program);

  expect(isOurs('node', program)).toBe(true);
  expect(isOurs('node', './link.js')).toBe(true);
  expect(isOurs(join(folder, 'link.js'))).toBe(true);
  expect(isOurs('node', './none.js')).toBe(false);
});
