// `status` and `reload`, against programs with a control endpoint and canned answers.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { runSwitchboard } from '../support/command.ts';
import { startControlProgram } from '../support/control.ts';
import { configWith, createProject, PROGRAM, type Project } from '../support/project.ts';
import { slow, test } from '../support/slow.ts';
import { runOnTerminal } from '../support/terminal.ts';

const SERVERS = { memory: { command: 'memory-server' }, github: { command: 'github-server' } };

const homeOf = (project: Project) => join(project.dir, 'home/.switchboard');

/** What a running Switchboard of a project reports. */
function reportOf(project: string, ...children: object[]): object {
  return {
    version: '1.2.3',
    startedAt: new Date().toISOString(),
    project,
    files: [],
    memoryBytes: 50_000_000,
    sessions: [{ client: 'claude-code', revision: '2025-11-25', active: [] }],
    children,
    runs: [],
  };
}

const READY = { name: 'memory', show: 'suite', state: 'ready', pid: 77, calls: 3, tools: 9 };
const FAILED = { name: 'github', show: 'flip', state: 'error', lastError: 'It has no token.' };

/** Runs a command; what differs between machines and runs is made the same. */
async function run(project: Project, args: readonly string[]) {
  const { status, stdout, stderr } = await runSwitchboard(project, args);
  const steady = (text: string) =>
    text
      .replaceAll(project.dir, '<project>')
      .replaceAll(/pid \d+/g, 'pid <pid>')
      .replaceAll(/since [\d :-]+/g, 'since <time>');
  return { status, stdout: steady(stdout), stderr: steady(stderr) };
}

async function runJson(project: Project, args: readonly string[]): Promise<unknown> {
  const { stdout } = await runSwitchboard(project, [...args, '--json']);
  return JSON.parse(stdout) as unknown;
}

describe('status, if none is running', () => {
  test('shows the configured servers', async () => {
    const project = createProject(configWith({ ...SERVERS, bare: {} }));
    const { status, stdout, stderr } = await run(project, ['status']);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatchInlineSnapshot(`
      "No Switchboard is running.

      <project>  as configured
        server  state    shown
        memory  ○ idle   suite
        github  ○ idle   suite
        bare    ✗ error  suite
          Server "bare" has neither a "command" nor a "url".
      "
    `);
  });

  test('shows only one server, and as a document', async () => {
    const project = createProject(configWith(SERVERS));
    expect(await runJson(project, ['status', 'github'])).toEqual({
      project: project.dir,
      child: 'github',
      backgrounds: [],
      running: [],
      unanswered: [],
      configured: {
        project: project.dir,
        files: [join(project.dir, 'switchboard.config.json')],
        children: [{ name: 'github', show: 'suite', state: 'idle', calls: 0 }],
        missing: [],
      },
    });
  });

  test('without any server, and with an invalid file', async () => {
    const project = createProject();
    expect((await run(project, ['status'])).stdout).toMatchInlineSnapshot(`
      "No Switchboard is running.

      <project>  as configured
        No servers are configured.
      "
    `);
    project.write('switchboard.config.json', '{');
    const { status, stderr } = await run(project, ['status']);
    expect(status).toBe(2);
    expect(stderr).toContain('Invalid JSON');
  });
});

describe('status, if some are running', () => {
  slow('shows each, this project’s first, and one that does not answer', async () => {
    const project = createProject(configWith(SERVERS));
    const home = homeOf(project);
    await startControlProgram(home, { project: '/elsewhere', status: 'never' });
    await startControlProgram(home, { status: reportOf('/another', FAILED) });
    await startControlProgram(home, { status: reportOf(project.dir, READY, FAILED) });
    const { status, stdout, stderr } = await run(project, ['status']);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatchInlineSnapshot(`
      "<project>  pid <pid>, since <time>, claude-code, alone, 50 MB
        server  state    shown  pid  calls  tools
        memory  ● ready  suite   77      3      9
        github  ✗ error  flip
          It has no token.

      /another  pid <pid>, since <time>, claude-code, alone, 50 MB
        server  state    shown
        github  ✗ error  flip
          It has no token.

      /elsewhere  pid <pid>: not responding
      "
    `);
  });

  test('says if none of them belongs to this project, even if its file is invalid', async () => {
    const project = createProject({ 'switchboard.config.json': '{' });
    await startControlProgram(homeOf(project), { status: reportOf('/another', READY) });
    const { status, stdout } = await run(project, ['status']);
    expect(status).toBe(0);
    expect(stdout).toMatchInlineSnapshot(`
      "No Switchboard is running for this project (<project>).

      /another  pid <pid>, since <time>, claude-code, alone, 50 MB
        server  state    shown  pid  calls  tools
        memory  ● ready  suite   77      3      9
      "
    `);
  });

  test('shows only one server, and knows the names of all', async () => {
    const project = createProject(configWith(SERVERS));
    await startControlProgram(homeOf(project), { status: reportOf('/another', READY) });
    const memory = await run(project, ['status', 'memory']);
    expect(memory.stdout).toContain('● ready');
    const github = await run(project, ['status', 'github']);
    expect(github.stdout).toMatchInlineSnapshot(`
      "No running Switchboard has this server.

      <project>  as configured
        server  state   shown
        github  ○ idle  suite
      "
    `);
    const unknown = await run(project, ['status', 'memmory']);
    expect(unknown).toEqual({
      status: 2,
      stdout: '',
      stderr: 'switchboard: No server is named "memmory".\nDid you mean memory?\n',
    });
  });

  slow('--json prints everything', async () => {
    const project = createProject();
    const { pid } = await startControlProgram(homeOf(project), {
      status: reportOf(project.dir, READY),
    });
    const silent = await startControlProgram(homeOf(project), { project: '/other', status: 1 });
    expect(await runJson(project, ['status'])).toEqual({
      project: project.dir,
      backgrounds: [],
      running: [{ ...reportOf(project.dir, READY), startedAt: expect.any(String), pid }],
      unanswered: [{ pid: silent.pid, project: '/other', problem: 'sent an invalid response' }],
    });
  });

  test('a killed program is not shown, and its leftovers are removed', async () => {
    const project = createProject(configWith(SERVERS));
    const runFolder = join(homeOf(project), 'run');
    const program = await startControlProgram(homeOf(project), { status: reportOf('/x', READY) });
    await program.end('SIGKILL');
    expect(readdirSync(runFolder)).toHaveLength(2);
    expect((await run(project, ['status'])).stdout).toContain('No Switchboard is running.');
    expect(readdirSync(runFolder)).toEqual([]);
  });
});

