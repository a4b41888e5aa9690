// Hosts start the servers of a project's file in the project folder; Switchboard may start them elsewhere. So imported
// servers that use relative paths get that folder as their `cwd`.
import { existsSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { isObject } from '../base/object.ts';
import type { RawEntry } from './servers.ts';

/** Folders where hosts keep their files in a project. */
const HOST_FOLDERS = new Set([
  '.amazonq',
  '.claude',
  '.cursor',
  '.gemini',
  '.idea',
  '.kiro',
  '.roo',
  '.switchboard',
  '.vscode',
  '.windsurf',
  '.zed',
]);

/** Undefined for a user's file: its servers start in the project of each session. */
export function originFolder(file: string, homeFolder: string): string | undefined {
  if (!isAbsolute(file)) return undefined; // stdin
  const folder = dirname(file);
  const project = HOST_FOLDERS.has(basename(folder)) ? dirname(folder) : folder;
  return isForUser(project, homeFolder) ? undefined : project;
}

/** The home folder, and the folders in it where programs keep settings. */
function isForUser(folder: string, homeFolder: string): boolean {
  const [first = ''] = relative(homeFolder, folder).split(sep);
  return first === '' || /^(?:\.[^.]|Library$|AppData$)/.test(first);
}

/** Adds a `cwd` or makes it absolute. */
export function withOrigin(entry: unknown, folder: string): unknown {
  if (!isObject(entry)) return entry;
  const { cwd } = entry;
  if (typeof cwd === 'string') {
    const isRelative = !isAbsolute(cwd) && !/^(?:~|\$)/.test(cwd);
    return isRelative ? { ...entry, cwd: resolve(folder, cwd) } : entry;
  }
  return cwd === undefined && usesRelativePath(entry, folder) ? { ...entry, cwd: folder } : entry;
}

function usesRelativePath({ command, args }: RawEntry, folder: string): boolean {
  const inner = isObject(command) ? command : { cmd: command, args };
  const { cmd } = inner;
  const words: unknown = inner['args'] ?? args ?? [];
  // A plain name is looked up on the PATH.
  const isProgramHere = typeof cmd === 'string' && /[\\/]/.test(cmd) && isPathIn(cmd, folder);
  return isProgramHere || (Array.isArray(words) && words.some((word) => isPathIn(word, folder)));
}

function isPathIn(word: unknown, folder: string): boolean {
  if (typeof word !== 'string') return false;
  const path = word.replace(/^--?[\w-]+=/, '');
  if (path === '' || isAbsolute(path) || /^(?:-|~|\$)/.test(path)) return false;
  return /^\.\.?(?:[\\/]|$)/.test(path) || existsSync(join(folder, path));
}
