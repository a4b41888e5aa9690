// `switchboard doctor` while servers take their time: what is known is printed at once, kept on Ctrl-C, and
// a download is named.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runSwitchboard } from '../support/command.ts';
import { eventually, processesWith } from '../support/processes.ts';
import { configWith, createProject, PROGRAM, type Project } from '../support/project.ts';
import { RawHost, toolsOf } from '../support/raw-host.ts';
import { testServer } from '../support/servers.ts';
import { runOnTerminal } from '../support/terminal.ts';

/** A server that starts as soon as the file `gate` exists, and one that is there already. */
function createSlowProject(slow?: object): Project & { open(): void } {
  const project = createProject();
  const gate = join(project.dir, 'gate');
  project.write('switchboard.config.json', {
    mcpServers: {
      slow: slow ?? testServer('waits-for-file', `${gate}-own`, gate),
      quick: testServer('toolbox', project.dir),
    },
    timeouts: { childSpawnMs: 600_000 },
  });
  return { ...project, open: () => writeFileSync(gate, '') };
}

function startDoctor({ dir, env }: Project, ...words: string[]) {
  const program = spawn(process.execPath, [PROGRAM, 'doctor', ...words], { cwd: dir, env });
  const printed = { stdout: '', stderr: '' };
  program.stdout.setEncoding('utf8').on('data', (text: string) => (printed.stdout += text));
  program.stderr.setEncoding('utf8').on('data', (text: string) => (printed.stderr += text));
  return { program, printed, ended: once(program, 'close') };
}

test('prints results while another server is still starting', async () => {
  const project = createSlowProject();
  const { printed, ended } = startDoctor(project);
  await expect.poll(() => printed.stdout).toContain('✓ quick  7 tools');
  expect(printed.stdout).not.toContain('slow');
  project.open();
  expect(await ended).toEqual([0, null]);
  expect(printed.stdout).toMatch(/✓ quick[^✓]*✓ slow[^✓]*Working servers: 2 of 2\.\n$/);
});

