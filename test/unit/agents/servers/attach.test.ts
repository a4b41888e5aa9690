import { expect, test } from 'vitest';
import { type AttachOptions, attachServer } from '../../../../src/agents/servers/attach.ts';
import type { Candidate } from '../../../../src/agents/servers/candidate.ts';
import { SwitchboardError } from '../../../../src/base/errors.ts';
import { candidate } from './setup.ts';

const OPTIONS = {
  project: '/ws',
  homeFolder: '/home/me',
  env: { TOKEN: 's3cr3t', EMPTY: '' },
  environment: { SWITCHBOARD_DEPTH: '1' },
  selfEnvironment: { SWITCHBOARD_HOME: '/sb' },
  program: undefined,
};

const attach = (server: Partial<Candidate>, options: AttachOptions = OPTIONS) =>
  attachServer(candidate('a', server), undefined, options);

test('variables and folders are expanded everywhere, and the depth is set', () => {
  const attached = attach({
    cmd: '${workspaceFolder}/bin/${EMPTY:-tool}',
    args: ['--home=${userHome}', '${workspaceFolderBasename}', '$${TOKEN} $HOME', '${env:TOKEN}'],
    env: { KEY: '${TOKEN}', SWITCHBOARD_DEPTH: '0' },
    cwd: '${workspaceFolder}/sub',
  });
  expect(attached).toEqual({
    key: 'a',
    cmd: '/ws/bin/tool',
    args: ['--home=/home/me', 'ws', '${TOKEN} $HOME', 's3cr3t'],
    env: { KEY: 's3cr3t', SWITCHBOARD_DEPTH: '1' },
    cwd: '/ws/sub',
    url: undefined,
    headers: {},
    enabledTools: undefined,
    secrets: ['s3cr3t', '1'],
  });
});

test('variables in a URL are also expanded', () => {
  const attached = attach({
    cmd: undefined,
    url: 'https://example.com/${TOKEN}',
    headers: { Authorization: 'Bearer ${TOKEN}' },
  });
  expect(attached).toMatchObject({
    cmd: undefined,
    env: {},
    url: 'https://example.com/s3cr3t',
    headers: { Authorization: 'Bearer s3cr3t' },
  });
});

test.each([
  [undefined, undefined],
  ['/abs', '/abs'],
  ['${TOKEN}', '/ws/s3cr3t'],
  ['~/sub', '/home/me/sub'],
])('the folder %s becomes %s', (cwd, expected) => {
  expect(attach({ cwd }).cwd).toBe(expected);
});

test.each<[string, Partial<Candidate>, boolean]>([
  ['by its name', { cmd: 'switchboard' }, true],
  ['by a variable', { cmd: 'node', args: ['${BUILT}'] }, true],
  ['by where it lies', { cmd: 'node', args: ['bin.mjs'], cwd: '/opt' }, false],
  ['at an address', { cmd: undefined, url: 'https://switchboard.example/mcp' }, false],
  ['something else', { cmd: 'node', args: ['server.js'] }, false],
])('Switchboard itself inherits its locations: %s', (_what, server, isHanded) => {
  const options = { ...OPTIONS, env: { ...OPTIONS.env, BUILT: '/opt/switchboard/dist/index.js' } };
  const expected = isHanded ? { SWITCHBOARD_HOME: '/sb' } : undefined;
  expect(attach(server, options).inherited).toEqual(expected);
});

test('keeps its limits', () => {
  const limits = { startupTimeoutSec: 1, toolTimeoutSec: 2 };
  expect(attach(limits)).toMatchObject(limits);
});

test('values of variables are secret everywhere, unless they are not secrets', () => {
  const env = { KEY: 'value-of-a-key', HOME: '/home/me', OTHER: 'never-used', SCHEME: 'https' };
  const options = { ...OPTIONS, env, environment: {} };
  const secretsOf = (server: Partial<Candidate>) => attach(server, options).secrets;
  expect(secretsOf({ cmd: '${KEY}', args: [] })).toEqual(['value-of-a-key']);
  expect(secretsOf({ args: ['--key=${KEY}', '${HOME}', '$${OTHER}', '${NONE:-x}'] })).toEqual([
    'value-of-a-key',
  ]);
  expect(secretsOf({ env: { A: 'written-down', B: '${KEY}' } })).toEqual([
    'written-down',
    'value-of-a-key',
  ]);
  const url = '${SCHEME}://e.com/mcp?key=${KEY}';
  const headers = { Authorization: 'Bearer token-of-mine' };
  const remote = secretsOf({ cmd: undefined, url, headers });
  expect(remote).toEqual(
    expect.arrayContaining(['value-of-a-key', 'Bearer token-of-mine', 'token-of-mine']),
  );
  expect(remote).not.toContain('https');
  expect(secretsOf({ cmd: undefined, url: 'not at all: ${KEY}' })).toContain('value-of-a-key');
});

test('text that looks like a variable in a path stays unchanged', () => {
  const options = { ...OPTIONS, project: '/ws/${TOKEN}' };
  expect(attach({ args: ['${workspaceFolder}'] }, options).args).toEqual(['/ws/${TOKEN}']);
});

test.each<[string, Partial<Candidate>]>([
  ['${input:key}', { env: { KEY: 'x${input:key}' } }],
  ['${command:pick}', { args: ['${command:pick}'] }],
  ['${config:a.b}', { cmd: '${config:a.b}' }],
  ['${{', { cmd: undefined, url: 'https://e.com', headers: { A: '${{ secrets.A }}' } }],
  ['the environment variable UNSET', { args: ['${UNSET}'] }],
  ['the environment variable UNSET', { cwd: '${UNSET}' }],
])('%s prevents a server from being attached', (what, server) => {
  const error = catchError(() => attach(server));
  expect(error).toBeInstanceOf(SwitchboardError);
  expect(error.text).toContain('Server "a"');
  expect(error.text).toContain(what);
  expect(error.text).toContain('/project/.mcp.json');
});

function catchError(work: () => unknown): SwitchboardError {
  try {
    work();
  } catch (error) {
    return error as SwitchboardError;
  }
  throw new Error('It did not fail.');
}
