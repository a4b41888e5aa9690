// Cursor: `.cursor/mcp.json` of the workspace and of the user.
import { join } from 'node:path';
import { type Listing, listServers } from '../listing.ts';
import { readJsonSettings } from '../settings-file.ts';
import type { ProgramPlaces } from './places.ts';

/** Strongest first. */
export async function readCursor({ project, homeFolder }: ProgramPlaces): Promise<Listing[]> {
  const [ofProject, ofUser] = await Promise.all([
    readJsonSettings(join(project, '.cursor', 'mcp.json')),
    readJsonSettings(join(homeFolder, '.cursor', 'mcp.json')),
  ]);
  return [
    listServers(ofProject, 'mcpServers', project),
    listServers(ofUser, 'mcpServers', undefined),
  ];
}
