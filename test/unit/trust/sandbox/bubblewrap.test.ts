import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Sandbox } from '../../../../src/config/config.ts';
import { bubblewrapArgs } from '../../../../src/trust/sandbox/bubblewrap.ts';
import { createRules } from '../../../../src/trust/sandbox/rules.ts';
import { type SandboxFolders, sandboxFolders, sandboxSettings } from './places.ts';

/** The arguments, one option per line, without those for the system's own folders. */
function argsFor(folders: SandboxFolders, some: Partial<Sandbox> = {}): string {
  const sandbox = sandboxSettings(some);
  const rules = createRules(sandbox, folders).filter(({ path }) => path.startsWith(folders.root));
  const { homeFolder, cwd } = folders;
  const args = bubblewrapArgs({ rules, homeFolder, cwd, network: sandbox.network });
  return folders.plain(args.join(' ').replaceAll(' --', '\n--'));
}

test('hidden folders are covered', () => {
  const folders = sandboxFolders(['home/.ssh/id', 'home/.claude/a', 'home/.config/gh/hosts.yml']);
  const lines = argsFor(folders).split('\n');
  for (const path of ['.ssh', '.claude', '.config/gh']) {
    expect(lines).toContain(`--tmpfs <root>/home/${path}`);
    expect(lines).toContain(`--remount-ro <root>/home/${path}`);
  }
  expect(lines).not.toContain('--tmpfs <root>/home');
});

test('a home directory with hidden files is put together without its hidden entries', () => {
  const folders = sandboxFolders([
    'home/.ssh/id',
    'home/.claude.json',
    'home/.claude-old',
    'home/.netrc',
    'home/.bashrc',
    'home/.npm/',
    'home/.config/gh/hosts.yml',
    'home/.config/app/a',
    'home/work/.git/hooks/',
    'home/work/switchboard.config.json',
  ]);
  symlinkSync('work', join(folders.homeFolder, 'link'));
  expect(argsFor(folders)).toMatchInlineSnapshot(`
    "--unshare-user-try
    --cap-drop ALL
    --unshare-pid
    --unshare-ipc
    --ro-bind / /
    --dev /dev
    --proc /proc
    --tmpfs <root>/home
    --ro-bind-try <root>/home/.bashrc <root>/home/.bashrc
    --ro-bind-try <root>/home/.config <root>/home/.config
    --symlink work <root>/home/link
    --bind-try <root>/home/work <root>/home/work
    --bind-try <root>/home/.cache <root>/home/.cache
    --bind-try <root>/home/.npm <root>/home/.npm
    --tmpfs <root>/home/.config/gh
    --bind-try <root>/home/.yarn/berry <root>/home/.yarn/berry
    --ro-bind-try <root>/home/work/.mcp.json <root>/home/work/.mcp.json
    --ro-bind-try <root>/home/work/.switchboard <root>/home/work/.switchboard
    --ro-bind-try <root>/home/work/mcps <root>/home/work/mcps
    --ro-bind-try <root>/home/work/switchboard.config.json <root>/home/work/switchboard.config.json
    --ro-bind-try <root>/home/work/switchboard.config.jsonc <root>/home/work/switchboard.config.jsonc
    --ro-bind-try <root>/home/work/switchboard.config.js <root>/home/work/switchboard.config.js
    --ro-bind-try <root>/home/work/switchboard.config.cjs <root>/home/work/switchboard.config.cjs
    --ro-bind-try <root>/home/work/switchboard.config.mjs <root>/home/work/switchboard.config.mjs
    --bind-try <root>/home/.bun/install/cache <root>/home/.bun/install/cache
    --bind-try <root>/home/.local/share/uv <root>/home/.local/share/uv
    --bind-try <root>/home/.local/share/pipx <root>/home/.local/share/pipx
    --bind-try <root>/home/.local/share/pnpm <root>/home/.local/share/pnpm
    --ro-bind-try <root>/home/work/.git/config <root>/home/work/.git/config
    --ro-bind-try <root>/home/work/.git/hooks <root>/home/work/.git/hooks
    --remount-ro <root>/home
    --remount-ro <root>/home/.config/gh
    --chdir <root>/home/work
    --"
  `);
});

test('without a network, the server gets one of its own', () => {
  expect(argsFor(sandboxFolders(), { network: 'off' })).toContain('--unshare-net');
  expect(argsFor(sandboxFolders())).not.toContain('--unshare-net');
});

test('what a setting hides outside of the home directory is covered', () => {
  const folders = sandboxFolders(['data/folder/a', 'data/file']);
  const { root } = folders;
  const args = argsFor(folders, { denyRead: [`${root}/data/folder`, `${root}/data/file`] });
  expect(args).toContain('--tmpfs <root>/data/folder\n');
  expect(args).toContain('--ro-bind /dev/null <root>/data/file\n');
  expect(args).toContain('--remount-ro <root>/data/folder\n');
});

test('in a home directory that can be changed, hidden entries are covered', () => {
  const folders = sandboxFolders(['home/.ssh/id', 'home/.claude.json']);
  const args = argsFor(folders, { allowWrite: ['~'] });
  expect(args).toContain('--bind-try <root>/home <root>/home\n');
  expect(args).toContain('--tmpfs <root>/home/.ssh\n');
  expect(args).toContain('--ro-bind /dev/null <root>/home/.claude.json\n');
});

test('a file that is shown in a hidden folder is mounted after it', () => {
  const folders = sandboxFolders(['home/.ssh/known_hosts', 'home/.netrc']);
  const lines = argsFor(folders, { allowRead: ['~/.ssh/known_hosts'] }).split('\n');
  const shown = '--ro-bind-try <root>/home/.ssh/known_hosts <root>/home/.ssh/known_hosts';
  expect(lines.indexOf(shown)).toBeGreaterThan(lines.indexOf('--tmpfs <root>/home'));
  expect(lines.indexOf(shown)).toBeLessThan(lines.indexOf('--remount-ro <root>/home'));
});
