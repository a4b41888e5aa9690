// Places in which a program does not expect to be started.
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { createProject, PROGRAM } from '../support/project.ts';

function runIn(script: string, env: Record<string, string> = {}) {
  const project = createProject();
  const command = script.replaceAll('switchboard', `"${process.execPath}" "${PROGRAM}"`);
  const options = { cwd: project.dir, env: { ...project.env, ...env }, encoding: 'utf8' } as const;
  const { status, stdout, stderr } = spawnSync('bash', ['-c', command], options);
  return { status, stdout, stderr };
}

test('in a folder that has been removed it says so', () => {
  expect(runIn('mkdir gone && cd gone && rmdir ../gone && switchboard config check')).toEqual({
    status: 2,
    stdout: '',
    stderr:
      'switchboard: The folder that this was started in is gone.\nChange to a folder that exists.\n',
  });
});

test('with a project folder that does not exist it says so', () => {
  const { status, stderr } = runIn('switchboard < /dev/null', {
    WORKSPACE_DIR: '${workspaceFolder}',
  });
  expect(status).toBe(2);
  expect(stderr).toContain('There is no project folder');
});

test.each(['--help', '--version', 'config print', 'config schema', 'config check'])(
  '%s ends quietly when nobody reads what it prints',
  (args) => {
    expect(runIn(`switchboard ${args} | (exec 0<&-; sleep 0.3); exit \${PIPESTATUS[0]}`)).toEqual({
      status: 0,
      stdout: '',
      stderr: '',
    });
  },
);