test('says which sessions share each server, and why', async () => {
  const project = createProject({
    ...configWith({
      box: testServer('toolbox'),
      web: { ...testServer('toolbox'), share: 'session' },
    }),
    'home/.switchboard/switchboard.config.json': {
      mcpServers: { notes: { ...testServer('toolbox'), cwd: '~' } },
    },
  });
  const { stdout } = await runSwitchboard(project, ['doctor']);
  expect(stdout).toMatch(/✓ notes[^✓]*shared by all your sessions \(it is in your own files and/);
  expect(stdout).toMatch(/✓ box[^✓]*shared by the sessions in this project \(it isn't declared in/);
  expect(stdout).toMatch(/✓ web[^✓]*not shared \("share" in /);
  const { stdout: json } = await runSwitchboard(project, ['doctor', '--json']);
  const { children } = JSON.parse(json) as { children: { name: string; share: string }[] };
  const shares = children.map(({ name, share }) => `${name}: ${share}`).sort();
  expect(shares).toEqual(['box: project', 'notes: user', 'web: session']);
});

describe('an interruption', () => {
  test('keeps the results so far, names the rest, and exits with 130', async () => {
    const project = createSlowProject();
    const { program, printed, ended } = startDoctor(project);
    await expect.poll(() => printed.stdout).toContain('✓ quick');
    program.kill('SIGINT');
    expect(await ended).toEqual([130, null]);
    expect(printed.stdout).toContain('✓ quick  7 tools');
    expect(printed.stdout).toContain('? slow  unknown: still starting when interrupted\n');
    expect(printed.stdout).toMatch(/\nWorking servers: 1 of 2\.\n$/);
    expect(printed.stderr).toBe('switchboard: Interrupted.\n');
    expect(await eventually(() => processesWith(project.dir).length === 0)).toBe(true);
  });

  test('with --json prints a document with the results so far', async () => {
    const project = createSlowProject();
    const { program, printed, ended } = startDoctor(project, '--json');
    expect(await eventually(() => processesWith(`${project.dir}/gate`).length > 0)).toBe(true);
    program.kill('SIGINT');
    expect(await ended).toEqual([130, null]);
    expect(JSON.parse(printed.stdout)).toMatchObject({
      interrupted: true,
      children: [{ name: 'slow', ok: false, error: { code: 'CANCELLED' } }, { name: 'quick' }],
    });
    expect(JSON.parse(printed.stderr)).toMatchObject({ error: { code: 'CANCELLED' } });
  });
});

describe('a server started by npx', () => {
  /** A program called npx that takes as long as the gate is shut. */
  function createNpxProject() {
    const project = createSlowProject({ command: 'npx', args: ['-y', 'some-server'] });
    const { command, args } = testServer(
      'waits-for-file',
      join(project.dir, 'own'),
      join(project.dir, 'gate'),
    );
    const npx = project.write('bin/npx', `#!/bin/sh\nexec ${[command, ...args].join(' ')}\n`);
    chmodSync(npx, 0o755);
    const PATH = `${join(project.dir, 'bin')}:${project.env['PATH']}`;
    return { ...project, env: { ...project.env, PATH } };
  }

  test('is probably being downloaded, according to the terminal', async () => {
    const project = createNpxProject();
    const { status, screen } = await runOnTerminal([process.execPath, PROGRAM, 'doctor'], {
      cwd: project.dir,
      env: project.env,
      columns: 120,
      keys(shown) {
        if (shown.includes('(npx is probably downloading it)')) project.open();
        return undefined; // nothing is typed
      },
    });
    expect(status).toBe(0);
    expect(screen).toMatch(/waiting for slow \d+ s \(npx is probably downloading it\)/);
  });

  test('and, without a terminal, to stderr, once', async () => {
    const project = createNpxProject();
    const { printed, ended } = startDoctor(project);
    await expect.poll(() => printed.stderr).toBe('slow: npx is probably downloading it\n');
    project.open();
    expect(await ended).toEqual([0, null]);
    expect(printed.stderr).toBe('slow: npx is probably downloading it\n');
  });
});

describe('a server without a description', () => {
  const TOOLS = JSON.stringify([{ name: 'read_file' }, { name: 'drop_all' }]);
  const FILES = { ...testServer('lists', TOOLS), expose: { deny: ['drop_*'] } };

  async function descriptionsOf(project: Project): Promise<unknown[]> {
    const host = await RawHost.connect(project);
    const tools = toolsOf(await host.request('tools/list'));
    await host.close();
    return tools.map(({ description }) => description);
  }

  test('gets one from its title and tools, once doctor has run', async () => {
    const project = createProject(configWith({ files: FILES }));
    const before = "Use this tool for files. Actions: 'introspect' | 'call'.";
    expect(await descriptionsOf(project)).toEqual([before]);
    const { stdout } = await runSwitchboard(project, ['doctor']);
    expect(stdout).toContain('\n  described to hosts as: test: read file\n');
    expect(stdout).toContain('switchboard reload');
    expect(await descriptionsOf(project)).toEqual([
      "Use this tool for test: read file. Actions: 'introspect' | 'call'.",
    ]);
    const again = await runSwitchboard(project, ['doctor', '--json']);
    expect(JSON.parse(again.stdout)).toMatchObject({
      children: [{ description: 'test: read file' }],
    });
    expect((await runSwitchboard(project, ['doctor'])).stdout).not.toContain('switchboard reload');
  });

  test('keeps its description in a running session until a reload', async () => {
    const project = createProject(configWith({ files: FILES }));
    const host = await RawHost.connect(project);
    const listed = async () => JSON.stringify(toolsOf(await host.request('tools/list')));
    const before = await listed();
    await runSwitchboard(project, ['doctor']);
    expect(await listed()).toBe(before);
    await runSwitchboard(project, ['reload']);
    await expect.poll(listed).toContain('Use this tool for test: read file.');
  });

  test.each([
    [{ description: 'my papers' }, {}, 'Use this tool for my papers. Actions:'],
    [{}, { suites: { files: { description: 'All my papers.' } } }, 'All my papers.'],
  ])('the user’s text takes precedence: %j %j', async (entry, more, says) => {
    const project = createProject(configWith({ files: { ...FILES, ...entry } }, more));
    const { stdout } = await runSwitchboard(project, ['doctor']);
    expect(stdout).not.toContain('described to hosts as');
    expect((await descriptionsOf(project))[0]).toContain(says);
  });
});
