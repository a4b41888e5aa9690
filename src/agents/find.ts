// Finds agent files, each once, in the same order on every machine. It doesn't open any: without agents, it only
// checks a few folders that don't exist.
import { type Dirent, existsSync, readdirSync, realpathSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { isFolder } from '../base/make-folder.ts';
import { codeOf } from '../base/system-error.ts';
import type { AgentPlace } from './places.ts';

export interface FoundFile {
  readonly place: AgentPlace;
  /** The path it was found under. */
  readonly file: string;
  /** Without symbolic links. */
  readonly real: string;
  readonly stat: Stats;
}

export interface FoundFiles {
  readonly files: readonly FoundFile[];
  /** Sentences that name the file or folder. */
  readonly problems: readonly string[];
}

/** Limits the search, because a symbolic link can point to a whole disk. */
const MOST_FOLDERS = 500;

export function findAgentFiles(
  places: readonly AgentPlace[],
  isAgent: (file: string) => boolean,
): FoundFiles {
  const files: FoundFile[] = [];
  const problems: string[] = [];
  const seen = new Set<string>();
  const take = (place: AgentPlace, file: string, real: () => string) => {
    if (!isAgent(file)) return;
    try {
      const path = real();
      if (seen.has(path)) return;
      const stat = statSync(path);
      if (stat.isDirectory()) return;
      seen.add(path);
      if (stat.isFile()) files.push({ place, file, real: path, stat });
      else problems.push(`${file}: Ignored: not a regular file.`);
    } catch (error) {
      problems.push(`${file}: The file can't be read (${systemCode(error)}).`);
    }
  };
  for (const place of places) walk(place, take, problems);
  return { files, problems: [...new Set(problems)] };
}

type Take = (place: AgentPlace, file: string, real: () => string) => void;

function walk(place: AgentPlace, take: Take, problems: string[]): void {
  const visited = new Set<string>();
  const visit = (folder: string) => {
    const listed = listFolder(folder);
    if ('problem' in listed) {
      const missing = place.isNamed ? 'The folder does not exist.' : undefined;
      const problem = listed.problem ?? missing;
      if (problem !== undefined) problems.push(`${folder}: ${problem}`);
      return;
    }
    const { real, entries } = listed;
    if (visited.has(real)) return;
    if (visited.size === MOST_FOLDERS) {
      problems.push(
        `${folder}: Ignored: ${place.folder} contains more than ${MOST_FOLDERS} folders.`,
      );
    }
    visited.add(real);
    if (visited.size > MOST_FOLDERS) return;
    for (const entry of entries) {
      if (!entry.name.toLowerCase().endsWith(place.ending)) continue;
      if (place.except?.test(entry.name)) continue;
      const path = join(real, entry.name);
      take(place, join(folder, entry.name), () =>
        entry.isSymbolicLink() ? realpathSync(path) : path,
      );
    }
    if (!place.isNested) return;
    for (const entry of entries) {
      if (isFolderToVisit(entry, folder)) visit(join(folder, entry.name));
    }
  };
  visit(place.folder);
}

function isFolderToVisit(entry: Dirent, folder: string): boolean {
  if (entry.name.startsWith('.') || entry.name === 'node_modules') return false;
  if (entry.isDirectory()) return true;
  return entry.isSymbolicLink() && isFolder(join(folder, entry.name));
}

type Listed =
  | { readonly real: string; readonly entries: readonly Dirent[] }
  | {
      /** Without the folder's name; undefined if it simply doesn't exist. */
      readonly problem: string | undefined;
    };

function listFolder(folder: string): Listed {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    // Not by locale: the order must be the same on every machine.
    entries.sort((a, b) => (a.name < b.name ? -1 : 1));
    return { real: realpathSync(folder), entries };
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT') return { problem: undefined };
    if (code !== 'ENOTDIR') return { problem: `The folder can't be read (${code}).` };
    return { problem: existsSync(folder) ? 'Ignored: not a folder.' : undefined };
  }
}

/** Rethrows anything but a system error: it's a bug. */
function systemCode(error: unknown): string {
  const code = codeOf(error);
  if (code === undefined) throw error;
  return code;
}
