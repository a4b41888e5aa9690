// Commands that control servers and sessions of the background process, and those that serve alone.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createRecorded, createSharedProject, type SharedProject } from '../support/background.ts';
import { runSwitchboard } from '../support/command.ts';
import { startControlProgram } from '../support/control.ts';
import { eventually, isAlive } from '../support/processes.ts';
import { PROGRAM, type Project } from '../support/project.ts';
import { RawHost, textOf } from '../support/raw-host.ts';
import { testServer } from '../support/servers.ts';

const TOOLBOX = { box: testServer('toolbox'), spare: testServer('toolbox') };

interface Document {
  readonly backgrounds: {
    readonly pid: number;
    readonly isAccepting: boolean;
    readonly sessions: { readonly client: string; readonly project: string }[];
    readonly children: {
      readonly name: string;
      readonly state: string;
      readonly pid?: number;
      readonly sessions?: number;
      readonly calls: number;
    }[];
  }[];
  readonly running: { readonly pid: number }[];
}

async function statusOf(project: Project): Promise<Document> {
  const { stdout } = await runSwitchboard(project, ['status', '--json']);
  return JSON.parse(stdout) as Document;
}

async function pidOf(host: RawHost, server = 'box'): Promise<number> {
  const { pid } = JSON.parse(textOf(await host.call(server, 'where_am_i'))) as { pid: number };
  return pid;
}

/** What differs between runs is made the same. */
function steady(text: string, project: SharedProject): string {
  return text
    .replaceAll(project.dir, '<project>')
    .replaceAll(/pid \d+/g, 'pid <pid>')
    .replaceAll(/since [\d:]+/g, 'since <time>')
    .replaceAll(/version [\d.]+/g, 'version <version>')
    .replaceAll(/\d+ MB/g, '<n> MB');
}

test('stop and restart one server in every session, but not during calls', async () => {
  const project = createRecorded();
  const host = await RawHost.connect(project, { client: 'claude-code' });
  const alone = await RawHost.connect(project, { client: 'codex', args: ['--alone'] });
  const pids = [await pidOf(host), await pidOf(alone)];
  const held = host.call('rec', 'hold', { n: 'one' });
  await eventually(() => project.calls().length === 1);

  const refused = await runSwitchboard(project, ['stop', 'rec']);
  expect(refused).toMatchObject({ status: 2, stdout: '' });
  expect(steady(refused.stderr, project)).toMatchInlineSnapshot(`
    "switchboard: Server "rec" has calls in flight from claude-code in <project>.
    To stop it anyway: switchboard stop rec --force
    "
  `);
  const forced = await runSwitchboard(project, ['stop', 'rec', '--force']);
  expect(forced.stdout).toMatch(/^Stopped rec \(pid \d+, 1 session\)\.\n$/);
  expect(textOf(await held)).toMatchInlineSnapshot(
    `"Child MCP rec exited with code 0 while working on subtool "hold". It restarts the next time it's used. It printed nothing on stderr."`,
  );

  const stopped = await runSwitchboard(project, ['stop', 'box', '--json']);
  const { stopped: ended } = JSON.parse(stopped.stdout) as { stopped: { pid: number }[] };
  expect(new Set(ended.map(({ pid }) => pid))).toEqual(new Set(pids));
  expect(pids.filter(isAlive)).toEqual([]);
  const again = await runSwitchboard(project, ['stop', 'box']);
  expect(again).toMatchObject({ status: 0, stdout: 'box is not running.\n' });
  expect(await runSwitchboard(project, ['stop', 'bix'])).toMatchObject({ status: 2 });

  const next = await pidOf(host);
  const restarted = await runSwitchboard(project, ['restart', 'box']);
  expect(restarted.stdout).toBe(`Restarted box (pid ${next}, 1 session).\n`);
  const isReady = async (): Promise<boolean> => {
    const [background] = (await statusOf(project)).backgrounds;
    const box = background?.children.find(({ name }) => name === 'box');
    return box?.state === 'ready' && box.pid !== next;
  };
  await expect.poll(isReady).toBe(true);
});

test('reload reaches the sessions of the background process', async () => {
  const project = createSharedProject(TOOLBOX);
  const hosts = [await RawHost.connect(project), await RawHost.connect(project)];
  project.write('switchboard.config.json', { mcpServers: { fresh: testServer('toolbox') } });
  const { stdout } = await runSwitchboard(project, ['reload', '--json']);
  const { reloaded } = JSON.parse(stdout) as { reloaded: { ok: boolean; project: string }[] };
  expect(reloaded).toMatchObject([
    { ok: true, project: project.dir },
    { ok: true, project: project.dir },
  ]);
  for (const host of hosts) expect(await host.toolNames()).toEqual(['fresh_suite']);
});

