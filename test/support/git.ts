// Real git repositories for tests. Their configuration doesn't depend on the machine's.
import { execFileSync } from 'node:child_process';

const IDENTITY = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com'];
const SETTINGS = ['-c', 'commit.gpgsign=false', '-c', 'protocol.file.allow=always'];

export function git(folder: string, ...args: string[]): void {
  const { PATH = '' } = process.env;
  const env = { PATH, HOME: folder, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' };
  execFileSync('git', [...IDENTITY, ...SETTINGS, ...args], { cwd: folder, env, stdio: 'pipe' });
}

/** Turns a folder into a repository that tracks everything in it. */
export function commitAll(folder: string, ...init: string[]): void {
  git(folder, 'init', '--quiet', ...init);
  git(folder, 'add', '--all', '--force');
  git(folder, 'commit', '--quiet', '--message', 'Everything');
}
