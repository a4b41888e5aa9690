// `switchboard doctor` while servers take their time: what is known is printed at once, kept on Ctrl-C, and
// a download is named.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { eventually, processesWith } from '../support/processes.ts';
import { createProject, PROGRAM, type Project } from '../support/project.ts';
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

test('prints what is known while another server still starts', async () => {
  const project = createSlowProject();
  const { printed, ended } = startDoctor(project);
  await expect.poll(() => printed.stdout).toContain('✓ quick  7 tools');
  expect(printed.stdout).not.toContain('slow');
  project.open();
  expect(await ended).toEqual([0, null]);
  expect(printed.stdout).toMatch(/✓ quick[^✓]*✓ slow[^✓]*Servers that work: 2 of 2\.\n$/);
});

describe('an interruption', () => {
  test('keeps what was found, names what was not, and ends with 130', async () => {
    const project = createSlowProject();
    const { program, printed, ended } = startDoctor(project);
    await expect.poll(() => printed.stdout).toContain('✓ quick');
    program.kill('SIGINT');
    expect(await ended).toEqual([130, null]);
    expect(printed.stdout).toContain('✓ quick  7 tools');
    expect(printed.stdout).toContain(
      '? slow  not known: it was still starting\nServers that work: 1 of 2.\n',
    );
    expect(printed.stderr).toBe('switchboard: Interrupted.\n');
    expect(await eventually(() => processesWith(project.dir).length === 0)).toBe(true);
  });

  test('with --json prints the document with what was found', async () => {
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

describe('a server that npx starts', () => {
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

  test('is probably being downloaded, which is said on the terminal', async () => {
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

  test('and without one on stderr, once', async () => {
    const project = createNpxProject();
    const { printed, ended } = startDoctor(project);
    await expect.poll(() => printed.stderr).toBe('slow: npx is probably downloading it\n');
    project.open();
    expect(await ended).toEqual([0, null]);
    expect(printed.stderr).toBe('slow: npx is probably downloading it\n');
  });
});
