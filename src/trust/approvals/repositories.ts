// Which git repositories track a file. All folders above it count: worktrees and submodules have a `.git` file that
// names the real folder.
import { existsSync, lstatSync, readFileSync, type Stats, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { realPathOf } from '../../base/paths.ts';
import { codeOf } from '../../base/system-error.ts';
import { type GitIndex, parseGitIndex } from './git-index.ts';

interface Repository {
  /** The folder that contains `.git`. */
  readonly root: string;
  /** The folder with the index; undefined if it can't be found. */
  readonly folder: string | undefined;
}

interface KnownIndex {
  readonly stamp: string;
  readonly index: GitIndex | undefined;
}

const EMPTY: GitIndex = { has: () => false };

export class Repositories {
  readonly #above = new Map<string, readonly Repository[]>();
  readonly #indexes = new Map<string, KnownIndex>();

  /** Whether a repository tracks the file, a link to it, or a folder it is in; also if that can't be found out. */
  tracks(file: string, stats: Stats): boolean {
    return this.#repositoriesAbove(dirname(file)).some(({ root, folder }) => {
      if (folder === undefined || isBeingWritten(folder, stats)) return true;
      const index = this.#indexIn(folder);
      if (!index) return true;
      const words = relative(root, file).split(sep);
      // A folder is listed if it is a link, a submodule, or part of a sparse checkout.
      return words.some((_word, last) => {
        const path = words.slice(0, last + 1).join('/');
        return index.has(path) || (last < words.length - 1 && index.has(`${path}/`));
      });
    });
  }

  /** Whether a folder is in a repository. One in the home directory, for the user's own files, doesn't count. */
  contains(folder: string, homes: readonly string[]): boolean {
    return this.#repositoriesAbove(folder).some(({ root }) => !homes.includes(root));
  }

  /** The same for all worktrees of a repository; undefined outside of repositories. */
  nameOf(folder: string): string | undefined {
    const [nearest] = this.#repositoriesAbove(folder);
    if (nearest?.folder === undefined) return undefined;
    const common = readLine(join(nearest.folder, 'commondir'));
    const shared = common === undefined ? nearest.folder : resolve(nearest.folder, common);
    const within = relative(realPathOf(nearest.root), realPathOf(folder)).split(sep).join('/');
    return `${realPathOf(shared)}#${within}`;
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
  const place = join(root, '.git');
  try {
    const stats = lstatSync(place, { throwIfNoEntry: false });
    if (!stats) return undefined;
    const isFile = stats.isSymbolicLink() ? statSync(place).isFile() : stats.isFile();
    if (!isFile) return isEmpty(place) ? undefined : { root, folder: place };
    const [, named] = /^gitdir: (.+)$/.exec(readLine(place) ?? '') ?? [];
    const folder = named === undefined ? undefined : resolve(root, named);
    const isThere = folder !== undefined && statSync(folder).isDirectory();
    return { root, folder: isThere ? folder : undefined };
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return { root, folder: undefined };
  }
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
  try {
    return readFileSync(file, 'utf8').split(/\r?\n/)[0];
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return undefined;
  }
}
