// Hosts in a real sandbox (bubblewrap): their sessions never leave it by joining a background process outside.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createSharedProject, type SharedProject } from '../support/background.ts';
import { isAlive } from '../support/processes.ts';
import { PROGRAM, ROOT } from '../support/project.ts';
import { RawHost, textOf } from '../support/raw-host.ts';
import { testServer } from '../support/servers.ts';

const SERVERS = { box: testServer('toolbox') };
/** Everything is visible, including the socket outside. */
const SAME_FILES = ['--bind', '/', '/', '--dev', '/dev'];
const OWN_PIDS = ['--unshare-pid', '--proc', '/proc'];
const PROGRAM_COMMAND = [process.execPath, PROGRAM];

/** Its session works. Returns what it says about sharing. */
async function sayInSandbox(
  project: SharedProject,
  command: readonly [string, ...string[]],
): Promise<string> {
  const host = await RawHost.connect(project, { command });
  expect(textOf(await host.call('box', 'echo', { x: 1 }))).toBe('{"x":1}');
  return host.lastWords();
}

describe('with a background process outside', () => {
  test.each([
    ['its own processes', OWN_PIDS],
    ['the processes of the system', []],
  ])('a sandbox with %s is served alone', async (_what, options) => {
    const project = createSharedProject(SERVERS);
    await (await RawHost.connect(project)).close();
    const pid = project.background();
    const command = ['bwrap', ...SAME_FILES, ...options, ...PROGRAM_COMMAND] as const;
    expect(await sayInSandbox(project, command)).toBe(
      'switchboard: serving alone: this is a sandbox.\n',
    );
    expect(project.backgrounds()).toEqual([pid]);
  });

  test('a sandbox that cannot be recognized from inside is refused', async () => {
    const project = createSharedProject(SERVERS);
    await (await RawHost.connect(project)).close();
    const command = [
      'bwrap',
      ...SAME_FILES,
      ...OWN_PIDS,
      '--as-pid-1',
      ...PROGRAM_COMMAND,
    ] as const;
    expect(await sayInSandbox(project, command)).toBe(
      'switchboard: serving alone: the background process: it runs in another container or sandbox.\n',
    );
    expect(isAlive(project.background())).toBe(true);
  });

  test('a sandbox that forbids connections is reported', async () => {
    const project = createSharedProject(SERVERS);
    await (await RawHost.connect(project)).close();
    const filter = join(project.dir, 'filter');
    writeFileSync(filter, denyConnect());
    const words = [...SAME_FILES, ...OWN_PIDS, '--as-pid-1', '--seccomp', '9', ...PROGRAM_COMMAND];
    const command = ['bash', '-c', 'exec bwrap "$@" 9< filter', 'bash', ...words] as const;
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      version: string;
    };
    const socket = join(project.run, `background-${version}.sock`);
    expect(await sayInSandbox(project, command)).toBe(
      `switchboard: serving alone: the background process: a sandbox doesn't allow connecting to ${socket} (EPERM).\n`,
    );
  });
});

test('a sandbox starts no background process', async () => {
  const project = createSharedProject(SERVERS);
  const command = ['bwrap', ...SAME_FILES, ...OWN_PIDS, ...PROGRAM_COMMAND] as const;
  expect(await sayInSandbox(project, command)).toContain('this is a sandbox');
  expect(project.backgrounds()).toEqual([]);
});

const canUnshare = spawnSync('unshare', ['-Urm', 'true']).status === 0;

test.runIf(canUnshare)('a background process in a container serves nobody outside', async () => {
  const project = createSharedProject(SERVERS);
  const command = ['unshare', '-Urm', ...PROGRAM_COMMAND] as const;
  const inside = await RawHost.connect(project, { command });
  expect(textOf(await inside.call('box', 'echo', { x: 1 }))).toBe('{"x":1}');
  expect(project.backgrounds()).toHaveLength(1);
  const outside = await RawHost.connect(project);
  expect(textOf(await outside.call('box', 'echo', { x: 2 }))).toBe('{"x":2}');
  expect(await outside.lastWords()).toBe(
    'switchboard: serving alone: the background process: it runs in another container or sandbox.\n',
  );
  expect(await inside.lastWords()).toBe('');
});

/** A filter for the kernel: `connect` fails with EPERM, as in the sandboxes of several hosts. */
function denyConnect(): Buffer {
  const number = process.arch === 'arm64' ? 203 : 42;
  const instructions: [code: number, ifTrue: number, ifFalse: number, value: number][] = [
    [0x20, 0, 0, 0], // load the system call's number
    [0x15, 0, 1, number],
    [0x06, 0, 0, 0x0005_0001], // EPERM
    [0x06, 0, 0, 0x7fff_0000], // allow
  ];
  return Buffer.concat(
    instructions.map(([code, ifTrue, ifFalse, value]) => {
      const bytes = Buffer.alloc(8);
      bytes.writeUInt16LE(code, 0);
      bytes.writeUInt8(ifTrue, 2);
      bytes.writeUInt8(ifFalse, 3);
      bytes.writeUInt32LE(value, 4);
      return bytes;
    }),
  );
}
