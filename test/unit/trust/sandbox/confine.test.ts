import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SwitchboardError } from '../../../../src/base/errors.ts';
import { type ConfineOptions, createConfine } from '../../../../src/trust/sandbox/confine.ts';
import { childConfig } from '../../../support/child-config.ts';
import { startChild } from '../../../support/start-child.ts';
import { startOptions } from '../../../support/start-options.ts';
import { type SandboxFolders, sandboxFolders, sandboxSettings } from './places.ts';

/** A home directory with a stand-in for bubblewrap on the PATH. */
function setUp(bwrap?: string) {
  const folders = sandboxFolders(['bin/', 'home/.ssh/id']);
  const bin = join(folders.root, 'bin');
  if (bwrap !== undefined) writeProgram(join(bin, 'bwrap'), bwrap);
  return { ...folders, env: { PATH: `${bin}:/usr/bin:/bin` }, bin };
}

function writeProgram(file: string, script: string): void {
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
}

function optionsFor(folders: SandboxFolders, some: Partial<ConfineOptions> = {}): ConfineOptions {
  const { project, home, homeFolder, env } = folders;
  const machine = 'linux-x64';
  const sandbox = sandboxSettings();
  return { name: 'a', sandbox, project, home, homeFolder, env, machine, ...some };
}

const commandIn = ({ project, env }: SandboxFolders, cmd = 'sh') => ({
  cmd,
  args: ['-c', 'true'],
  cwd: project,
  env,
});

function refusal(folders: SandboxFolders, some: Partial<ConfineOptions>): string {
  try {
    createConfine(optionsFor(folders, some))(commandIn(folders));
  } catch (error) {
    if (error instanceof SwitchboardError) return `${error.code}: ${error.text}`;
  }
  throw new Error('It was not refused.');
}

test('Windows has no sandbox, so the server does not start', () => {
  expect(refusal(setUp(''), { machine: 'win32-x64' })).toMatchInlineSnapshot(
    `"SANDBOX_UNAVAILABLE: Server "a" did not start: it must run in a sandbox, but Switchboard has no sandbox for Windows. Run Switchboard in WSL. To run the server without a sandbox, set "sandbox" to false in /home/me/.switchboard/switchboard.config.json."`,
  );
  expect(refusal(setUp(''), { machine: 'freebsd-x64' })).toMatchInlineSnapshot(
    `"SANDBOX_UNAVAILABLE: Server "a" did not start: it must run in a sandbox, but Switchboard has no sandbox for this operating system. Run Switchboard on Linux or macOS. To run the server without a sandbox, set "sandbox" to false in /home/me/.switchboard/switchboard.config.json."`,
  );
});

test('lists of domains cannot be enforced, so the server does not start', () => {
  const sandbox = sandboxSettings({ hasDomains: true });
  expect(refusal(setUp(''), { sandbox })).toMatchInlineSnapshot(
    `"SANDBOX_UNAVAILABLE: Server "a" did not start: it must run in a sandbox, but bubblewrap can't limit the network to some domains, only turn it off. Remove "allowedDomains" and "deniedDomains", or set "network" to false. To run the server without a sandbox, set "sandbox" to false in /home/me/.switchboard/switchboard.config.json."`,
  );
  expect(refusal(setUp(''), { sandbox, machine: 'darwin-arm64' })).toContain('sandbox-exec');
});

test('without bubblewrap, the server does not start', () => {
  const folders = setUp();
  const nowhere = { env: { PATH: folders.bin }, usualFolders: [] };
  expect(refusal(folders, nowhere)).toMatchInlineSnapshot(
    `"SANDBOX_UNAVAILABLE: Server "a" did not start: it must run in a sandbox, but bubblewrap (bwrap) is not installed. Install it, for example with: sudo apt install bubblewrap. To run the server without a sandbox, set "sandbox" to false in /home/me/.switchboard/switchboard.config.json."`,
  );
});

