import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ChildConfig } from '../../../src/config/config.ts';
import {
  differences,
  fitsBase,
  type IdentityParts,
  processIdentity,
} from '../../../src/pool/process-identity.ts';
import { childConfig } from '../../support/child-config.ts';
import { temporaryFolder } from '../../support/fake-child.ts';

function identify(some: Partial<ChildConfig> = {}, more: Partial<IdentityParts> = {}) {
  const env = { PATH: '/bin', HOME: '/home/ann', TOKEN: 'of-ann' };
  const parts = { env, variables: env, project: '/project', home: '/home', session: 1, ...more };
  return processIdentity(childConfig({ name: 'box', share: 'user', ...some }), {
    ...parts,
    variables: more.variables ?? parts.env,
  });
}

const command = (cmd: string, ...args: string[]) => ({ command: { cmd, args, env: {} } });

describe('a process is another one', () => {
  const changes: [string, Partial<ChildConfig>, Partial<IdentityParts>][] = [
    ['under another name', { name: 'other' }, {}],
    ['with other arguments', command('server', '-v'), {}],
    ['in another folder', { cwd: '/elsewhere' }, {}],
    ['with its own variable', { command: { cmd: 'server', args: [], env: { A: '1' } } }, {}],
    ['with an ambient variable', {}, { env: { PATH: '/bin', HOME: '/home/ann', TOKEN: 'x' } }],
    ['in a sandbox', { sandbox: { origin: 'x' } as ChildConfig['sandbox'] }, {}],
    ['with another limit', { messageBytes: 2_048 }, {}],
    ['in another framing', { framing: 'content-length' }, {}],
    ['with other roots', {}, { roots: '[a]' }],
    ['in another home', {}, { home: '/other' }],
  ];
  test.each(changes)('%s', (_how, config, parts) => {
    expect(identify(config, parts).key).not.toBe(identify().key);
  });
});

test('it is the same for sessions that write it differently', () => {
  const written = identify({ command: { cmd: 'server', args: ['${TOKEN}'], env: {} } });
  const literal = identify({ command: { cmd: 'server', args: ['of-ann'], env: {} } });
  expect(written.key).toBe(literal.key);
  expect(identify({ origin: '/other/file', idleMs: 1, description: 'x', show: 'flip' }).key).toBe(
    identify().key,
  );
});

test('the program is resolved', () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'bin'));
  const file = join(folder, 'bin/server');
  writeFileSync(file, '#!/bin/sh\n');
  chmodSync(file, 0o755);
  symlinkSync(file, join(folder, 'link'));
  const env = { PATH: join(folder, 'bin') };
  const byName = identify(command('server'), { env });
  expect(byName.key).toBe(identify(command(file), { env }).key);
  expect(byName.key).toBe(identify(command(join(folder, 'link')), { env }).key);
});

test('an update of its package is another process', () => {
  const cwd = temporaryFolder();
  const script = join(cwd, 'server.js');
  writeFileSync(script, '');
  const release = (version: string) =>
    writeFileSync(join(cwd, 'package.json'), JSON.stringify({ version }));
  release('1.0.0');
  const before = identify(command('node', script));
  expect(identify(command('node', script)).key).toBe(before.key);
  release('1.0.1');
  expect(identify(command('node', script)).key).not.toBe(before.key);
});

test('the scope keeps projects and sessions apart', () => {
  const other = { project: '/other', session: 2 };
  expect(identify({ share: 'user' }, other).key).toBe(identify({ share: 'user' }).key);
  for (const share of ['project', 'session'] as const) {
    expect(identify({ share }, other).key).not.toBe(identify({ share }).key);
  }
  expect(identify({ share: 'project' }, { session: 2 }).key).toBe(
    identify({ share: 'project' }).key,
  );
});

test('a remote server depends on its address and headers, not on ambient variables', () => {
  const remote = { type: 'http', url: 'https://example.com', headers: { a: '${TOKEN}' } } as const;
  const far = { command: undefined, remote };
  const env = { TOKEN: 'of-ann', OTHER: 'x' };
  expect(identify(far, { env }).key).toBe(identify(far).key);
  expect(identify(far, { env: { TOKEN: 'of-bob' } }).key).not.toBe(identify(far).key);
});

test('base variables differ only if both sides have one', () => {
  expect(fitsBase({ PATH: '/bin', LANG: 'C' }, { PATH: '/bin', SSH_AUTH_SOCK: '/a' })).toBe(true);
  expect(fitsBase({ SSH_AUTH_SOCK: '/b' }, { SSH_AUTH_SOCK: '/a' })).toBe(false);
  expect(fitsBase({ TERM: 'dumb' }, { TERM: 'xterm' })).toBe(true);
});

test('the variables that keep two processes apart are named, without their values', () => {
  const one = identify({}, { env: { PATH: '/bin', AWS_PROFILE: 'a', SAME: '1' } });
  const other = identify({}, { env: { PATH: '/usr/bin', HOME: '/h', KUBECONFIG: 'k', SAME: '1' } });
  expect(one.family).toBe(other.family);
  expect(differences(one, other)).toEqual(['AWS_PROFILE', 'KUBECONFIG', 'PATH']);
});
