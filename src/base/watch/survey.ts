// Looks at files that may change, whether they exist yet or not: what they are like now, and in which folders a change
// would show. Links are followed, and every link on the way is one of those places.
import { type Dirent, lstatSync, readdirSync, readlinkSync, type Stats, statSync } from 'node:fs';
import { join, parse, resolve, sep } from 'node:path';
import { pathInside, realPathOf } from '../paths.ts';

/** The files of interest in a folder, and in its subfolders. */
export interface WatchedTree {
  /** Absolute. It may not exist. */
  readonly folder: string;
  /** Folders between this one and `folder` may be replaced. */
  readonly base: string;
  /** How many levels of subfolders count. */
  readonly depth: number;
  /** `level` is 0 for what is directly in the folder. */
  readonly isFile: (name: string, level: number) => boolean;
  readonly isFolder?: (name: string, level: number) => boolean;
  /** The only names there can be, if they are known. */
  readonly names?: readonly string[];
  /** Trees with the same key are about the same files. */
  readonly key: string;
}

export interface Survey {
  /** By folder: the names in it that matter. */
  readonly places: ReadonlyMap<string, WatchedNames>;
  /** By tree and path: what changes whenever the file does. */
  readonly stamps: ReadonlyMap<string, ReadonlyMap<string, FileStamp>>;
  /** There were too many folders to look into. */
  readonly isPartial: boolean;
}

interface FileStamp {
  readonly text: string;
  /** When the file was last changed, in milliseconds since 1970. */
  readonly changedMs: number;
}

const MOST_FOLDERS = 500;
const MOST_LINKS = 40;

export class WatchedNames {
  readonly #exact = new Set<string>();
  readonly #patterns: ((name: string) => boolean)[] = [];

  add(name: string | ((name: string) => boolean)): void {
    if (typeof name === 'string') this.#exact.add(name);
    else this.#patterns.push(name);
  }

  has(name: string): boolean {
    return this.#exact.has(name) || this.#patterns.some((fits) => fits(name));
  }
}

export function surveyTrees(trees: Iterable<WatchedTree>, mostFolders = MOST_FOLDERS): Survey {
  const surveyor = new Surveyor(mostFolders);
  for (const tree of trees) surveyor.add(tree);
  return surveyor;
}

class Surveyor implements Survey {
  readonly places = new Map<string, WatchedNames>();
  readonly stamps = new Map<string, Map<string, FileStamp>>();
  readonly #mostFolders: number;
  isPartial = false;

  constructor(mostFolders: number) {
    this.#mostFolders = mostFolders;
  }

  add(tree: WatchedTree): void {
    const stamps = this.stamps.get(tree.key) ?? new Map<string, FileStamp>();
    this.stamps.set(tree.key, stamps);
    const folder = this.#follow(tree.folder, realPathOf(tree.base));
    if (folder !== undefined) this.#visit(tree, folder, 0, stamps, new Set());
  }

  #visit(
    tree: WatchedTree,
    folder: string,
    level: number,
    stamps: Map<string, FileStamp>,
    visited: Set<string>,
  ): void {
    if (visited.has(folder)) return;
    visited.add(folder);
    if (this.places.size >= this.#mostFolders && !this.places.has(folder)) {
      this.isPartial = true;
      return;
    }
    const isFolder = (name: string): boolean =>
      level < tree.depth && (tree.isFolder?.(name, level) ?? true);
    this.#note(folder, (name) => tree.isFile(name, level) || isFolder(name));
    for (const { name, isLink } of tree.names ? namedIn(folder, tree.names) : listed(folder)) {
      const path = join(folder, name);
      if (!tree.isFile(name, level) && !isFolder(name)) continue;
      const real = isLink ? this.#follow(path, undefined) : path;
      const stats = real === undefined ? undefined : statsOf(real);
      if (real === undefined || !stats) continue;
      if (stats.isDirectory()) {
        if (isFolder(name)) this.#visit(tree, real, level + 1, stamps, visited);
      } else if (tree.isFile(name, level)) {
        stamps.set(path, stampOf(stats));
      }
    }
  }

  /** The path without links; undefined if there is nothing. Below `base`, every folder on the way may be replaced. */
  #follow(path: string, base: string | undefined): string | undefined {
    let { root: current } = parse(path);
    const left = partsOf(path);
    let links = 0;
    for (let name = left.shift(); name !== undefined; name = left.shift()) {
      const next = join(current, name);
      const stats = linkStatsOf(next);
      if (!stats) {
        this.#note(current, name);
        return undefined;
      }
      if (stats.isSymbolicLink()) {
        this.#note(current, name);
        const target = targetOf(next);
        if (target === undefined || ++links > MOST_LINKS) return undefined;
        const absolute = resolve(current, target);
        left.unshift(...partsOf(absolute));
        current = parse(absolute).root;
        continue;
      }
      const isBelow = base === current || (base && pathInside(base, current) !== undefined);
      const isTarget = links > 0 && left.length === 0;
      if (isBelow || isTarget) this.#note(current, name);
      current = next;
    }
    return current;
  }

  #note(folder: string, name: string | ((name: string) => boolean)): void {
    const names = this.places.get(folder) ?? new WatchedNames();
    names.add(name);
    this.places.set(folder, names);
  }
}

function partsOf(path: string): string[] {
  return path.slice(parse(path).root.length).split(sep).filter(Boolean);
}

function stampOf({ dev, ino, size, mtimeMs, ctimeMs }: Stats): FileStamp {
  return { text: [dev, ino, size, mtimeMs, ctimeMs].join('/'), changedMs: ctimeMs };
}

interface Entry {
  readonly name: string;
  readonly isLink: boolean;
}

function namedIn(folder: string, names: readonly string[]): Entry[] {
  return names.flatMap((name) => {
    const stats = linkStatsOf(join(folder, name));
    return stats ? [{ name, isLink: stats.isSymbolicLink() }] : [];
  });
}

/** What can't be looked at counts as missing: the configuration couldn't read it either. */
function listed(folder: string): Entry[] {
  let entries: Dirent[];
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
  return entries.map((entry) => ({ name: entry.name, isLink: entry.isSymbolicLink() }));
}

function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function linkStatsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function targetOf(link: string): string | undefined {
  try {
    return readlinkSync(link);
  } catch {
    return undefined; // it was just replaced, and there will be an event
  }
}
