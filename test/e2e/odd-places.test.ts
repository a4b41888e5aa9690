// Places in which a program does not expect to be started.
import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { configWith, createProject, PROGRAM } from '../support/project.ts';
import { RawHost, textOf } from '../support/raw-host.ts';
import { testServer } from '../support/servers.ts';

function runIn(script: string, env: Record<string, string> = {}) {
  const project = createProject();
  const command = script.replaceAll('switchboard', `"${process.execPath}" "${PROGRAM}"`);
  const options = { cwd: project.dir, env: { ...project.env, ...env }, encoding: 'utf8' } as const;
  const { status, stdout, stderr } = spawnSync('bash', ['-c', command], options);
  return { status, stdout, stderr };
}

test('reports a removed working folder', () => {
  expect(runIn('mkdir gone && cd gone && rmdir ../gone && switchboard config check')).toEqual({
    status: 2,
    stdout: '',
    stderr:
      'switchboard: The current directory no longer exists.\nChange to another directory, then try again.\n',
  });
});

test('reports a missing project folder', () => {
  const { status, stderr } = runIn('switchboard < /dev/null', {
    WORKSPACE_DIR: '${workspaceFolder}',
  });
  expect(status).toBe(2);
  expect(stderr).toContain('Project folder not found:');
});

test.each(['--help', '--version', 'config print', 'config schema', 'config check'])(
  '%s exits quietly if its output is not read',
  (args) => {
    expect(runIn(`switchboard ${args} | (exec 0<&-; sleep 0.3); exit \${PIPESTATUS[0]}`)).toEqual({
      status: 0,
      stdout: '',
      stderr: '',
    });
  },
);

describe('with an unwritable home', () => {
  /** Reading and writing there fails, as it does on a disk that is read-only; on Node 20 it may also hang. */
  const env = { SWITCHBOARD_HOME: '/proc/switchboard' };
  const servers = {
    box: { ...testServer('toolbox'), stderr: 'log' },
    eager: { ...testServer('toolbox'), start: 'eager' },
  };

  async function connect() {
    const host = await RawHost.connect(createProject(configWith(servers)), { env });
    expect(await host.toolNames()).toEqual(['box_suite', 'eager_suite']);
    expect(textOf(await host.call('box', 'say', { text: 'a word' }))).toBe('said');
    await expect.poll(() => host.stderr).toContain('cannot write the catalog to disk');
    return host;
  }

  test('servers work with a warning, and the end of input exits', async () => {
    const host = await connect();
    expect(await host.close()).toEqual({ code: 0, signal: null });
  });

  test.each(['SIGTERM', 'SIGINT'] as const)('%s exits', async (signal) => {
    const host = await connect();
    host.process.kill(signal);
    expect(await host.exited).toEqual({ code: 0, signal: null });
  });

  test.each(['tools box', 'status', 'config check', 'show box direct', 'skill install --dry-run'])(
    '%s does not hang',
    (args) => {
      const project = createProject(configWith(servers));
      const { status, signal } = spawnSync(process.execPath, [PROGRAM, ...args.split(' ')], {
        cwd: project.dir,
        env: { ...project.env, ...env },
        timeout: 120_000,
      });
      expect({ signal, isEnded: status !== null }).toEqual({ signal: null, isEnded: true });
    },
  );
});
