// The package as users get it: packed, installed into an empty folder, run.
import { readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type Outcome, runCommand } from '../support/command.ts';
import { createProject, type Project, ROOT } from '../support/project.ts';
import { MOCK_CHILD } from '../support/servers.ts';

const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  version: string;
};

let project: Project;
let removeProject = () => {};
let packed: string[] = [];

beforeAll(async () => {
  project = createProject({ 'package.json': { private: true } }, (remove) => {
    removeProject = remove;
  });
  // Not the scripts: they would build anew while other tests use what is built.
  const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', project.dir];
  const { stdout } = await npm(pack, ROOT);
  const [{ filename = '', files = [] } = {}] = JSON.parse(stdout) as {
    filename?: string;
    files?: { path: string }[];
  }[];
  packed = files.map(({ path }) => path);
  const tarball = join(project.dir, filename);
  await npm(['install', '--offline', '--no-audit', '--no-fund', tarball], project.dir);
});

afterAll(() => removeProject());

async function npm(args: readonly string[], cwd: string): Promise<Outcome> {
  const outcome = await runCommand('npm', args, { cwd, env: project.env });
  expect(outcome.status, outcome.stderr).toBe(0);
  return outcome;
}

test('contains only the program, its schema, its skill and its documents', () => {
  const others = packed.filter((path) => !path.startsWith('dist/'));
  expect(others.sort()).toEqual([
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'install.sh',
    'package.json',
    'skill/SKILL.md',
    'switchboard.config.schema.json',
  ]);
  expect(packed).toEqual(expect.arrayContaining(['dist/index.js', 'dist/switchboard']));
});

test('installs nothing else', async () => {
  const { stdout } = await npm(['ls', '--all', '--json'], project.dir);
  const { dependencies } = JSON.parse(stdout) as { dependencies: Record<string, object> };
  expect(Object.keys(dependencies)).toEqual(['switchboard']);
  expect(dependencies['switchboard']).not.toHaveProperty('dependencies');
});

test('the command runs, through its link and npx', async () => {
  const { dir, env } = project;
  const link = join(dir, 'node_modules/.bin/switchboard');
  expect(realpathSync(link)).toBe(
    realpathSync(join(dir, 'node_modules/switchboard/dist/index.js')),
  );
  for (const [command, ...args] of [
    [link, '--version'],
    ['npx', '--offline', 'switchboard', '--version'],
    [process.execPath, 'node_modules/switchboard/dist/switchboard', '--version'],
  ] as const) {
    const { status, stdout } = await runCommand(command, args, { cwd: dir, env });
    expect({ status, stdout }).toEqual({ status: 0, stdout: `${version}\n` });
  }
});

test('the command serves an official SDK client', async () => {
  const { dir, env } = project;
  project.write('switchboard.config.json', { mcpServers: { mock: MOCK_CHILD } });
  const client = new Client({ name: 'test', version: '1' });
  const command = join(dir, 'node_modules/.bin/switchboard');
  await client.connect(new StdioClientTransport({ command, args: [], cwd: dir, env }));
  onTestFinished(() => client.close());
  expect(client.getServerVersion()).toMatchObject({ name: 'switchboard', version });
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(['mock_suite']);
  const call = { action: 'call', subtool: 'click', args: { selector: '#a' } };
  expect(await client.callTool({ name: 'mock_suite', arguments: call })).toMatchObject({
    ok: true,
    name: 'click',
    args: { selector: '#a' },
  });
});

test('commands also work from the installed package, with all their chunks', async () => {
  const { dir, env } = project;
  project.write('switchboard.config.json', { mcpServers: { mock: MOCK_CHILD } });
  for (const args of [
    ['doctor'],
    ['config', 'check'],
    ['config', 'schema'],
    ['tools'],
    ['skill', 'install', '--no-register'],
  ]) {
    const command = join(dir, 'node_modules/.bin/switchboard');
    const { status, stderr } = await runCommand(command, args, { cwd: dir, env });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  }
});
