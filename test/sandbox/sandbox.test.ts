// Servers in a real sandbox (bubblewrap), behind the built program.
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { runSwitchboard } from '../support/command.ts';
import { eventually, isAlive } from '../support/processes.ts';
import { PATIENT } from '../support/project.ts';
import { RawHost, textOf } from '../support/raw-host.ts';
import { connectBox, connectHome, createHome, reaching, SECRETS } from './setup.ts';

describe('by default', () => {
  test('the server reads files, but none that are hidden', async () => {
    const project = createHome();
    const inHome = (path: string) => join(project.homeFolder, path);
    const { attempt } = await connectBox(project, true);
    expect(await attempt('read', { path: inHome('.bashrc') })).toBe('settings');
    expect(await attempt('read', { path: inHome('other/file') })).toBe('other');
    for (const path of SECRETS) {
      expect([path, await attempt('read', { path: inHome(path) })]).toEqual([path, 'ENOENT']);
    }
    expect(await attempt('list', { path: project.homeFolder })).toBe('.bashrc .config other work');
  });

  test('without hidden files, the hidden folders are empty', async () => {
    const project = createHome();
    const inHome = (path: string) => join(project.homeFolder, path);
    for (const path of ['.netrc', '.claude.json']) rmSync(inHome(path));
    const { attempt } = await connectBox(project, true);
    for (const path of SECRETS) {
      expect([path, await attempt('read', { path: inHome(path) })]).toEqual([path, 'ENOENT']);
    }
    expect(await attempt('write', { path: inHome('.ssh/new') })).toBe('EROFS');
    expect(await attempt('write', { path: inHome('.bashrc') })).toBe('EROFS');
  });

  test('a file that another program replaces stays hidden', async () => {
    const project = createHome();
    const inHome = (path: string) => join(project.homeFolder, path);
    const { attempt } = await connectBox(project, true);
    expect(await attempt('list', { path: '.' })).toContain('reaches.mjs');
    writeFileSync(inHome('.claude.json.new'), 'new secret');
    renameSync(inHome('.claude.json.new'), inHome('.claude.json'));
    expect(await attempt('read', { path: inHome('.claude.json') })).toBe('ENOENT');
  });

  test('the server changes the project, and nothing else', async () => {
    const project = createHome();
    const { attempt } = await connectBox(project, true);
    const inHome = (path: string) => join(project.homeFolder, path);
    const outside = join(project.homeFolder, '../outside/file');
    expect(await attempt('write', { path: 'result' })).toBe('ok');
    expect(readFileSync(join(project.dir, 'result'), 'utf8')).toBe('changed');
    for (const path of [inHome('.bashrc'), inHome('new'), inHome('other/file'), '/etc/new']) {
      expect([path, await attempt('write', { path })]).toEqual([path, 'EROFS']);
    }
    expect(await attempt('write', { path: 'switchboard.config.json' })).toBe('EROFS');
    // The folder is in /tmp, of which the server has its own.
    expect(await attempt('read', { path: outside })).toBe('ENOENT');
    expect(readFileSync(outside, 'utf8')).toBe('outside');
  });

  test('the server has its own temporary folder and sees only its own processes', async () => {
    const { attempt } = await connectBox(createHome(), true);
    const path = join(tmpdir(), `switchboard-private-${process.pid}`);
    expect(await attempt('write', { path })).toBe('ok');
    expect(await attempt('read', { path })).toBe('changed');
    expect(existsSync(path)).toBe(false);
    expect(Number(await attempt('processes'))).toBeLessThan(4);
    expect(await attempt('read', { path: `/proc/${process.pid}/environ` })).not.toContain('PATH');
  });
});

test('the network is on, unless it is turned off', async () => {
  const listener = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
  onTestFinished(() => void listener.close());
  await new Promise((resolve) => listener.once('listening', resolve));
  const { port } = listener.address() as { port: number };
  const open = await connectBox(createHome(), true);
  expect(await open.attempt('connect', { port })).toBe('ok');
  const closed = await connectBox(createHome(), { network: false });
  expect(await closed.attempt('connect', { port })).toBe('ECONNREFUSED');
});

test('settings open and close files', async () => {
  const project = createHome();
  project.write('secret/file', 'secret');
  project.write('fixed/file', 'fixed');
  const { attempt } = await connectBox(project, {
    filesystem: {
      allowRead: ['~/.aws', '~/.ssh/id_ed25519'],
      allowWrite: ['~/other'],
      denyRead: ['secret'],
      denyWrite: ['fixed'],
    },
  });
  const inHome = (path: string) => join(project.homeFolder, path);
  expect(await attempt('read', { path: inHome('.aws/credentials') })).toBe('secret');
  expect(await attempt('read', { path: inHome('.ssh/id_ed25519') })).toBe('secret');
  expect(await attempt('write', { path: inHome('.aws/credentials') })).toBe('EROFS');
  expect(await attempt('write', { path: inHome('other/file') })).toBe('ok');
  expect(await attempt('read', { path: 'secret/file' })).toBe('ENOENT');
  expect(await attempt('read', { path: 'fixed/file' })).toBe('fixed');
  expect(await attempt('write', { path: 'fixed/file' })).toBe('EROFS');
});

