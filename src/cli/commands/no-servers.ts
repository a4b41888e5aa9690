// The message if no servers are configured: how to add one, and where the nearest configuration is.
import { describeNearest } from '../../config/files/nearest.ts';
import { findFolders } from '../../config/files/places.ts';
import { workingFolder } from '../working-folder.ts';

const HOW_TO_ADD = `No servers are configured. Add one under "mcpServers" in switchboard.config.json,
or import a host's: switchboard import <file>`;

export function noServers(): string {
  return [HOW_TO_ADD, nearestConfiguration()].filter(Boolean).join('\n');
}

export function nearestConfiguration(): string | undefined {
  return describeNearest(findFolders({ cwd: workingFolder(), env: process.env }));
}
