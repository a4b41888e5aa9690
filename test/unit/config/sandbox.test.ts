import { describe, expect, test } from 'vitest';
import { readHostServers } from '../../../src/install/servers.ts';
import { createProject, type Project } from './temp-project.ts';

const USER = '../home/.switchboard/switchboard.config.json';
const NODE = { command: 'node', args: ['a.js'] };

const sandboxOf = async (project: Project, name = 'a') => {
  const sandbox = (await project.load()).children.get(name)?.sandbox;
  return sandbox && { ...sandbox, origin: project.plain(sandbox.origin) };
};

const ON = {
  allowRead: [],
  allowWrite: [],
  denyRead: [],
  denyWrite: [],
  network: 'on',
  hasDomains: false,
  origin: '<project>/switchboard.config.json',
};

const inProject = (keys: object) =>
  createProject({ 'switchboard.config.json': { mcpServers: { a: { ...NODE, ...keys } } } });

test.each([
  ['nothing', {}, undefined],
  ['false', { sandbox: false }, undefined],
  ['true', { sandbox: true }, ON],
  ['settings', { sandbox: {} }, ON],
  ["VS Code's switch", { sandboxEnabled: true }, ON],
  ["VS Code's switch, off", { sandboxEnabled: false }, undefined],
  ["settings with VS Code's switch off", { sandbox: {}, sandboxEnabled: false }, undefined],
  ['no network', { sandbox: { network: false } }, { ...ON, network: 'off' }],
  ['no domain at all', { sandbox: { network: { allowedDomains: [] } } }, { ...ON, network: 'off' }],
  [
    'some domains',
    { sandbox: { network: { allowedDomains: ['a.example'] } } },
    { ...ON, hasDomains: true },
  ],
  [
    'all but some domains',
    { sandbox: { network: { deniedDomains: ['a.example'] } } },
    { ...ON, hasDomains: true },
  ],
  [
    "VS Code's settings",
    {
      sandboxEnabled: true,
      sandbox: {
        filesystem: { allowWrite: ['${workspaceFolder}/out'], denyRead: ['~/x'], denyWrite: ['y'] },
      },
    },
    { ...ON, allowWrite: ['${workspaceFolder}/out'], denyRead: ['~/x'], denyWrite: ['y'] },
  ],
])('a server with %s', async (_name, keys, expected) => {
  expect(await sandboxOf(inProject(keys))).toEqual(expected);
});

test('a misspelled setting disables the server instead of opening its sandbox', async () => {
  const project = inProject({ sandbox: { filesystem: { denyread: ['~/x'] } } });
  expect(await project.problems()).toContain('Server "a" has an invalid configuration');
});

test('under suites, true keeps the settings of the declaration', async () => {
  const project = createProject({
    'switchboard.config.json': {
      mcpServers: { a: { ...NODE, sandbox: { filesystem: { denyRead: ['~/x'] } } } },
      suites: { a: { sandbox: true } },
    },
  });
  expect(await sandboxOf(project)).toEqual({ ...ON, denyRead: ['~/x'] });
});

describe("the user's sandbox sticks", () => {
  const users = {
    ...ON,
    origin: '<home>/.switchboard/switchboard.config.json',
    allowWrite: ['~/data'],
  };
  const settings = { filesystem: { allowWrite: ['~/data'] } };

  test('a project cannot turn it off or allow more', async () => {
    const project = createProject({
      [USER]: { mcpServers: { a: NODE }, suites: { a: { sandbox: settings } } },
      'switchboard.config.json': { suites: { a: { sandbox: false } } },
    });
    const warning = `switchboard.config.json: the sandbox of server "a" is set in <home>/.switchboard/switchboard.config.json. Other files can't turn it off or allow more (ignored).`;
    const { warnings } = await project.load();
    expect(warnings.map(project.plain)).toEqual([`<project>/${warning}`]);
    expect(await sandboxOf(project)).toEqual(users);

    const open = { filesystem: { allowWrite: ['~'], allowRead: ['~/.ssh'] }, network: true };
    project.write('switchboard.config.json', { suites: { a: { sandbox: open } } });
    expect(await sandboxOf(project)).toEqual(users);
    expect((await project.load()).warnings.map(project.plain)).toEqual([`<project>/${warning}`]);
  });

  test('a project can make it stricter', async () => {
    const strict = { filesystem: { denyRead: ['~/x'], denyWrite: ['.'] }, network: false };
    const project = createProject({
      [USER]: { mcpServers: { a: NODE }, suites: { a: { sandbox: settings } } },
      'switchboard.config.json': { suites: { a: { sandbox: strict } } },
    });
    expect((await project.load()).warnings).toEqual([]);
    expect(await sandboxOf(project)).toEqual({
      ...users,
      denyRead: ['~/x'],
      denyWrite: ['.'],
      network: 'off',
    });
  });

  test('a project that declares the same name again does not get rid of it', async () => {
    const project = createProject({
      [USER]: { mcpServers: { a: { ...NODE, sandbox: settings } } },
      'switchboard.config.json': { mcpServers: { a: { command: 'other' } } },
    });
    expect(await sandboxOf(project)).toEqual(users);
    project.write('switchboard.config.json', {});
    project.write('mcps/a/.mcp.json', { name: 'a', command: 'other', sandboxEnabled: false });
    expect(await sandboxOf(project)).toEqual(users);
  });

  test('it applies to the same command under another name', async () => {
    const project = createProject({
      [USER]: { mcpServers: { a: { ...NODE, sandbox: settings } } },
      'switchboard.config.json': { mcpServers: { b: NODE, c: { command: 'node' } } },
    });
    expect(await sandboxOf(project, 'b')).toEqual(users);
    expect(await sandboxOf(project, 'c')).toBeUndefined();
  });

  test("a project can put a server in a sandbox that the user's file leaves out", async () => {
    const project = createProject({
      [USER]: { mcpServers: { a: NODE }, suites: { a: { sandbox: false } } },
      'switchboard.config.json': { suites: { a: { sandbox: true } } },
    });
    expect(await sandboxOf(project)).toEqual(ON);
  });
});

test('on a remote server it has no effect, with a warning', async () => {
  const project = createProject({
    'switchboard.config.json': { mcpServers: { a: { url: 'https://a.example', sandbox: true } } },
  });
  expect((await project.load()).warnings.map(project.plain)).toEqual([
    '<project>/switchboard.config.json: "sandbox" has no effect on server "a", because it is remote.',
  ]);
});

test("an import keeps VS Code's settings, which are next to the servers", async () => {
  const sandbox = { network: { allowedDomains: [] } };
  const text = JSON.stringify({
    servers: { a: { ...NODE, sandboxEnabled: true }, b: NODE },
    sandbox,
  });
  const servers = await readHostServers('mcp.json', text);
  expect(Object.fromEntries(servers)).toEqual({
    a: { ...NODE, sandboxEnabled: true, sandbox },
    b: NODE,
  });
});
