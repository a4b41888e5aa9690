import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import type { ChildConfig } from '../../../src/config/config.ts';
import { boundFolderOf, identityOf, lastingIdentityOf } from '../../../src/pool/identity.ts';
import { childConfig } from '../../support/child-config.ts';
import { temporaryFolder } from '../../support/fake-child.ts';

const kid = (some: Partial<ChildConfig>) => childConfig({ name: 'kid', ...some });
const command = { cmd: 'server', args: ['--fast'], env: { KEY: 'one', OTHER: 'x' } };

function writePackage(folder: string, version: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ version }));
}

test('the same declaration is the same server, with any name and show mode', () => {
  const same = { ...kid({ command }), name: 'other', description: 'x', show: 'flip' as const };
  expect(identityOf(same)).toBe(identityOf(kid({ command })));
  expect(identityOf(kid({ command }))).toMatch(/^[0-9a-f]{16}$/);
});

test.each<[string, Partial<ChildConfig>]>([
  ['command', { command: { ...command, cmd: 'other' } }],
  ['arguments', { command: { ...command, args: ['--slow'] } }],
  ['number of arguments', { command: { ...command, args: ['--fast', ''] } }],
  ['variables', { command: { ...command, env: { KEY: 'one' } } }],
  ['folder', { command, cwd: '/elsewhere' }],
])('another %s is another server', (_what, some) => {
  expect(identityOf(kid(some))).not.toBe(identityOf(kid({ command })));
});

test('values and order of variables and headers do not matter', () => {
  const env = { OTHER: 'y', KEY: 'two' };
  expect(identityOf(kid({ command: { ...command, env } }))).toBe(identityOf(kid({ command })));
  const remote = (headers: Record<string, string>) =>
    kid({
      command: undefined,
      remote: { url: 'https://a.example/', type: 'http', headers, oauth: {} },
    });
  expect(identityOf(remote({ A: '1', B: '2' }))).toBe(identityOf(remote({ B: '3', A: '4' })));
  expect(identityOf(remote({ A: '1' }))).not.toBe(identityOf(remote({ B: '1' })));
});

test.each<[string, (folder: string) => { cmd: string; args: string[] }, string]>([
  ['a script', (folder) => ({ cmd: 'node', args: [join(folder, 'pkg/dist/x.js')] }), 'pkg'],
  [
    'a script by its path in the project',
    () => ({ cmd: '/usr/bin/node', args: ['pkg/x.js'] }),
    'pkg',
  ],
  ['a package of the project', () => ({ cmd: 'npx', args: ['-y', '@a/b'] }), 'node_modules/@a/b'],
])('%s in another version is another server', (_what, commandIn, place) => {
  const cwd = temporaryFolder();
  const config = kid({ cwd, command: { ...commandIn(cwd), env: {} } });
  const unknown = identityOf(config);
  writePackage(join(cwd, place), '1.0.0');
  const first = identityOf(config);
  expect(first).not.toBe(unknown);
  writePackage(join(cwd, place), '1.0.1');
  expect(identityOf(config)).not.toBe(first);
});

test('an unknown version is not a problem', () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'package.json'));
  writeFileSync(join(folder, 'x.js'), '');
  for (const args of [[], ['-e', '1'], ['x.js'], ['no/such/file.js'], ['/'], ['..'], ['\u0000']]) {
    const config = kid({ cwd: folder, command: { cmd: 'node', args, env: {} } });
    expect(identityOf(config)).toBe(identityOf(config));
    expect(dirname(folder)).not.toBe(folder);
  }
  expect(identityOf(kid({ command: undefined }))).toMatch(/^[0-9a-f]{16}$/);
});

/** A server of the user's that runs in whatever project uses it. */
const users = (cmd: string, ...args: string[]) =>
  kid({ isCwdGiven: false, command: { cmd, args, env: {} } });

test.each([
  ['npx', '-y', '@modelcontextprotocol/server-memory'],
  ['npx', '-y', '@scope/pkg@1.2.3', '--fast'],
  ['npx.cmd', 'pkg@latest', '/home/ada/notes', '--url=https://a.example/x'],
  ['uvx', 'mcp-server-time', '--local-timezone=UTC'],
  ['node', '/opt/server/index.js', '--port', '7'],
  ['/usr/local/bin/python3.12', '/opt/server.py'],
  ['github-mcp-server', 'stdio'],
  ['docker', 'run', '-i', '--rm', 'image'],
])('does not depend on the folder: %s %s %s', (...words) => {
  const [cmd = '', ...args] = words;
  const here = users(cmd, ...args);
  const there = { ...here, cwd: '/elsewhere' };
  expect(boundFolderOf(here)).toBeUndefined();
  expect(identityOf(there)).toBe(identityOf(here));
});

test.each([
  ['npx', '-y', '@modelcontextprotocol/server-filesystem', '.'],
  ['npx', 'pkg', './data'],
  ['npx', 'pkg', 'data/notes'],
  ['npx', 'pkg', '--root=data/notes'],
  ['npx', 'pkg', '${workspaceFolder}'],
  ['npx', './local-package'],
  ['node', 'server.js'],
  ['node', '--import', 'tsx', '/opt/server.ts'],
  ['node'],
  ['python', '-m', 'server'],
  ['uv', 'run', 'server'],
  ['bash', '-c', 'server'],
  ['./server'],
  ['bin/server'],
  ['server', 'config.json'],
  ['$SERVER'],
])('may depend on the folder: %s %s %s %s', (...words) => {
  const [cmd = '', ...args] = words;
  const here = users(cmd, ...args);
  expect(boundFolderOf(here)).toBe('/project');
  expect(identityOf({ ...here, cwd: '/elsewhere' })).not.toBe(identityOf(here));
});

test('a configured cwd counts, and a remote server has no folder', () => {
  const { command: npx } = users('npx', 'pkg');
  expect(boundFolderOf(kid({ command: npx, isCwdGiven: true }))).toBe('/project');
  const remote = { url: 'https://a.example/', type: 'http', headers: {} } as const;
  expect(boundFolderOf(kid({ command: undefined, remote }))).toBeUndefined();
});

test('a package installed in the project depends on the folder', () => {
  const cwd = temporaryFolder();
  const config = { ...users('npx', 'pkg'), cwd };
  expect(boundFolderOf(config)).toBeUndefined();
  writePackage(join(cwd, 'node_modules/pkg'), '1.0.0');
  expect(boundFolderOf(config)).toBe(cwd);
});

test('an update changes the identity, but not the lasting one', () => {
  const folder = temporaryFolder();
  const updated = kid({ command: { cmd: 'node', args: [join(folder, 'index.js')], env: {} } });
  const identities = ['1.0.0', '2.0.0'].map((version) => {
    writePackage(folder, version);
    return [identityOf(updated), lastingIdentityOf(updated)] as const;
  });
  expect(identities[0]?.[0]).not.toBe(identities[1]?.[0]);
  expect(identities[0]?.[1]).toBe(identities[1]?.[1]);
  expect(lastingIdentityOf({ ...updated, name: 'other' })).not.toBe(lastingIdentityOf(updated));
});
