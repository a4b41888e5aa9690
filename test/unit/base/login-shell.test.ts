// Real shells with start-up files of their own. The user's real ones are never read.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readLoginEnvironment } from '../../../src/base/login-shell.ts';
import { temporaryFolder } from '../../support/fake-child.ts';

const SHELLS = ['/bin/bash', '/bin/dash', '/usr/bin/zsh', '/usr/bin/fish'].filter(existsSync);

function userWith(shell: string | null, files: Record<string, string>) {
  const homedir = temporaryFolder();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(homedir, name, '..'), { recursive: true });
    writeFileSync(join(homedir, name), text);
  }
  return { shell, homedir, username: 'ann' };
}

/** Noise before and after, a quoted value, and where it runs. */
const RC = `echo "welcome {\\"not\\": \\"json\\"}"
export AWS_PROFILE='the "work" one'
export WHERE="$(pwd)"
PLAIN=not-exported
`;

describe.each(SHELLS)('%s', (shell) => {
  const files = {
    '.profile': RC,
    '.bash_profile': RC,
    '.zshrc': RC,
    '.config/fish/config.fish': RC.replace('PLAIN=not-exported', 'set PLAIN not-exported').replace(
      '"$(pwd)"',
      '(pwd)',
    ),
  };

  test('exports what its start-up files export, and starts in the home folder', async () => {
    const user = userWith(shell, files);
    const env = await readLoginEnvironment({ user, limitMs: 60_000 });
    expect(env).toMatchObject({ AWS_PROFILE: 'the "work" one', HOME: user.homedir, USER: 'ann' });
    expect(env['WHERE']).toBe(user.homedir);
    expect(env).not.toHaveProperty('PLAIN');
    expect(env).not.toHaveProperty('VITEST'); // this process's own
    expect(env).not.toHaveProperty('SWITCHBOARD_RESOLVING_ENVIRONMENT');
  });
});

test('a shell that hangs is stopped when its time is up', async () => {
  const user = userWith('/bin/bash', { '.bash_profile': 'sleep 60\n' });
  const failed = readLoginEnvironment({ user, limitMs: 300 });
  await expect(failed).rejects.toThrow('/bin/bash took longer than');
});

test('a shell that prints nothing, or no shell at all, is an error', async () => {
  const user = userWith('/bin/bash', { '.bash_profile': 'exit 3\n' });
  await expect(readLoginEnvironment({ user, limitMs: 60_000 })).rejects.toThrow(
    '/bin/bash exited with code 3 without a result.',
  );
  for (const shell of [null, 'bash']) {
    const failed = readLoginEnvironment({ user: { ...user, shell } });
    await expect(failed).rejects.toThrow('There is no login shell.');
  }
});
