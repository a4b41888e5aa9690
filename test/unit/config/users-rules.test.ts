// What the user's own files restrict, a project can't bring back.
import { expect, test } from 'vitest';
import type { ChildConfig, Config } from '../../../src/config/config.ts';
import { isExposed } from '../../../src/config/server/expose.ts';
import { createProject } from './temp-project.ts';

const GITHUB = { command: 'npx', args: ['-y', '@mcp/github'] };
const USER_FILE = '../home/.switchboard/switchboard.config.json';
const USER_SERVERS = '../home/.switchboard/servers.json';
const PROJECT_FILE = 'switchboard.config.json';

const load = (files: Record<string, object>): Promise<Config> => createProject(files).load();
const serverIn = async (files: Record<string, object>, name = 'github'): Promise<ChildConfig> => {
  const child = (await load(files)).children.get(name);
  if (!child) throw new Error('There is no such server.');
  return child;
};
const exposedOf = ({ expose }: ChildConfig) =>
  ['a', 'b', 'c'].filter((name) => isExposed(name, expose));

const user = (keys: object) => ({ mcpServers: { github: { ...GITHUB, ...keys } } });

test.each([
  ['suites of both', { suites: { github: { expose: { deny: ['a'] } } } }, { expose: { deny: [] } }],
  ['the declaration', user({ expose: { deny: ['a'] } }), { expose: { deny: ['b'] } }],
  ['allow', user({ expose: { allow: ['b', 'c'] } }), { expose: { allow: ['a', 'b'] } }],
])("a project can't lift what the user's file hides: %s", async (_, users, suite) => {
  const files = {
    [USER_FILE]: { mcpServers: { github: GITHUB }, ...users },
    [PROJECT_FILE]: { suites: { github: suite } },
  };
  expect(exposedOf(await serverIn(files))).not.toContain('a');
});

test('every deny counts, and every allow must allow a tool', async () => {
  const child = await serverIn({
    [USER_FILE]: user({ expose: { deny: ['a'] } }),
    [PROJECT_FILE]: { suites: { github: { expose: { deny: ['b'] } } } },
  });
  expect(exposedOf(child)).toEqual(['c']);
  const both = await serverIn({
    [USER_FILE]: user({ expose: { allow: ['a', 'b'] } }),
    [PROJECT_FILE]: { suites: { github: { expose: { allow: ['b', 'c'] } } } },
  });
  expect(exposedOf(both)).toEqual(['b']);
});

test('within one file, suites still take precedence over the declaration', async () => {
  const child = await serverIn({
    [USER_FILE]: {
      ...user({ expose: { allow: ['a'], deny: ['c'] } }),
      suites: { github: { expose: { allow: ['b', 'c'] } } },
    },
  });
  expect(exposedOf(child)).toEqual(['b']);
});

test('rules follow a server that a project declares under another name', async () => {
  const project = (entry: object) => ({
    [USER_FILE]: user({ expose: { deny: ['a'] }, readOnly: true }),
    [PROJECT_FILE]: { mcpServers: { gh: entry } },
  });
  const same = await serverIn(project({ command: '/usr/bin/npx', args: ['@mcp/github@2'] }), 'gh');
  expect(exposedOf(same)).toEqual(['b', 'c']);
  expect(same.rules?.readOnlyIn).toContain('.switchboard/switchboard.config.json');
  const other = await serverIn(project({ command: 'npx', args: ['@mcp/gitlab'] }), 'gh');
  expect(exposedOf(other)).toEqual(['a', 'b', 'c']);
  expect(other.rules).toBeUndefined();
});

test('a server that a project declares by the same name keeps the rules for the name', async () => {
  const child = await serverIn({
    [USER_FILE]: user({ expose: { deny: ['a'] }, readOnly: true }),
    [PROJECT_FILE]: { mcpServers: { github: { command: 'other' } } },
  });
  expect(child.command?.cmd).toBe('other');
  expect(exposedOf(child)).toEqual(['b', 'c']);
  expect(child.rules?.readOnlyIn).toBeDefined();
});