test('the command runs in bubblewrap, which is never taken from the project', () => {
  const folders = setUp('');
  writeProgram(join(folders.project, 'bwrap'), '');
  const env = { PATH: `${folders.project}:${folders.env.PATH}` };
  const confine = createConfine(optionsFor(folders, { env }));
  const { command } = confine(commandIn(folders));
  expect(command.cmd).toBe(join(folders.bin, 'bwrap'));
  expect(command.args.slice(-4)).toEqual(['--', 'sh', '-c', 'true']);
  expect(command.cwd).toBe(folders.project);
});

test('on macOS, the command runs in sandbox-exec', () => {
  const folders = setUp();
  const confine = createConfine(optionsFor(folders, { machine: 'darwin-arm64' }));
  const { command } = confine(commandIn(folders));
  expect(command.cmd).toBe('/usr/bin/sandbox-exec');
  expect(command.args).toEqual([
    '-p',
    expect.stringMatching(/^\(version 1\)/),
    '--',
    'sh',
    '-c',
    'true',
  ]);
});

test('the error names a hidden working directory or program', () => {
  const folders = setUp('');
  const hidden = join(folders.homeFolder, '.ssh');
  const confine = createConfine(optionsFor(folders));
  expect(() => confine({ ...commandIn(folders), cwd: hidden })).toThrow(
    `its working directory (cwd) ${hidden} is hidden in its sandbox.`,
  );
  const program = join(hidden, 'id');
  expect(() => confine(commandIn(folders, program))).toThrow(
    `its program ${program} is hidden in its sandbox.`,
  );
});

async function startError(folders: SandboxFolders, cmd: string): Promise<SwitchboardError> {
  const sandbox = sandboxSettings();
  const config = childConfig({
    name: 'a',
    cwd: folders.project,
    command: { cmd, args: [], env: {} },
    sandbox,
  });
  const { env } = folders;
  const confine = createConfine(optionsFor(folders));
  const failure = await startChild(config, startOptions({ env, confine })).catch(
    (error: unknown) => error,
  );
  if (failure instanceof SwitchboardError) return failure;
  throw new Error(`It failed with ${String(failure)}.`);
}

test('if bubblewrap cannot create the sandbox, the error has its reason and a way out', async () => {
  const folders = setUp('echo "bwrap: No permissions to create new namespace." >&2; exit 1');
  const { code, text } = await startError(folders, 'sh');
  expect(`${code}: ${text}`).toMatchInlineSnapshot(
    `"SANDBOX_UNAVAILABLE: Server "a" did not start: it must run in a sandbox, but bubblewrap can't create one: No permissions to create new namespace. Allow unprivileged user namespaces (Ubuntu: add an AppArmor profile for bwrap; containers: see docs/sandbox.md). To run the server without a sandbox, set "sandbox" to false in /home/me/.switchboard/switchboard.config.json."`,
  );
});

test('if the server fails in its sandbox, the error lists what is hidden', async () => {
  // Runs the trial, and fails as the server.
  const folders = setUp(
    'for last; do :; done; [ "$last" = --version ] && exit 0; echo "EROFS: read-only" >&2; exit 7',
  );
  const { code, text, data } = await startError(folders, 'sh');
  expect(code).toBe('CHILD_EXITED');
  expect(folders.plain(text)).toContain('EROFS: read-only');
  expect(text).toContain('The server runs in a sandbox. Hidden from it: ');
  expect(text).toMatch(/Hidden from it: .*~\/\.ssh/);
  expect(text).toContain('It can change only: ~/work.');
  expect(text).toContain(
    'To allow more, add paths to "allowRead" or "allowWrite" in its sandbox (/home/me/.switchboard/switchboard.config.json).',
  );
  expect(data['sandbox']).toMatchObject({
    hidden: expect.arrayContaining(['~/.ssh', '~/.claude*']),
    writable: ['~/work'],
    network: 'on',
  });
});

test('a program that does not exist is explained as without a sandbox', async () => {
  const { text } = await startError(setUp(''), 'no-such-program');
  expect(text).toContain('no-such-program was not found');
});

test('a server is never started without its sandbox', async () => {
  const config = childConfig({ name: 'a', cwd: '/', sandbox: sandboxSettings() });
  await expect(startChild(config, startOptions())).rejects.toThrow('There is no sandbox');
});
