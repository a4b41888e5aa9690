import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Sandbox } from '../../../../src/config/config.ts';
import { accessAt, createRules, realPlace } from '../../../../src/trust/sandbox/rules.ts';
import { type SandboxFolders, sandboxFolders, sandboxSettings } from './places.ts';

/** What the server can do at paths below the home directory. */
function accessIn(folders: SandboxFolders, some: Partial<Sandbox> = {}) {
  const rules = createRules(sandboxSettings(some), folders);
  return (path: string) => accessAt(realPlace(join(folders.homeFolder, path)), rules);
}

const SECRETS = [
  '.ssh/id_ed25519',
  '.aws/credentials',
  '.gnupg/private-keys-v1.d/a.key',
  '.netrc',
  '.kube/config',
  '.docker/config.json',
  '.config/gh/hosts.yml',
  '.codex/auth.json',
  '.claude/.credentials.json',
  '.claude.json',
  '.claude.json.backup',
  '.mozilla/firefox/profile/logins.json',
  '.config/google-chrome/Default/Cookies',
  '.config/chromium/Default/Cookies',
  '.switchboard/tokens/a.json',
];

test.each(SECRETS)('~/%s is hidden', (path) => {
  expect(accessIn(sandboxFolders([`home/${path}`]))(path)).toBe('hidden');
  expect(accessIn(sandboxFolders())(path)).toBe('hidden'); // also if it doesn't exist yet
});

test.each(['/run/user/1000/bus', '/run/docker.sock'])(
  '%s is hidden, because other programs would act for the server',
  (path) => {
    expect(accessAt(path, createRules(sandboxSettings(), sandboxFolders()))).toBe('hidden');
  },
);

test.each([
  ['work/src/a.ts', 'write'],
  ['.npm/_npx', 'write'],
  ['.cache/uv', 'write'],
  ['.bashrc', 'read'],
  ['other-project/a.ts', 'read'],
  ['work/.git/HEAD', 'write'],
  ['work/.git/hooks/pre-commit', 'read'],
  ['work/.git/config', 'read'],
  ['work/.mcp.json', 'read'],
  ['work/switchboard.config.json', 'read'],
  ['work/.switchboard/servers.json', 'read'],
])('~/%s: %s', (path, expected) => {
  expect(accessIn(sandboxFolders())(path)).toBe(expected);
});

test('temporary folders are private', () => {
  const rules = createRules(sandboxSettings(), sandboxFolders());
  expect(accessAt(realPlace('/tmp'), rules)).toBe('private');
});

test('places that variables move are hidden', () => {
  const folders = sandboxFolders([], { env: { CODEX_HOME: '/srv/codex', GNUPGHOME: '/srv/gpg' } });
  const rules = createRules(sandboxSettings(), folders);
  expect(['/srv/codex/auth.json', '/srv/gpg', '/srv'].map((path) => accessAt(path, rules))).toEqual(
    ['hidden', 'hidden', 'read'],
  );
});

test("a server's own folder in the project can be changed, but not its declaration", () => {
  const folders = sandboxFolders(['home/work/mcps/a/.mcp.json']);
  const access = accessIn({ ...folders, cwd: join(folders.project, 'mcps/a') });
  expect(access('work/mcps/a/data.json')).toBe('write');
  expect(access('work/mcps/a/.mcp.json')).toBe('read');
  expect(access('work/mcps/b/.mcp.json')).toBe('read');
});

test.each(['home', '.'])('a project that contains the home directory (%s) is read-only', (path) => {
  const folders = sandboxFolders();
  const access = accessIn({ ...folders, project: join(folders.root, path) });
  expect(access('.bashrc')).toBe('read');
  expect(access('.npm')).toBe('write');
  expect(access('.ssh')).toBe('hidden');
});

