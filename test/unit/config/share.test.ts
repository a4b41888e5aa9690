// Which sessions share a server's process by default, and what `share` changes.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import { createProject } from '../../support/project.ts';

async function shareOf(
  entry: object,
  { file = 'home/.switchboard/switchboard.config.json', suite = {}, cwd = '~' } = {},
) {
  const project = createProject({
    [file]: { mcpServers: { box: { cwd, ...entry } }, suites: { box: suite } },
  });
  project.write('home/note', '');
  const { children } = await loadConfig({ cwd: project.dir, env: project.env });
  const { share, shareBecause } = children.get('box') ?? {};
  return { share, because: shareBecause?.replaceAll(project.dir, '') };
}

test("a user's server in the home folder is shared by all sessions", async () => {
  expect(await shareOf({ command: 'server' })).toEqual({
    share: 'user',
    because: 'it is in your own files and runs in your home folder',
  });
  expect(await shareOf({ url: 'https://example.com/mcp' })).toMatchObject({ share: 'user' });
});

test("a project's server, or one that runs in the project, is shared within the project", async () => {
  const file = 'switchboard.config.json';
  expect(await shareOf({ command: 'server' }, { file })).toEqual({
    share: 'project',
    because: "it isn't declared in your own files",
  });
  expect(await shareOf({ command: 'server' }, { cwd: '${project}' })).toEqual({
    share: 'project',
    because: "it doesn't run in your home folder",
  });
});

test.each([
  ['npx', ['-y', '@playwright/mcp@latest', '--headless'], 'it controls a browser'],
  ['npx', ['chrome-devtools-mcp'], 'it controls a browser'],
  ['docker', ['run', '-i', '--rm', 'mcp/puppeteer:1.2'], 'it controls a browser'],
  ['node', ['/x/node_modules/@playwright/mcp/cli.js'], 'it controls a browser'],
  ['mcp-server-playwright', [], 'it controls a browser'],
  ['cmd', ['/c', 'npx', '@browsermcp/mcp'], 'it controls a browser'],
  ['npx', ['@wonderwhy-er/desktop-commander'], 'it keeps terminals open'],
  [
    'uvx',
    ['--from', 'git+https://github.com/oraios/serena', 'serena', 'start-mcp-server'],
    'it keeps state for one session',
  ],
])('%s %j belongs to one session', async (command, args, because) => {
  expect(await shareOf({ command, args })).toEqual({ share: 'session', because });
});

test.each([
  ['npx', ['@modelcontextprotocol/server-memory']],
  ['npx', ['@acme/playwright']],
  ['uvx', ['mcp-server-git', '--note', 'playwright']],
])('%s %j does not', async (command, args) => {
  expect(await shareOf({ command, args })).toMatchObject({ share: 'user' });
});

test('share decides, in the entry or under suites', async () => {
  const command = 'npx';
  const args = ['@playwright/mcp'];
  expect(await shareOf({ command, args, share: 'user' })).toEqual({
    share: 'user',
    because: `"share" in ${join('/', 'home/.switchboard/switchboard.config.json')}`,
  });
  const suite = { share: 'project' };
  expect(await shareOf({ command, args, share: 'user' }, { suite })).toMatchObject({
    share: 'project',
    because: expect.stringContaining('suites.box.share') as string,
  });
});

test('the other settings of a process are resolved', async () => {
  const project = createProject({
    'switchboard.config.json': {
      mcpServers: {
        box: { command: 'x', lingerMs: 5_000, maxMemoryMb: 512, passEnv: ['TOKEN'] },
        plain: { command: 'x' },
      },
      suites: { box: { environment: 'login' } },
      maxMemoryMb: 4_096,
    },
  });
  const config = await loadConfig({ cwd: project.dir, env: project.env });
  expect(config.maxMemoryMb).toBe(4_096);
  expect(config.children.get('box')).toMatchObject({
    lingerMs: 5_000,
    maxMemoryMb: 512,
    passEnv: ['TOKEN'],
    environment: 'login',
  });
  expect(config.children.get('plain')).toMatchObject({ lingerMs: 0, passEnv: [] });
  expect(config.children.get('plain')?.maxMemoryMb).toBeUndefined();
});