test("a project can't open the user's sandbox", async () => {
  const project = createHome();
  project.write('../.switchboard/switchboard.config.json', { suites: { box: { sandbox: true } } });
  const open = { filesystem: { allowRead: ['~/.ssh'], allowWrite: ['~'] } };
  for (const sandbox of [false, open]) {
    const { attempt } = await connectBox(project, sandbox);
    const path = join(project.homeFolder, '.ssh/id_ed25519');
    expect(await attempt('read', { path })).toBe('ENOENT');
    expect(await attempt('write', { path: join(project.homeFolder, '.bashrc') })).toBe('EROFS');
  }
});

test('if a server fails to start, the error lists what is hidden', async () => {
  const project = createHome();
  const secret = join(project.homeFolder, '.aws/credentials');
  project.write('switchboard.config.json', {
    ...PATIENT,
    mcpServers: { box: reaching(true, 'needs', secret) },
  });
  const { attempt } = await connectHome(project);
  const text = await attempt('list', { path: '.' });
  expect(text).toContain('ENOENT: no such file or directory');
  expect(text).toMatch(
    /The server runs in a sandbox\. Hidden from it: .*~\/\.aws.*\. It can change/,
  );
  expect(text).toContain('It can change only: ~/work');

  const { status, stdout } = await runSwitchboard(project, ['doctor', '--json']);
  expect(status).not.toBe(0);
  expect(stdout).toContain('Hidden from it');
});

test('a list of domains is refused', async () => {
  const sandbox = { network: { allowedDomains: ['example.com'] } };
  const { attempt } = await connectBox(createHome(), sandbox);
  expect(await attempt('list', { path: '.' })).toContain(
    `Server "box" did not start: it must run in a sandbox, but bubblewrap can't limit the network to some domains, only turn it off.`,
  );
});

describe('stopping', () => {
  const staying = (project: { dir: string }) => reaching(true, 'stay', join(project.dir, 'told'));

  test('a server in a sandbox gets SIGTERM, and no process is left', async () => {
    const project = createHome();
    const timeouts = { ...PATIENT.timeouts, stopMs: 300 };
    project.write('switchboard.config.json', { timeouts, mcpServers: { box: staying(project) } });
    const { host, attempt } = await connectHome(project);
    await attempt('list', { path: '.' });
    const pid = await boxPid(project);
    host.process.stdin?.end();
    await host.exited;
    expect(await eventually(() => !isAlive(pid))).toBe(true);
    expect(readFileSync(join(project.dir, 'told'), 'utf8')).toBe('told');
  });

  test('if Switchboard is killed, the next one stops the server', async () => {
    const project = createHome();
    project.write('switchboard.config.json', { ...PATIENT, mcpServers: { box: staying(project) } });
    const { host, attempt } = await connectHome(project);
    await attempt('list', { path: '.' });
    const pid = await boxPid(project);
    host.process.kill('SIGKILL');
    await host.exited;
    await RawHost.connect(project);
    expect(await eventually(() => !isAlive(pid))).toBe(true);
    expect(await eventually(() => existsSync(join(project.dir, 'told')))).toBe(true);
  });

  async function boxPid(project: Parameters<typeof runSwitchboard>[0]): Promise<number> {
    const { stdout } = await runSwitchboard(project, ['status', '--json']);
    const { running } = JSON.parse(stdout) as { running: { children: { pid: number }[] }[] };
    return running[0]?.children[0]?.pid ?? 0;
  }
});

describe('published servers start with npx', () => {
  const THOUGHT = { thought: 'a', nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 };

  test.each([
    ['everything', [], 'echo', { message: 'hello' }, 'Echo: hello'],
    ['memory', [], 'read_graph', {}, '"entities": []'],
    ['filesystem', ['.'], 'list_directory', { path: '.' }, 'reaches.mjs'],
    ['sequential-thinking', [], 'sequentialthinking', THOUGHT, '"thoughtNumber": 1'],
  ])('server-%s', async (name, args, tool, toolArgs, expected) => {
    const project = createHome();
    const command = {
      command: 'npx',
      args: ['-y', `@modelcontextprotocol/server-${name}`, ...args],
    };
    project.write('switchboard.config.json', {
      timeouts: { childSpawnMs: 240_000 },
      mcpServers: { box: { ...command, sandbox: true } },
    });
    // With proxies and certificates, but not with the settings of the npm that runs these tests.
    const outer = Object.entries(process.env).filter(([key]) => !/^npm_/i.test(key));
    const env = { ...Object.fromEntries(outer), ...project.env } as Record<string, string>;
    const host = await RawHost.connect({ ...project, env });
    expect(textOf(await host.call('box', tool, toolArgs))).toContain(expected);
    expect(existsSync(join(project.homeFolder, '.npm/_npx'))).toBe(true);
  });
});
