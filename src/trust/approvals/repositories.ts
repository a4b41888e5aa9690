// Which git repositories track a file. All folders above it count: worktrees and submodules have a `.git` file that
// names the real folder.
import { existsSync, lstatSync, readFileSync, type Stats, statSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { realPathOf } from '../../base/paths.ts';
import { codeOf } from '../../base/system-error.ts';
import { type GitIndex, parseGitIndex } from './git-index.ts';

interface Repository {
  /** The folder that contains `.git`. */
  readonly root: string;
  /** The folder with the index; undefined if it can't be found. */
  readonly folder: string | undefined;
  /** Whether `.git` is a file or link that points elsewhere. */
  readonly isElsewhere: boolean;
}

interface KnownIndex {
  readonly stamp: string;
  readonly index: GitIndex | undefined;
}

const EMPTY: GitIndex = { has: () => false };

export class Repositories {
  readonly #above = new Map<string, readonly Repository[]>();
  readonly #indexes = new Map<string, KnownIndex>();
  /** By the folder with the index. */
  readonly #roots = new Map<string, readonly string[]>();

  /** Whether a repository tracks the file, a link to it, or a folder it is in; also if that can't be found out. */
  tracks(file: string, stats: Stats): boolean {
    return this.#repositoriesAbove(dirname(file)).some(({ root, folder }) => {
      if (folder === undefined || isBeingWritten(folder, stats)) return true;
      const index = this.#indexIn(folder);
      if (!index) return true;
      return this.#rootsOf(root, folder).some((one) => isListed(index, relative(one, file)));
    });
  }

  /** Whether a folder is in a repository. One in the home directory, for the user's own files, doesn't count. */
  contains(folder: string, homes: readonly string[]): boolean {
    return this.#repositoriesAbove(folder).some(({ root }) => !homes.includes(root));
  }

  /** The index is about the folder that contains `.git`, unless git was told otherwise. */
  #rootsOf(root: string, folder: string): readonly string[] {
    const known = this.#roots.get(folder);
    if (known) return known;
    const named = configuredRoot(folder);
    const roots = named === undefined ? [root] : [root, resolve(folder, named)];
    this.#roots.set(folder, roots);
    return roots;
  }

  /** The same for all worktrees of a repository; undefined outside of repositories. */
  nameOf(folder: string): string | undefined {
    const [nearest] = this.#repositoriesAbove(folder);
    if (nearest?.folder === undefined) return undefined;
    const root = realPathOf(nearest.root);
    const within = relative(root, realPathOf(folder)).split(sep).join('/');
    const own = realPathOf(nearest.folder);
    if (!nearest.isElsewhere) return `${own}#${within}`;
    const shared = sharedByWorktree(own, root);
    // Any folder can claim to belong to a repository. Without its consent, it shares nothing with it.
    return shared === undefined ? `${own}@${root}#${within}` : `${shared}#${within}`;
  }

  /** Nearest first. */
  #repositoriesAbove(folder: string): readonly Repository[] {
    const known = this.#above.get(folder);
    if (known) return known;
    const here = repositoryIn(folder);
    const parent = dirname(folder);
    const above = parent === folder ? [] : this.#repositoriesAbove(parent);
    const all = here ? [here, ...above] : above;
    this.#above.set(folder, all);
    return all;
  }

  /** Read again if it has changed: files may change while we read them. */
  #indexIn(folder: string): GitIndex | undefined {
    const file = join(folder, 'index');
    try {
      const stats = statSync(file, { throwIfNoEntry: false });
      if (!stats) return EMPTY;
      const stamp = `${stats.ino}/${stats.mtimeMs}/${stats.ctimeMs}/${stats.size}`;
      const known = this.#indexes.get(file);
      if (known?.stamp === stamp) return known.index;
      const index = stats.isFile() ? parseGitIndex(readFileSync(file)) : undefined;
      this.#indexes.set(file, { stamp, index });
      return index;
    } catch (error) {
      if (codeOf(error) === undefined) throw error;
      return undefined;
    }
  }
}

function repositoryIn(root: string): Repository | undefined {
  const place = `${root}${sep}.git`;
  try {
    const stats = lstatSync(place, { throwIfNoEntry: false });
    if (!stats) return undefined;
    const isFile = stats.isSymbolicLink() ? statSync(place).isFile() : stats.isFile();
    const isElsewhere = !stats.isDirectory();
    if (!isFile) return isEmpty(place) ? undefined : { root, folder: place, isElsewhere };
    const [, named] = /^gitdir: (.+)$/.exec(readLine(place) ?? '') ?? [];
    const folder = named === undefined ? undefined : resolve(root, named);
    const isThere = folder !== undefined && statSync(folder).isDirectory();
    return { root, folder: isThere ? folder : undefined, isElsewhere };
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return { root, folder: undefined, isElsewhere: true };
  }
}

/** The folder of the repository that has this worktree; undefined if it isn't one, or only says so. */
function sharedByWorktree(folder: string, root: string): string | undefined {
  const common = readLine(join(folder, 'commondir'));
  const back = readLine(join(folder, 'gitdir'));
  if (common === undefined || back === undefined) return undefined;
  const shared = realPathOf(resolve(folder, common));
  const isKnown =
    dirname(folder) === join(shared, 'worktrees') &&
    realPathOf(dirname(resolve(folder, back))) === root;
  return isKnown ? shared : undefined;
}

/** A folder is listed if it is a link, a submodule, or part of a sparse checkout. */
function isListed(index: GitIndex, path: string): boolean {
  const words = path.split(sep);
  if (words[0] === '..' || isAbsolute(path)) return false;
  // Most files are listed themselves, so the whole path comes first.
  for (let length = words.length; length > 0; length--) {
    const part = words.slice(0, length).join('/');
    if (index.has(part) || (length < words.length && index.has(`${part}/`))) return true;
  }
  return false;
}

/** `core.worktree`, as written. */
function configuredRoot(folder: string): string | undefined {
  let section = '';
  let found: string | undefined;
  for (const line of readText(join(folder, 'config'))?.split(/\r?\n/) ?? []) {
    const [, header = section, rest = ''] = /^\s*(?:\[([^\]]*)\])?(.*)$/.exec(line) ?? [];
    section = header;
    const [, quoted, plain] = /^\s*worktree\s*=\s*(?:"([^"]*)"|([^#;]*))/i.exec(rest) ?? [];
    if (section.trim().toLowerCase() === 'core') found = quoted ?? plain?.trim() ?? found;
  }
  return found?.replaceAll('\\\\', '\\');
}

/** git itself takes no notice of such a folder. */
function isEmpty(folder: string): boolean {
  return ['HEAD', 'index'].every((name) => !existsSync(join(folder, name)));
}

/** git writes files before it replaces the index, and holds this lock meanwhile. */
function isBeingWritten(folder: string, { ctimeMs }: Stats): boolean {
  const lock = lstatSync(join(folder, 'index.lock'), { throwIfNoEntry: false });
  return lock !== undefined && ctimeMs >= Math.min(lock.birthtimeMs || lock.ctimeMs, lock.ctimeMs);
}

function readLine(file: string): string | undefined {
  return readText(file)?.split(/\r?\n/)[0];
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return undefined;
  }
}