test('logs shows what servers print and what the background process does, without secrets', async () => {
  const secret = 'sk-canary-0123456789';
  const project = createSharedProject({
    'my box!': { ...testServer('toolbox'), env: { TOKEN: secret } },
    quiet: { ...testServer('toolbox'), stderr: 'drop' },
  });
  const none = await runSwitchboard(project, ['logs']);
  expect(none).toMatchObject({ status: 0, stdout: '' });
  expect(none.stderr).toContain('There is no log yet');

  const hosts = [await RawHost.connect(project), await RawHost.connect(project)];
  const [name = ''] = (await hosts[0]?.toolNames()) ?? [];
  for (const host of hosts) await host.callTool(name, { action: 'introspect' });
  const say = (text: string) =>
    hosts[0]?.callTool(name, { action: 'call', subtool: 'say', args: { text } });
  await say(`one ${secret}`);
  await hosts[0]?.call('quiet', 'say', { text: 'for nobody' });

  const follower = spawn(process.execPath, [PROGRAM, 'logs', 'my box!', '-f'], {
    cwd: project.dir,
    env: project.env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void follower.kill('SIGKILL'));
  let followed = '';
  follower.stdout.setEncoding('utf8').on('data', (text: string) => {
    followed += text;
  });
  await expect.poll(() => followed).toContain('one');
  await say('two');
  await expect.poll(() => followed).toContain('two');
  const exited = once(follower, 'exit');
  follower.kill('SIGINT');
  expect(await exited).toEqual([0, null]);

  const { stdout } = await runSwitchboard(project, ['logs', 'my box!']);
  expect(stdout).toBe(followed);
  expect(stdout).toMatch(/^\S+Z one \S+\n\S+Z two\n$/); // once, though two sessions have it
  expect(stdout).not.toContain(secret);
  const last = await runSwitchboard(project, ['logs', 'my box!', '-n', '1', '--json']);
  const { lines, file } = JSON.parse(last.stdout) as { lines: string[]; file: string };
  expect(lines).toEqual([expect.stringMatching(/ two$/)]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(join(project.home, 'logs/servers'))).toHaveLength(1);
  expect(await runSwitchboard(project, ['logs', 'quiet'])).toMatchObject({ status: 0, stdout: '' });
  expect(await runSwitchboard(project, ['logs', '../../run/background'])).toMatchObject({
    status: 2,
    stdout: '',
  });
  const own = await runSwitchboard(project, ['logs']);
  expect(own.stdout).toMatch(/started \(version .*\n.*session of .* opened\./);

  const alone = await RawHost.connect(project, { args: ['--alone'] });
  await alone.call('quiet', 'say', { text: 'x' });
  await alone.callTool(name, { action: 'call', subtool: 'say', args: { text: 'elsewhere' } });
  expect((await runSwitchboard(project, ['logs', 'my box!'])).stdout).toBe(stdout);
});

test('stop --all also ends sessions that serve alone, and --force one that is suspended', async () => {
  const project = createSharedProject(TOOLBOX);
  const host = await RawHost.connect(project, { client: 'claude-code' });
  const alone = await RawHost.connect(project, { client: 'codex', args: ['--alone'] });
  const pids = [await pidOf(host), await pidOf(alone)];
  await expect.poll(async () => (await statusOf(project)).running).toHaveLength(1);
  const refused = await runSwitchboard(project, ['stop', '--all']);
  expect(refused.status).toBe(2);
  expect(refused.stderr).toContain('claude-code in ');
  expect(refused.stderr).toContain('codex in ');

  process.kill(project.background(), 'SIGSTOP');
  const silent = await runSwitchboard(project, ['stop']);
  expect(silent).toMatchObject({ status: 3, stdout: '' });
  const stopped = await runSwitchboard(project, ['stop', '--all', '--force']);
  expect(stopped).toMatchObject({ status: 0, stderr: '' });
  expect(await alone.exited).toEqual({ code: 0, signal: null });
  expect(pids.filter(isAlive)).toEqual([]);
  expect(await pidOf(host)).toBeGreaterThan(0); // killed, so its entry has started another one
  await host.close();
  expect(await runSwitchboard(project, ['stop', '--all'])).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/^(?:Nothing is running|Stopped the background process)/),
  });
});

test('status and stop know background processes of other versions', async () => {
  const project = createSharedProject(TOOLBOX);
  const old = {
    version: '0.0.1',
    startedAt: new Date().toISOString(),
    isAccepting: false,
    sessions: [{ client: 'codex', project: '/elsewhere', startedAt: '', entry: 1, active: [] }],
    children: [],
    runs: [],
  };
  const canned = { project: '', background: '0.0.1', status: old };
  const { pid } = await startControlProgram(project.home, canned);
  const { stdout } = await runSwitchboard(project, ['status']);
  expect(stdout).toMatch(
    /^background process {2}version 0\.0\.1, pid \d+, since .*, 1 session, accepts no new sessions$/m,
  );
  expect(await runSwitchboard(project, ['stop'])).toEqual({
    status: 0,
    stdout:
      'No background process is running.\nStill running: the background process of version 0.0.1. To stop everything: switchboard stop --all\n',
    stderr: '',
  });
  const refused = await runSwitchboard(project, ['stop', '--all']);
  expect(refused.stderr).toBe(
    'switchboard: This would interrupt 1 session: codex in /elsewhere.\nClose it, or run: switchboard stop --all --force\n',
  );
  const impossible = await runSwitchboard(project, ['stop', '--all', '--force']);
  expect(impossible).toMatchObject({ status: 3, stdout: '' });
  expect(impossible.stderr).toContain(`(pid ${pid}) wasn't stopped: Method not found: stop.`);
});
