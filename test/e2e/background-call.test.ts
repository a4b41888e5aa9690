// `call` and `tools` with the servers of the background process.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { createSharedProject, killBackground, type SharedProject } from '../support/background.ts';
import { runSwitchboard } from '../support/command.ts';
import { isAlive } from '../support/processes.ts';
import { PROGRAM } from '../support/project.ts';
import { RawHost, textOf } from '../support/raw-host.ts';
import { testServer } from '../support/servers.ts';

const TOOLBOX = { box: testServer('toolbox') };

async function pidOf(host: RawHost, server = 'box'): Promise<number> {
  const { pid } = JSON.parse(textOf(await host.call(server, 'where_am_i'))) as { pid: number };
  return pid;
}

async function pidInCall(project: SharedProject, ...args: string[]): Promise<number> {
  const { stdout, stderr } = await runSwitchboard(project, ['call', 'box.where_am_i', ...args]);
  expect(stderr).toBe('');
  return (JSON.parse(stdout) as { pid: number }).pid;
}

test('call and tools use a server that is running, and print the same as with their own', async () => {
  const project = createSharedProject(
    { ...TOOLBOX, curious: testServer('asks') },
    { permissions: { deny: ['box__fail'] } },
  );
  const commands = [
    ['tools', 'box', '--json'],
    ['tools', 'box', 'echo'],
    ['call', 'box.echo', '{"text": "ü", "big": 12345678901234567890}', '--json'],
    ['call', 'box.echo', 'text=tea'],
    ['call', 'box.complain', 'text=no'],
    ['call', 'box.none'],
    ['call', 'box.fail'],
    ['call', 'nobody.echo'],
    ['call', 'curious.ask'],
  ];
  const run = async () => {
    const outcomes = [];
    for (const args of commands) {
      const { status, stdout, stderr } = await runSwitchboard(project, args);
      outcomes.push({ args, status, stdout: stdout.replace(/"ms": \d+/, ''), stderr });
    }
    return outcomes;
  };
  const own = await run();
  expect(project.backgrounds()).toEqual([]); // a command doesn't start one

  const host = await RawHost.connect(project);
  const pid = await pidOf(host);
  expect(await pidInCall(project)).toBe(pid);
  expect(await run()).toEqual(own);
  expect(await pidOf(host)).toBe(pid);
});

test('a server that only a command uses stops with it, and SWITCHBOARD_ALONE=1 starts another', async () => {
  const project = createSharedProject(TOOLBOX);
  const host = await RawHost.connect(project);
  const pid = await pidInCall(project);
  expect(isAlive(pid)).toBe(false);
  const background = await pidOf(host);
  const env = { SWITCHBOARD_ALONE: '1' };
  const alone = await runSwitchboard(project, ['call', 'box.where_am_i'], { env });
  expect((JSON.parse(alone.stdout) as { pid: number }).pid).not.toBe(background);
  project.write('switchboard.config.json', { mcpServers: TOOLBOX, shared: false });
  expect(await pidInCall(project)).not.toBe(background);
});

test('a running call is a session, and ends with Ctrl-C or the background process', async () => {
  const project = createSharedProject(TOOLBOX);
  const host = await RawHost.connect(project);
  const pid = await pidOf(host);
  const start = () => {
    const args = [PROGRAM, 'call', 'box.wait', 'ms=600000'];
    const child = spawn(process.execPath, args, { cwd: project.dir, env: project.env });
    onTestFinished(() => void child.kill('SIGKILL'));
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    return { child, exited: once(child, 'close'), stderr: () => stderr };
  };
  const clients = async () => {
    const { stdout } = await runSwitchboard(project, ['status', '--json']);
    const { backgrounds } = JSON.parse(stdout) as {
      backgrounds: { sessions: { client: string }[] }[];
    };
    return backgrounds.flatMap(({ sessions }) => sessions.map(({ client }) => client));
  };
  const isBusy = async () => (await runSwitchboard(project, ['stop', 'box'])).status === 2;

  const first = start();
  await expect.poll(clients).toEqual(['test', 'switchboard call']);
  await expect.poll(() => first.child.pid !== undefined && isAlive(pid)).toBe(true);
  first.child.kill('SIGINT');
  expect(await first.exited).toEqual([130, null]);
  await expect.poll(clients).toEqual(['test']);
  expect(await pidOf(host)).toBe(pid);

  const second = start();
  await expect.poll(isBusy).toBe(true);
  await killBackground(project);
  expect(await second.exited).toEqual([3, null]);
  expect(second.stderr()).toContain('The background process of Switchboard ended');
});