test("the user's own servers go by their names", async () => {
  const { children } = await load({
    [USER_FILE]: {
      mcpServers: {
        github: { ...GITHUB, show: 'off' },
        work: { ...GITHUB, expose: { deny: ['a'] } },
      },
      permissions: { deny: ['github__b'] },
    },
  });
  expect(children.get('work')).toMatchObject({ show: 'suite', expose: { deny: ['a'] } });
  expect(children.get('work')?.rules).toBeUndefined();
});

test.each([
  ['show', user({ show: 'off' })],
  ['disabled', user({ disabled: true })],
  ['suites', { ...user({}), suites: { github: { show: 'off' } } }],
])("a project can't turn on what the user turned off: %s", async (_, users) => {
  const suites = { github: { show: 'direct' } };
  const again = { [USER_FILE]: users, [PROJECT_FILE]: { suites } };
  const child = await serverIn(again);
  expect(child.show).toBe('off');
  expect(child.showBecause).toContain('/.switchboard/switchboard.config.json');
  const redeclared = {
    [USER_FILE]: users,
    [PROJECT_FILE]: { mcpServers: { github: GITHUB, gh: GITHUB } },
  };
  expect(await serverIn(redeclared)).toMatchObject({ show: 'off' });
  expect(await serverIn(redeclared, 'gh')).toMatchObject({ show: 'off' });
});

test("the user's own file can turn it on again", async () => {
  const users = { ...user({ show: 'off' }), suites: { github: { show: 'suite' } } };
  expect(await serverIn({ [USER_FILE]: users })).toMatchObject({ show: 'suite' });
});

test('a project can turn off, hide and limit to reading', async () => {
  const child = await serverIn({
    [USER_FILE]: user({}),
    [PROJECT_FILE]: {
      suites: { github: { show: 'off', readOnly: true, expose: { deny: ['a'] } } },
    },
  });
  expect(child.show).toBe('off');
  expect(exposedOf(child)).toEqual(['b', 'c']);
  expect(child.rules?.readOnlyIn).toContain('project/switchboard.config.json');
});

test("a project can't turn off readOnly", async () => {
  for (const users of [
    user({ readOnly: true }),
    { ...user({}), suites: { github: { readOnly: true } } },
  ]) {
    const files = {
      [USER_FILE]: users,
      [PROJECT_FILE]: { suites: { github: { readOnly: false } } },
    };
    expect((await serverIn(files)).rules?.readOnlyIn).toBeDefined();
  }
});

test("a project that names another servers.json doesn't lift the rules of the user's", async () => {
  const child = await serverIn(
    {
      [USER_SERVERS]: { github: { ...GITHUB, expose: { deny: ['a'] } } },
      [PROJECT_FILE]: { serversFile: 'mine.json' },
      'mine.json': { gh: GITHUB },
    },
    'gh',
  );
  expect(exposedOf(child)).toEqual(['b', 'c']);
});

test('permissions of both files apply, and rules without a server are warned about', async () => {
  const { children, permissions, warnings } = await load({
    [USER_FILE]: { ...user({}), permissions: { deny: ['github__a', 'gitub'] } },
    [PROJECT_FILE]: { permissions: { allow: ['github'], deny: ['github__b'] } },
  });
  const rules = children.get('github')?.rules;
  const on = (name: string) => rules?.decide({ kind: 'tool', name, hints: {} })?.permission;
  expect([on('a'), on('b'), on('c')]).toEqual(['deny', 'deny', 'allow']);
  expect(permissions?.usersFile).toContain('/.switchboard/switchboard.config.json');
  expect(warnings).toEqual([
    expect.stringMatching(
      /permissions\.deny: "gitub" matches no server\. Did you mean "github"\?$/,
    ),
  ]);
});

test('without restrictions nothing is added to the configuration', async () => {
  const config = await load({ [PROJECT_FILE]: { mcpServers: { github: GITHUB } } });
  expect(config).not.toHaveProperty('permissions');
  expect(config.children.get('github')).not.toHaveProperty('rules');
});

const STRICT = { expose: { deny: ['a'] }, readOnly: true, environment: 'minimal', sandbox: true };