describe('status --watch', () => {
  slow('needs a terminal', async () => {
    const project = createProject(configWith(SERVERS));
    for (const more of [[], ['--json']]) {
      const { status, stdout, stderr } = await run(project, ['status', '--watch', ...more]);
      expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
      expect(stderr).toContain('--watch requires a terminal.');
    }
  });

  slow('redraws until Ctrl-C, then restores the terminal and prints the last state', async () => {
    const project = createProject(configWith(SERVERS));
    const program = await startControlProgram(homeOf(project), {
      status: reportOf(project.dir, READY),
    });
    const { status, screen } = await runOnTerminal(
      [process.execPath, PROGRAM, 'status', '--watch'],
      {
        cwd: project.dir,
        env: project.env,
        keys: (shown) => {
          if (!program.process.killed) program.process.kill('SIGTERM');
          return shown.includes('No Switchboard is running.') ? '\u0003' : undefined;
        },
      },
    );
    expect(status).toBe(0);
    expect(screen).toContain('\u001b[?1049h');
    expect(screen).toContain('● ready');
    const after = screen.slice(screen.lastIndexOf('\u001b[?1049l'));
    expect(after).toContain('No Switchboard is running.');
    expect(after).toContain('github');
  });

  test('an unknown server is an error before anything is drawn', async () => {
    const project = createProject(configWith(SERVERS));
    const { status, screen } = await runOnTerminal(
      [process.execPath, PROGRAM, 'status', 'nope', '--watch'],
      { cwd: project.dir, env: project.env },
    );
    expect(status).toBe(2);
    expect(screen).toContain('No server is named "nope".');
    expect(screen).not.toContain('\u001b[?1049h');
  });
});

describe('reload', () => {
  test('says if none is running', async () => {
    const project = createProject();
    expect(await run(project, ['reload'])).toMatchInlineSnapshot(`
      {
        "status": 0,
        "stderr": "",
        "stdout": "No Switchboard is running. The next one will load the current configuration.
      ",
      }
    `);
    expect(await runJson(project, ['reload'])).toEqual({ reloaded: [] });
  });

  slow('reports the result of each program, even if this project’s file is invalid', async () => {
    const project = createProject({ 'switchboard.config.json': '{' });
    const ok = { ok: true, message: 'Read 2 files; 3 servers.' };
    const { pid } = await startControlProgram(homeOf(project), { project: '/one', reload: ok });
    expect(await run(project, ['reload'])).toMatchInlineSnapshot(`
      {
        "status": 0,
        "stderr": "",
        "stdout": "✓ /one  pid <pid>: Read 2 files; 3 servers.
      ",
      }
    `);
    expect(await runJson(project, ['reload'])).toEqual({
      reloaded: [{ pid, project: '/one', ...ok }],
    });
  });

  slow('a program that could not read its configuration makes the exit status 2', async () => {
    const project = createProject();
    const home = homeOf(project);
    const bad = { ok: false, message: '/two/switchboard.config.json:1:2: Invalid JSON.' };
    await startControlProgram(home, { project: '/one', reload: { ok: true, message: 'Done.' } });
    await startControlProgram(home, { project: '/two', reload: bad });
    await startControlProgram(home, { project: '/three' });
    const { status, stdout, stderr } = await run(project, ['reload']);
    expect({ status, stderr }).toEqual({ status: 2, stderr: '' });
    expect(stdout.split('\n').sort()).toEqual([
      '',
      '✓ /one  pid <pid>: Done.',
      '✗ /three  pid <pid>: Method not found: reload',
      '✗ /two  pid <pid>: /two/switchboard.config.json:1:2: Invalid JSON.',
    ]);
  });
});
