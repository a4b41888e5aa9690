// Commands that control servers and sessions of the background process, and those that serve alone.
import { expect, test } from 'vitest';
import { createRecorded, createSharedProject, type SharedProject } from '../support/background.ts';
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
