import { expect, test } from 'vitest';
import { inheritedEnvironment, withoutCredentials } from '../../../src/child/environment.ts';
import { childConfig } from '../../support/child-config.ts';

const env = {
  PATH: '/bin',
  HOME: '/home/ann',
  OPENAI_API_KEY: 'the-users-own',
  GITHUB_TOKEN: 'the-users-own',
  CLAUDE_PROJECT_DIR: '/project',
  CLAUDE_CODE_MAX_OUTPUT_TOKENS: '4096',
  CODEX_HOME: '/home/ann/.codex',
  SWITCHBOARD_HOME: '/home/ann/.switchboard',
  SWITCHBOARD_HTTP_TOKEN: 'ours',
  CLAUDE_CODE_OAUTH_TOKEN: 'the-hosts',
  CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR: 'the-hosts',
  CLAUDE_CODE_SESSION_ACCESS_TOKEN: 'the-hosts',
  CLAUDE_CODE_MESSAGING_SOCKET: 'the-hosts',
  CLAUDE_CODE_MESSAGING_TOKEN: 'the-hosts',
  CLAUDE_CODE_WEBSOCKET_AUTH_FILE_DESCRIPTOR: 'the-hosts',
  CLAUDE_SESSION_INGRESS_TOKEN_FILE: 'the-hosts',
  CODEX_ACCESS_TOKEN: 'the-hosts',
  VSCODE_GIT_IPC_AUTH_TOKEN: 'the-hosts',
};

const namesOf = (some: object) =>
  Object.keys(inheritedEnvironment(childConfig({ name: 'box', ...some }), env));

const PLAIN = Object.keys(env).filter(
  (name) => !/^(?:ours|the-hosts)$/.test(env[name as keyof typeof env]),
);

test('a server inherits everything but the credentials of Switchboard and the host', () => {
  expect(namesOf({})).toEqual(PLAIN);
});

test('an assistant keeps the host’s credentials for its model', () => {
  const behind = childConfig({ name: 'box' });
  const names = namesOf({ behind });
  expect(names).toContain('CLAUDE_CODE_OAUTH_TOKEN');
  expect(names).not.toContain('SWITCHBOARD_HTTP_TOKEN');
});

test('other programs get the host’s credentials only to sign in with', () => {
  expect(Object.keys(withoutCredentials(env))).toEqual(PLAIN);
  expect(Object.keys(withoutCredentials(env, /^CODEX_/i))).toEqual([
    ...PLAIN,
    'CODEX_ACCESS_TOKEN',
  ]);
});

test('minimal leaves only what programs need to run', () => {
  expect(namesOf({ environment: 'minimal' })).toEqual(['PATH', 'HOME']);
});
