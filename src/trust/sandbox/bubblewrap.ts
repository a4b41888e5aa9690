// The arguments for bubblewrap (bwrap), the sandbox on Linux. The whole file system is read-only, and each rule mounts
// something over its path.
//
// A mount over a file disappears when another program replaces that file, as programs do to save their settings. So in
// the home directory, a folder with hidden files is put together anew from all other entries. Each of them is a mount
// and costs time (measured: 60 of them, 20 ms), so folders in which only folders are hidden are left as they are.
import { type Dirent, lstatSync, readdirSync, readlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isFolder } from '../../base/make-folder.ts';
import { accessAt, appliesTo, depthOf, isAtOrBelow, type PathRule } from './rules.ts';

export interface BubblewrapOptions {
  /** Shallow ones first. */
  readonly rules: readonly PathRule[];
  /** The user's home, as a real path. */
  readonly homeFolder: string;
  readonly cwd: string;
  readonly network: 'on' | 'off';
}

/** Each entry is a mount, so a huge folder is not put together anew. */
const MOST_ENTRIES = 500;

/** Without the server's command, which follows. */
export function bubblewrapArgs({ rules, homeFolder, cwd, network }: BubblewrapOptions): string[] {
  const rebuilt = rebuiltFolders(rules, homeFolder);
  const steps = [
    ...[...rebuilt].map(([folder, entries]) => rebuild(folder, entries, rules, rebuilt)),
    ...rules.flatMap((rule) => mountsFor(rule, rules, rebuilt)),
  ].sort((one, other) => depthOf(one.path) - depthOf(other.path));
  const closed = steps.filter(({ isClosed }) => isClosed).map(({ path }) => path);
  return [
    ...NAMESPACES,
    ...(network === 'off' ? ['--unshare-net'] : []),
    ...READ_ONLY_ROOT,
    ...steps.flatMap(({ args }) => args),
    // Last, because nothing can be mounted in a new place after that.
    ...closed.flatMap((path) => ['--remount-ro', path]),
    '--chdir',
    cwd,
    '--',
  ];
}

/**
 * As root, bwrap would otherwise keep every capability. In the same process namespace, the server could read other
 * processes' environments, and stop them.
 */
const NAMESPACES = ['--unshare-user-try', '--cap-drop', 'ALL', '--unshare-pid', '--unshare-ipc'];
const READ_ONLY_ROOT = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'];

interface MountStep {
  readonly path: string;
  readonly args: readonly string[];
  /** An empty file system that must become read-only. */
  readonly isClosed: boolean;
}

/** Folders with hidden files, and all their entries. */
function rebuiltFolders(
  rules: readonly PathRule[],
  homeFolder: string,
): ReadonlyMap<string, readonly Dirent[]> {
  const hidden = rules.filter(({ access }) => access === 'hidden');
  const folders = hidden
    .map(({ path }) => dirname(path))
    .filter((folder) => folder !== '/' && isAtOrBelow(homeFolder, folder))
    .filter((folder) => accessAt(folder, rules) === 'read');
  const found = [...new Set(folders)].map((folder) => [folder, entriesOf(folder)] as const);
  return new Map(
    found.filter(([folder, entries]) => {
      const hides = (path: string) => hidden.some((rule) => appliesTo(rule, path));
      const hidesFile = entries.some((one) => one.isFile() && hides(join(folder, one.name)));
      return hidesFile && entries.length <= MOST_ENTRIES;
    }),
  );
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return []; // missing, or no permission, which the server hasn't either
  }
}

function rebuild(
  folder: string,
  entries: readonly Dirent[],
  rules: readonly PathRule[],
  rebuilt: ReadonlyMap<string, unknown>,
): MountStep {
  const hasOwnStep = new Set([
    ...rebuilt.keys(),
    ...rules.filter(({ access }) => access !== 'hidden').map(({ path }) => path),
  ]);
  const shown = entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (hasOwnStep.has(path) || accessAt(path, rules) === 'hidden') return [];
    // A link is made anew: a mount would follow it.
    return entry.isSymbolicLink()
      ? ['--symlink', readlinkSync(path), path]
      : ['--ro-bind-try', path, path];
  });
  return { path: folder, args: ['--tmpfs', folder, ...shown], isClosed: true };
}

function mountsFor(
  rule: PathRule,
  rules: readonly PathRule[],
  rebuilt: ReadonlyMap<string, unknown>,
): MountStep[] {
  const { path, access } = rule;
  const step = (...args: string[]): MountStep[] => [{ path, args, isClosed: false }];
  switch (access) {
    case 'write':
      return step('--bind-try', path, path);
    case 'read':
      return rebuilt.has(path) ? [] : step('--ro-bind-try', path, path);
    case 'private':
      return isFolder(path) ? step('--tmpfs', path) : [];
    case 'hidden': {
      const folder = dirname(path);
      const isGone = rebuilt.has(folder) || ['hidden', 'private'].includes(accessAt(folder, rules));
      if (isGone) return [];
      return pathsOf(rule, folder).flatMap(hide);
    }
  }
}

function pathsOf(rule: PathRule, folder: string): string[] {
  if (!rule.isPrefix) return [rule.path];
  return entriesOf(folder)
    .map(({ name }) => join(folder, name))
    .filter((path) => appliesTo(rule, path));
}

/** A link can't be covered, but its target has a rule of its own. */
function hide(path: string): MountStep[] {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats || stats.isSymbolicLink()) return [];
  return stats.isDirectory()
    ? [{ path, args: ['--tmpfs', path], isClosed: true }]
    : [{ path, args: ['--ro-bind', '/dev/null', path], isClosed: false }];
}