describe('settings', () => {
  test('allow more, and take precedence over defaults for the same path', () => {
    const access = accessIn(sandboxFolders(), {
      allowWrite: ['~/data', '${userHome}/more', 'x/../../sibling'],
      allowRead: ['~/.aws', '~/.ssh/known_hosts'],
    });
    expect(['data/a', 'more', 'sibling'].map(access)).toEqual(['write', 'write', 'write']);
    expect(['.aws/config', '.ssh/known_hosts', '.ssh/id'].map(access)).toEqual([
      'read',
      'read',
      'hidden',
    ]);
  });

  test('close what is open by default', () => {
    const access = accessIn(sandboxFolders(), {
      denyRead: ['secret'],
      denyWrite: ['src', '~/.npm'],
    });
    expect(['work/secret/a', 'work/src/a', 'work/b', '.npm'].map(access)).toEqual([
      'hidden',
      'read',
      'write',
      'read',
    ]);
  });

  test('that close a folder also close what is open by default below it', () => {
    const access = accessIn(sandboxFolders(), { denyRead: ['~'], allowRead: ['~/docs'] });
    expect(['work/a', '.npm', 'docs/a'].map(access)).toEqual(['hidden', 'hidden', 'read']);
    expect(accessIn(sandboxFolders(), { denyWrite: ['~'] })('work/a')).toBe('read');
  });

  test('that deny win over those that allow the same path', () => {
    const access = accessIn(sandboxFolders(), {
      allowWrite: ['~/a', '~/b'],
      allowRead: ['~/a'],
      denyRead: ['~/a'],
      denyWrite: ['~/b'],
    });
    expect(['a', 'b'].map(access)).toEqual(['hidden', 'read']);
  });

  test('to deny writing never show what is hidden', () => {
    expect(accessIn(sandboxFolders(), { denyWrite: ['~/.ssh'] })('.ssh/id')).toBe('hidden');
  });

  test('to allow reading never make a folder read-only', () => {
    expect(accessIn(sandboxFolders(), { allowRead: ['src'] })('work/src/a')).toBe('write');
  });

  test('to allow writing to the home directory still hide secrets', () => {
    const access = accessIn(sandboxFolders(), { allowWrite: ['~'] });
    expect(['.bashrc', '.ssh/id'].map(access)).toEqual(['write', 'hidden']);
  });

  test('can use variables', () => {
    const folders = sandboxFolders([], { env: { DATA: '/srv/data' } });
    const rules = createRules(sandboxSettings({ allowWrite: ['${DATA}/x'] }), folders);
    expect(accessAt('/srv/data/x', rules)).toBe('write');
  });

  test.each(['~/*.key', '${input:folder}'])('cannot use %s', (path) => {
    const sandbox = sandboxSettings({ denyRead: [path] });
    expect(() => createRules(sandbox, sandboxFolders())).toThrow(
      `The sandbox path ${JSON.stringify(path)} contains a wildcard or an unknown variable (denyRead in /home/me/.switchboard/switchboard.config.json).`,
    );
  });
});

describe('links', () => {
  test('a hidden link hides its target', () => {
    const folders = sandboxFolders(['data/ssh/id']);
    symlinkSync(join(folders.root, 'data/ssh'), join(folders.homeFolder, '.ssh'));
    const rules = createRules(sandboxSettings(), folders);
    expect(accessAt(join(folders.root, 'data/ssh/id'), rules)).toBe('hidden');
    expect(accessAt(join(folders.homeFolder, '.ssh'), rules)).toBe('hidden');
  });

  test('a link to something that does not exist yet is followed', () => {
    const folders = sandboxFolders();
    symlinkSync('../.ssh/new', join(folders.project, 'out'));
    expect(realPlace(join(folders.project, 'out'))).toBe(join(folders.homeFolder, '.ssh/new'));
    symlinkSync('loop', join(folders.project, 'loop'));
    expect(realPlace(join(folders.project, 'loop'))).toBe(join(folders.project, 'loop'));
  });

  test('a link in the project cannot open a folder outside', () => {
    const folders = sandboxFolders(['home/.ssh/id', 'home/.bashrc']);
    symlinkSync('../.ssh', join(folders.project, 'out'));
    for (const path of ['out', '${workspaceFolder}/out']) {
      const sandbox = sandboxSettings({ allowWrite: [path] });
      expect(() => createRules(sandbox, folders)).toThrow(/is a link that points outside/);
    }
    symlinkSync('../.ssh', join(folders.project, '.mcp.json'));
    expect(accessIn(folders)('.ssh/id')).toBe('hidden');
  });
});