test.each([
  ['another name', GITHUB],
  ['a version', { command: 'npx', args: ['-y', '@mcp/github@1.2.3'] }],
  ['@latest', { command: 'npx', args: ['@mcp/github@latest'] }],
  ['the path of the program', { command: '/usr/local/bin/npx', args: ['--yes', '@mcp/github'] }],
  ['another runner', { command: 'bunx', args: ['@mcp/github'] }],
  ['a package option', { command: 'npx', args: ['-y', '-p', '@mcp/github', 'mcp-github'] }],
  ['a shell', { command: 'cmd', args: ['/c', 'npx', '-y', '@mcp/github'] }],
  ['variables', { command: 'env', args: ['A=1', 'npx', '@mcp/github'] }],
])("a project can't loosen the user's settings for the same server: %s", async (_, entry) => {
  const loose = { environment: 'inherit', sandbox: false, readOnly: false, show: 'direct' };
  for (const keys of [STRICT, { ...STRICT, show: 'off' }]) {
    const child = await serverIn(
      {
        [USER_FILE]: user(keys),
        [PROJECT_FILE]: { mcpServers: { gh: { ...entry, ...loose } }, environment: 'inherit' },
      },
      'gh',
    );
    expect(exposedOf(child)).toEqual(['b', 'c']);
    expect(child.rules?.readOnlyIn).toBeDefined();
    expect(child.environment).toBe('minimal');
    expect(child.sandbox).toBeDefined();
    expect(child.show).toBe('show' in keys ? 'off' : 'direct');
  }
});

test.each([
  'https://api.example.com/mcp',
  'https://api.example.com/mcp/',
  'https://API.Example.COM/mcp',
  'HTTPS://api.example.com:443/mcp',
  'https://api.example.com./mcp?key=1',
  'https://api.example.com//mcp#x',
  'https://api.example.com/%6dcp',
  'https://me:pw@api.example.com/x/../mcp',
  'wss://api.example.com/mcp',
])("a project can't loosen the user's settings for the same address: %s", async (url) => {
  const child = await serverIn(
    {
      [USER_FILE]: {
        mcpServers: { api: { ...STRICT, url: 'https://api.example.com/mcp', show: 'off' } },
      },
      [PROJECT_FILE]: { mcpServers: { other: { url, show: 'direct', readOnly: false } } },
    },
    'other',
  );
  expect(exposedOf(child)).toEqual(['b', 'c']);
  expect(child).toMatchObject({ show: 'off', environment: 'minimal' });
  expect(child.rules?.readOnlyIn).toBeDefined();
});

test.each([
  ['the top level', { environment: 'minimal', mcpServers: { github: GITHUB } }],
  ['the declaration', user({ environment: 'minimal' })],
  ['suites', { ...user({}), suites: { github: { environment: 'minimal' } } }],
])("a project can't loosen the user's environment: %s", async (_, users) => {
  for (const projects of [
    { environment: 'inherit' },
    { suites: { github: { environment: 'inherit' } } },
    { mcpServers: { github: { ...GITHUB, environment: 'inherit' } } },
  ]) {
    const child = await serverIn({ [USER_FILE]: users, [PROJECT_FILE]: projects });
    expect(child.environment).toBe('minimal');
  }
});

test("the user's environment for all servers also holds for a project's", async () => {
  const files = (users: object) => ({
    [USER_FILE]: { environment: 'minimal', ...users },
    [PROJECT_FILE]: { mcpServers: { own: { command: 'own', environment: 'inherit' } } },
  });
  expect((await serverIn(files({}), 'own')).environment).toBe('minimal');
  const exempt = { suites: { own: { environment: 'inherit' } } };
  expect((await serverIn(files(exempt), 'own')).environment).toBe('inherit');
});

test("a project can tighten the user's environment", async () => {
  const child = await serverIn({
    [USER_FILE]: { environment: 'inherit', ...user({}) },
    [PROJECT_FILE]: { suites: { github: { environment: 'minimal' } } },
  });
  expect(child.environment).toBe('minimal');
});
