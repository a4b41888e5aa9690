// Commands that see and control the background process and its sessions.
import { existsSync, readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createSharedProject, type SharedProject } from '../support/background.ts';
import { runSwitchboard } from '../support/command.ts';
import { eventually, isAlive } from '../support/processes.ts';
import type { Project } from '../support/project.ts';
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

test('status shows the background process once, with its sessions and each shared server', async () => {
  const project = createSharedProject(TOOLBOX);
  const [one, other] = [
    await RawHost.connect(project, { client: 'claude-code' }),
    await RawHost.connect(project, { client: 'codex' }),
  ];
  const pid = await pidOf(one);
  expect(await pidOf(other)).toBe(pid);

  const { backgrounds, running } = await statusOf(project);
  expect(running).toEqual([]);
  expect(backgrounds).toMatchObject([
    {
      pid: project.background(),
      isAccepting: true,
      sessions: [
        { client: 'claude-code', project: project.dir },
        { client: 'codex', project: project.dir },
      ],
      children: [
        { name: 'box', state: 'ready', pid, sessions: 2, calls: 2 },
        { name: 'spare', state: 'idle', calls: 0 },
      ],
    },
  ]);
  const { stdout } = await runSwitchboard(project, ['status']);
  const [heading] = stdout.split('\n');
  expect(steady(heading ?? '', project)).toBe(
    'background process  version <version>, pid <pid>, since <time>, <n> MB, 2 sessions',
  );
  expect(stdout).toMatch(/^ {2}claude-code +\S+ +\S+ \w+ +shared$/m);
  // Commands use the same process.
  const call = await runSwitchboard(project, ['call', 'box.where_am_i']);
  expect((JSON.parse(call.stdout) as { pid: number }).pid).toBe(pid);
  // No file of its own for each session.
  const endpoints = readdirSync(project.run).filter((name) => name.endsWith('.endpoint'));
  expect(endpoints).toHaveLength(1);
});

test('stop refuses to interrupt sessions, and sessions survive if it is forced to', async () => {
  const project = createSharedProject(TOOLBOX);
  const nothing = await runSwitchboard(project, ['stop']);
  expect(nothing).toMatchObject({ status: 0, stdout: 'No background process is running.\n' });

  const host = await RawHost.connect(project, { client: 'claude-code' });
  const server = await pidOf(host);
  const before = project.background();
  const refused = await runSwitchboard(project, ['stop']);
  expect(refused.status).toBe(2);
  expect(steady(refused.stderr, project)).toMatchInlineSnapshot(`
    "switchboard: This would interrupt 1 session: claude-code in <project>.
    Close it, or run: switchboard stop --force
    "
  `);

  const stopped = await runSwitchboard(project, ['stop', '--force']);
  expect({ ...stopped, stdout: steady(stopped.stdout, project) }).toMatchInlineSnapshot(`
    {
      "status": 0,
      "stderr": "",
      "stdout": "Stopped the background process (version <version>, pid <pid>).
      Interrupted: claude-code in <project>.
      The host's next request starts a new background process.
    ",
    }
  `);
  expect([isAlive(before), isAlive(server)]).toEqual([false, false]);
  expect(project.backgrounds()).toEqual([]);

  expect(await pidOf(host)).not.toBe(server);
  const restarted = await runSwitchboard(project, ['restart', '--force']);
  expect(restarted.stdout).toMatch(/^Restarted the background process/);
  expect(await eventually(() => project.backgrounds().length === 1)).toBe(true);
  await host.close();
  const { stdout } = await runSwitchboard(project, ['stop', '--json']);
  expect(JSON.parse(stdout)).toMatchObject({ stopped: [{ sessions: [] }] });
  expect(
    existsSync(project.run) && readdirSync(project.run).some((n) => n.endsWith('.endpoint')),
  ).toBe(false);
});
