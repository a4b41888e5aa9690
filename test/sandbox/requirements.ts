// These tests need a sandbox that works. Without one they fail at once and say what is missing.
import { spawnSync } from 'node:child_process';

const TRIAL = ['--unshare-user-try', '--unshare-pid', '--ro-bind', '/', '/', '--proc', '/proc'];

export default function requireBubblewrap(): void {
  if (process.platform !== 'linux') throw new Error('The sandbox tests run only on Linux.');
  const { error, status, stderr } = spawnSync('bwrap', [...TRIAL, '--', 'bwrap', '--version'], {
    encoding: 'utf8',
  });
  if (error) {
    throw new Error('bubblewrap (bwrap) is not installed. Run: scripts/setup-debian.sh', {
      cause: error,
    });
  }
  if (status === 0) return;
  throw new Error(
    `bubblewrap is installed, but can't create a sandbox on this machine: ${stderr.trim()}\n` +
      'It needs user namespaces. See "If the sandbox is unavailable" in docs/sandbox.md.',
  );
}
