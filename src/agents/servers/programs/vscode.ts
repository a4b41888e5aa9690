// VS Code: `.vscode/mcp.json` of the workspace, and the user's own file, wherever that is. The key is
// `servers`; people who paste from elsewhere leave it `mcpServers`.
import { join } from 'node:path';
import { type Listing, listServers } from '../listing.ts';
import { readJsonSettings } from '../settings-file.ts';
import type { ProgramPlaces } from './places.ts';

/** Strongest first. */
export async function readVsCode({ project, settings }: ProgramPlaces): Promise<Listing[]> {
  const { vscodeUserMcp } = settings;
  return Promise.all([
    ...(vscodeUserMcp === undefined ? [] : [readFile(vscodeUserMcp, undefined)]),
    readFile(join(project, '.vscode', 'mcp.json'), project),
  ]);
}

async function readFile(path: string, cwd: string | undefined): Promise<Listing> {
  const file = await readJsonSettings(path);
  const key = Object.hasOwn(file.settings, 'servers') ? 'servers' : 'mcpServers';
  return listServers(file, key, cwd);
}
