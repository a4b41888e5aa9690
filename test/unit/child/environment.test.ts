import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  BASE,
  classifyEnvironment,
  inheritedEnvironment,
  OF_ONE_PROJECT,
  OF_ONE_SESSION,
  withoutCredentials,
} from '../../../src/child/environment.ts';
import { childConfig } from '../../support/child-config.ts';
import { ROOT } from '../../support/project.ts';

const env = {
  PATH: '/bin',
  HOME: '/home/ann',
  OPENAI_API_KEY: 'the-users-own',
  GITHUB_TOKEN: 'the-users-own',
  CODEX_HOME: '/home/ann/.codex',
  SWITCHBOARD_HOME: '/home/ann/.switchboard',
  SWITCHBOARD_HTTP_TOKEN: 'ours',
  CLAUDE_CODE_OAUTH_TOKEN: 'the-hosts',
  CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR: 'the-hosts',
  CLAUDE_CODE_SESSION_ACCESS_TOKEN: 'the-hosts',
  CLAUDE_CODE_MESSAGING_SOCKET: 'the-hosts',
  CLAUDE_CODE_MESSAGING_TOKEN: 'the-hosts',
  CLAUDE_CODE_WEBSOCKET_AUTH_FILE_DESCRIPTOR: 'the-hosts',
  CLAUDE_CODE_SESSION_ID: 'the-hosts',
  CLAUDE_CODE_ENTRYPOINT: 'the-hosts',
  CLAUDE_SESSION_INGRESS_TOKEN_FILE: 'the-hosts',
  CODEX_ACCESS_TOKEN: 'the-hosts',
  CODEX_SANDBOX_NETWORK_DISABLED: 'the-hosts',
  VSCODE_GIT_IPC_AUTH_TOKEN: 'the-hosts',
  VSCODE_PID: 'the-hosts',
  PWD: 'the-hosts',
  SHLVL: 'the-hosts',
  TERM_SESSION_ID: 'the-hosts',
  XDG_SESSION_ID: 'the-hosts',
};

const namesOf = (some: object) =>
  Object.keys(inheritedEnvironment(childConfig({ name: 'box', ...some }), env)).sort();

const PLAIN = Object.keys(env)
  .filter((name) => !/^(?:ours|the-hosts)$/.test(env[name as keyof typeof env]))
  .sort();

test('a server inherits everything but credentials and what belongs to one session', () => {
  expect(namesOf({})).toEqual(PLAIN);
});

test('an assistant keeps the host’s credentials for its model', () => {
  const behind = childConfig({ name: 'box' });
  const names = namesOf({ behind });
  expect(names).toContain('CLAUDE_CODE_OAUTH_TOKEN');
  expect(names).not.toContain('SWITCHBOARD_HTTP_TOKEN');
});

test('other programs get the host’s credentials only to sign in with', () => {
  const plain = Object.keys(withoutCredentials(env));
  expect(plain).toEqual(expect.arrayContaining([...PLAIN, 'PWD', 'CLAUDE_CODE_SESSION_ID']));
  expect(plain.filter((name) => name.endsWith('TOKEN') && name !== 'GITHUB_TOKEN')).toEqual([]);
  const keepingCodex = Object.keys(withoutCredentials(env, /^CODEX_/i));
  expect(keepingCodex.filter((name) => !plain.includes(name))).toEqual(['CODEX_ACCESS_TOKEN']);
});

test('minimal leaves only what programs need to run', () => {
  expect(namesOf({ environment: 'minimal' })).toEqual(['HOME', 'PATH']);
});

test('passEnv adds variables, even those that are left out otherwise', () => {
  const passEnv = ['GITHUB_TOKEN', 'CLAUDE_CODE_SESSION_ID', 'NOT_SET'];
  expect(namesOf({ environment: 'minimal', passEnv })).toEqual([
    'CLAUDE_CODE_SESSION_ID',
    'GITHUB_TOKEN',
    'HOME',
    'PATH',
  ]);
});

test('a server that all projects share does not get what belongs to one of them', () => {
  const where = { CLAUDE_PROJECT_DIR: '/project' };
  const names = (share: 'user' | 'project') =>
    Object.keys(inheritedEnvironment(childConfig({ name: 'box', share }), where));
  expect(names('project')).toEqual(['CLAUDE_PROJECT_DIR']);
  expect(names('user')).toEqual([]);
});

test('login takes everything from the login shell, and the rest of the base from the session', () => {
  const login = { PATH: '/home/ann/bin:/bin', AWS_PROFILE: 'work', SHLVL: '1' };
  const session = { ...env, SSH_AUTH_SOCK: '/agent', AWS_PROFILE: 'other' };
  const config = childConfig({ name: 'box', environment: 'login' });
  expect(inheritedEnvironment(config, session, login)).toEqual({
    PATH: '/home/ann/bin:/bin',
    HOME: '/home/ann',
    SSH_AUTH_SOCK: '/agent',
    AWS_PROFILE: 'work',
  });
});

describe('base', () => {
  test.each(['HTTPS_PROXY', 'https_proxy', 'XDG_RUNTIME_DIR', 'LC_CTYPE', 'NODE_EXTRA_CA_CERTS'])(
    'includes %s',
    (name) => {
      const { base } = classifyEnvironment(childConfig({ name: 'box' }), { [name]: 'x' });
      expect(base).toEqual({ [name]: 'x' });
    },
  );
});

test('docs/sharing.md lists exactly these variables', () => {
  const text = readFileSync(join(ROOT, 'docs/sharing.md'), 'utf8');
  const namesBelow = (heading: string) => {
    const [, section = ''] = text.split(`### ${heading}\n`);
    const [body = ''] = section.split(/^#/m);
    const rows = body.split('\n').filter((line) => !line.startsWith('Servers '));
    return [...rows.join('\n').matchAll(/`([A-Z_][A-Z0-9_()]*\*?)`/g)].map(([, name = '']) => name);
  };
  expect(namesBelow('Base variables').sort()).toEqual([...BASE].sort());
  expect(namesBelow('Variables that belong to one session').sort()).toEqual(
    [...OF_ONE_SESSION, ...OF_ONE_PROJECT].sort(),
  );
});
