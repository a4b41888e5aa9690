// The folder in which the servers of a project's file are started by their host. Switchboard starts
// them elsewhere, so one that uses relative paths is given that folder as its `cwd`.
import { existsSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { isObject } from '../base/object.ts';
import type { ServerEntry } from './servers.ts';

/** Folders in a project in which hosts keep their files. */
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

/** Undefined for a file of the user, whose servers are started in the project of each session. */
export function originFolder(file: string, homeFolder: string): string | undefined {
  if (!isAbsolute(file)) return undefined; // stdin
  const folder = dirname(file);
  const project = HOST_FOLDERS.has(basename(folder)) ? dirname(folder) : folder;
  return isForUser(project, homeFolder) ? undefined : project;
}

/** The home itself, and where programs keep their settings in it. */
function isForUser(folder: string, homeFolder: string): boolean {
  const [first = ''] = relative(homeFolder, folder).split(sep);
  return first === '' || /^(?:\.[^.]|Library$|AppData$)/.test(first);
}

/** The entry with a `cwd` that means the same everywhere. */
export function withOrigin(entry: unknown, folder: string): unknown {
  if (!isObject(entry)) return entry;
  const { cwd } = entry;
  if (typeof cwd === 'string') {
    const isRelative = !isAbsolute(cwd) && !/^(?:~|\$)/.test(cwd);
    return isRelative ? { ...entry, cwd: resolve(folder, cwd) } : entry;
  }
  return cwd === undefined && usesRelativePath(entry, folder) ? { ...entry, cwd: folder } : entry;
}

function usesRelativePath({ command, args }: ServerEntry, folder: string): boolean {
  const inner = isObject(command) ? command : { cmd: command, args };
  const { cmd } = inner;
  const words: unknown = inner['args'] ?? args ?? [];
  // A program without a folder is looked for on the PATH.
  const isProgramHere = typeof cmd === 'string' && /[\\/]/.test(cmd) && isPathIn(cmd, folder);
  return isProgramHere || (Array.isArray(words) && words.some((word) => isPathIn(word, folder)));
}

function isPathIn(word: unknown, folder: string): boolean {
  if (typeof word !== 'string') return false;
  const path = word.replace(/^--?[\w-]+=/, '');
  if (path === '' || isAbsolute(path) || /^(?:-|~|\$)/.test(path)) return false;
  return /^\.\.?(?:[\\/]|$)/.test(path) || existsSync(join(folder, path));
}
