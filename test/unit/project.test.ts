// Projects as one process holds them: what each is given, what a reload changes, and that they share nothing.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Cancellation } from '../../src/base/cancellation.ts';
import { isAlive } from '../../src/base/process-table.ts';
import type { Config } from '../../src/config/config.ts';
import { Project } from '../../src/project.ts';
import { Verbatim } from '../../src/rpc/verbatim.ts';
import { createProject, type Project as Folder } from '../support/project.ts';
import { testServer } from '../support/servers.ts';

interface Place {
  readonly pid: number;
  readonly cwd: string;
  readonly args: string[];
  readonly env: Record<string, string>;
}

/** A project that is open until the test is over, and the lines it logs. */
async function openProject({ dir, env }: Folder, more: Record<string, string> = {}) {
  const logged: string[] = [];
  const loaded: Config[] = [];
  const note = (line: string): void => void logged.push(line);
  const project = await Project.open({
    folder: dir,
    environment: { ...env, ...more },
    hasAgents: true,
    log: { debug: () => {}, info: note, warn: note, error: note, child: () => {} },
    onLoaded: ({ config }) => void loaded.push(config),
  });
  let isOpen = true;
  const close = async (): Promise<void> => {
    if (isOpen) await project[Symbol.asyncDispose]();
    isOpen = false;
  };
  onTestFinished(close);
  return { project, close, logged, loaded };
}

/** Where the server of a project finds itself. */
async function whereAmI({ switchboard }: Project): Promise<Place> {
  const child = await switchboard.pool.use('box', new Cancellation());
  const result = await child.callTool('where_am_i', Verbatim.of({}), {});
  const { content } = result.value as { content: { text: string }[] };
  return JSON.parse(content[0]?.text ?? '') as Place;
}

/** What a host of the project is answered. */
async function ask({ switchboard }: Project, method: string, params: object = {}): Promise<object> {
  const text = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  return new Promise((resolve) => {
    const { session, close } = switchboard.openSession({
      send: (json) => {
        resolve((JSON.parse(json) as { result: object }).result);
        close();
      },
    });
    session.receive({ text, value: JSON.parse(text), framing: 'newline' });
  });
}

function createBox(...args: string[]): Folder {
  return createProject({
    'switchboard.config.json': { mcpServers: { box: testServer('toolbox', ...args) } },
  });
}

test('two projects coexist in one process, each with its own folder, environment and home', async () => {
  const [one, two] = [createBox('first'), createBox('second')];
  const first = await openProject(one, { SECRET: 'of the first' });
  const second = await openProject(two, { OTHER: 'of the second' });
  for (const { project } of [first, second]) project.openControlSoon(() => {});

  const [here, there] = [await whereAmI(first.project), await whereAmI(second.project)];
  expect(here).toMatchObject({ cwd: one.dir, args: ['first'], env: { SECRET: 'of the first' } });
  expect(there).toMatchObject({ cwd: two.dir, args: ['second'], env: { OTHER: 'of the second' } });
  expect(here.env['OTHER']).toBeUndefined();
  expect(there.env['SECRET']).toBeUndefined();
  for (const { env } of [here, there]) expect(env['VITEST']).toBeUndefined(); // this process's own
  for (const { dir } of [one, two]) {
    expect(existsSync(join(dir, 'home/.switchboard/run'))).toBe(true);
  }

  one.write('switchboard.config.json', { mcpServers: {} });
  expect(await first.project.reload()).toMatchObject({ ok: true });
  expect(first.project.config.children.size).toBe(0);
  expect((await whereAmI(second.project)).pid).toBe(there.pid);

  await first.close();
  expect(isAlive(here.pid)).toBe(false);
  expect((await whereAmI(second.project)).pid).toBe(there.pid);
  expect(await ask(second.project, 'tools/list')).toMatchObject({ tools: [{ name: 'box_suite' }] });
  expect(second.logged).toEqual([]);
  await second.close();
  expect(isAlive(there.pid)).toBe(false);
});

test('after a reload nothing of the previous configuration is left', async () => {
  const { command, args } = testServer('toolbox');
  const box = { command, args };
  const folder = createProject({
    'switchboard.config.json': {
      mcpServers: { box, gone: { command, args } },
      timeouts: { stopMs: 1_000, questionMs: 1_000 },
      limits: { messageBytes: 1 << 20 },
      agents: { show: 'off', maxRuns: 1 },
    },
    '.agents/helper.toml': 'name = "helper"\ndescription = "Helps."\ninstructions = "Help."\n',
    'home/.switchboard/config.toml': '[logging]\nlevel = "warn"\n',
  });
  const { project, loaded } = await openProject(folder);
  const { switchboard } = project;
  const limits = switchboard.hostLimits; // a connected host keeps using them
  const crew = await switchboard.crew();
  expect(switchboard.offeredEras).toBe('both');

  folder.write('home/.switchboard/switchboard.config.json', {
    mcpServers: { box: { ...box, description: 'A box.', assistant: { maxRounds: 3 } } },
  });
  folder.write('switchboard.config.json', {
    mcpServers: { added: { command, args, show: 'flip' } },
    timeouts: { stopMs: 2_000, questionMs: 2_000 },
    limits: { messageBytes: 2 << 20 },
    agents: { show: 'direct', maxRuns: 2 },
  });
  folder.write('home/.switchboard/config.toml', '[logging]\nlevel = "debug"\n');
  expect(await project.reload()).toMatchObject({ ok: true });

  expect(loaded).toEqual([expect.anything(), project.config]);
  expect(project.config).toMatchObject({
    stopMs: 2_000,
    questionMs: 2_000,
    logging: { level: 'debug' },
    agents: { maxRuns: 2 },
  });
  expect(project.config.children.get('box')?.assistant).toMatchObject({ maxRounds: 3 });
  expect(limits.limitBytes).toBe(2 << 20);
  expect(switchboard.offeredEras).toBe('handshake');
  expect(switchboard.facts.children.map(({ name }) => name)).toEqual(['added', 'box']);
  expect(JSON.stringify(await ask(project, 'tools/list'))).toMatch(/A box\..*helper/);
  const names = (await (await crew.servers()).available()).servers.map(({ key }) => key);
  expect(names).toEqual(['added', 'box']);
  await expect(async () => switchboard.pool.use('gone', new Cancellation())).rejects.toThrow(
    'No server is named "gone".',
  );
});

test('a server whose declaration only moves keeps running, and its errors name the new file', async () => {
  // Without `cwd`, the user's servers run in the home directory.
  const box = { ...testServer('toolbox'), rpcTimeoutMs: 500, cwd: '/' };
  const folder = createProject({ 'switchboard.config.json': { mcpServers: { box } } });
  const { project } = await openProject(folder);
  const { pool } = project.switchboard;
  const child = await pool.use('box', new Cancellation());

  folder.write('switchboard.config.json', {});
  const userFile = folder.write('home/.switchboard/switchboard.config.json', {
    mcpServers: { box },
  });
  expect(await project.reload()).toMatchObject({ ok: true });

  expect(await pool.use('box', new Cancellation())).toBe(child);
  const late = child.callTool('wait', Verbatim.of({ ms: 60_000 }), {});
  await expect(late).rejects.toMatchObject({ hint: expect.stringContaining(userFile) });
});
