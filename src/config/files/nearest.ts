// Finds the nearest configuration above the project. Switchboard never reads it; it only tells the user about it.
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findConfigFile } from './files.ts';
import type { Folders } from './places.ts';

/** Undefined if there is none up to the user's home or the root of the file system. */
export function describeNearest({ project, home, homeFolder }: Folders): string | undefined {
  let folder = project;
  while (folder !== homeFolder && folder !== dirname(folder)) {
    folder = dirname(folder);
    const file = configurationIn(folder, home);
    if (file !== undefined) {
      return `The nearest configuration is ${file}. To use it, start Switchboard in ${folder} or set WORKSPACE_DIR=${folder}.`;
    }
  }
  return undefined;
}

function configurationIn(folder: string, home: string): string | undefined {
  const own = join(folder, '.switchboard');
  // In the user's home this is Switchboard's home, which is read in every project.
  const places = own === home ? [] : [own];
  const serversFiles = places.map((place) => join(place, 'servers.json'));
  const childFolders = [...places, folder].map((place) => join(place, 'mcps'));
  return findConfigFile(folder) ?? serversFiles.find(existsSync) ?? childFolders.find(hasChildFile);
}

function hasChildFile(folder: string): boolean {
  try {
    return readdirSync(folder).some((name) => existsSync(join(folder, name, '.mcp.json')));
  } catch {
    return false; // missing or unreadable
  }
}
