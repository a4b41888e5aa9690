// VS Code: `.vscode/mcp.json` of the workspace, and the user's own file, wherever that is. The key is
// `servers`; people who paste from elsewhere leave it `mcpServers`.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Listing, listServers } from '../listing.ts';
import { readJsonSettings } from '../settings-file.ts';
import type { ProgramPlaces } from './places.ts';

/** Strongest first. */
export async function readVsCode({ project, settings }: ProgramPlaces): Promise<Listing[]> {
  const { vscodeUserMcp } = settings;
  return Promise.all([
    ...(vscodeUserMcp === undefined ? [] : [readNamed(vscodeUserMcp)]),
    readFile(join(project, '.vscode', 'mcp.json'), project),
  ]);
}

/** Who names a file means it to be there. */
async function readNamed(path: string): Promise<Listing> {
  const listing = await readFile(path, undefined);
  if (existsSync(path)) return listing;
  return { ...listing, warnings: [`${path}: There is no such file. VSCODE_USER_MCP names it.`] };
}

async function readFile(path: string, cwd: string | undefined): Promise<Listing> {
  const file = await readJsonSettings(path);
  const key = Object.hasOwn(file.settings, 'servers') ? 'servers' : 'mcpServers';
  return listServers(file, key, cwd);
}
