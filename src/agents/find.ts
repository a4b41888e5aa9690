// Finds the files in the places, each once, in an order that is the same on every machine. Nothing is opened
// here: where nobody has agents, this is a look for a few folders that are not there.
import { type Dirent, existsSync, readdirSync, realpathSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { isFolder } from '../base/process.ts';
import { codeOf } from '../base/system-error.ts';
import type { Place } from './places.ts';

export interface FoundFile {
  readonly place: Place;
  /** As it was found. */
  readonly file: string;
  /** The same without links. */
  readonly real: string;
  readonly stat: Stats;
}

export interface Found {
  readonly files: readonly FoundFile[];
  /** Sentences that name the file or folder. */
  readonly problems: readonly string[];
}

/** A link can lead anywhere, also to a whole disk. */
const MOST_FOLDERS = 500;

/** `isAgent` keeps out files that only lie there. */
export function findAgentFiles(
  places: readonly Place[],
  isAgent: (file: string) => boolean,
): Found {
  const files: FoundFile[] = [];
  const problems: string[] = [];
  const seen = new Set<string>();
  const take = (place: Place, file: string, real: () => string) => {
    if (!isAgent(file)) return;
    try {
      const path = real();
      if (seen.has(path)) return;
      const stat = statSync(path);
      if (stat.isDirectory()) return;
      seen.add(path);
      if (stat.isFile()) files.push({ place, file, real: path, stat });
      else problems.push(`${file}: Not read: it is not a file.`);
    } catch (error) {
      problems.push(`${file}: It cannot be read (${systemCode(error)}).`);
    }
  };
  for (const place of places) walk(place, take, problems);
  return { files, problems: [...new Set(problems)] };
}

type Take = (place: Place, file: string, real: () => string) => void;

function walk(place: Place, take: Take, problems: string[]): void {
  const visited = new Set<string>();
  const visit = (folder: string) => {
    const listed = listFolder(folder);
    if ('problem' in listed) {
      const missing = place.isNamed ? 'There is no such folder.' : undefined;
      const problem = listed.problem ?? missing;
      if (problem !== undefined) problems.push(`${folder}: ${problem}`);
      return;
    }
    const { real, entries } = listed;
    if (visited.has(real)) return;
    if (visited.size === MOST_FOLDERS) {
      problems.push(
        `${folder}: Not read: ${place.folder} has more than ${MOST_FOLDERS} folders in it.`,
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
      /** A sentence without the folder; undefined for one that is just not there. */
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
    if (code !== 'ENOTDIR') return { problem: `The folder cannot be read (${code}).` };
    return { problem: existsSync(folder) ? 'Not read: it is not a folder.' : undefined };
  }
}

/** Throws on what the system did not say: that is a mistake of ours. */
function systemCode(error: unknown): string {
  const code = codeOf(error);
  if (code === undefined) throw error;
  return code;
}
