// Claude Code: `~/.claude.json` holds the user's servers, those for one project under `projects`, and
// which of a project's `.mcp.json` the user has agreed to; settings files can say that, too.
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '../../../base/object.ts';
import { type Listing, listServers, mapEntries } from '../listing.ts';
import { readJsonSettings, type Settings } from '../settings-file.ts';
import type { ProgramPlaces } from './places.ts';

/** Strongest first. */
export async function readClaude({ project, homeFolder, env }: ProgramPlaces): Promise<Listing[]> {
  const own = env['CLAUDE_CONFIG_DIR'];
  const [user, mcpJson, ...settings] = await Promise.all([
    readJsonSettings(join(own || homeFolder, '.claude.json')),
    readJsonSettings(join(project, '.mcp.json')),
    readJsonSettings(join(own || join(homeFolder, '.claude'), 'settings.json')),
    readJsonSettings(join(project, '.claude', 'settings.json')),
    readJsonSettings(join(project, '.claude', 'settings.local.json')),
  ]);
  const here = projectOf(user.settings, project);
  const isOff = new Set(textsIn(here['disabledMcpServers']));
  const isAgreed = agreementOf([here, ...settings.map((file) => file.settings)]);
  const warnings = [user, ...settings].flatMap((file) => file.warnings);
  return [
    listServers({ ...user, settings: here, warnings }, 'mcpServers', project),
    listServers({ ...user, warnings: [] }, 'mcpServers', undefined),
    mapEntries(listServers(mcpJson, 'mcpServers', project), (entry, key) =>
      isAgreed(key) ? entry : undefined,
    ),
  ].map((listing) => mapEntries(listing, (entry, key) => (isOff.has(key) ? undefined : entry)));
}

/** What the file has about one project. */
function projectOf({ projects }: Settings, project: string): Settings {
  if (!isObject(projects)) return {};
  const names = [project, realPathOf(project), project.replaceAll('\\', '/')];
  const found = names.find((name) => Object.hasOwn(projects, name));
  const here = found === undefined ? undefined : projects[found];
  return isObject(here) ? here : {};
}

/** A no counts before a yes; where nobody was asked, nothing is held back. */
function agreementOf(said: readonly Settings[]): (key: string) => boolean {
  const refused = new Set(said.flatMap((one) => textsIn(one['disabledMcpjsonServers'])));
  const agreed = new Set(said.flatMap((one) => textsIn(one['enabledMcpjsonServers'])));
  const isAll = agreed.size === 0 || said.some((one) => one['enableAllProjectMcpServers'] === true);
  return (key) => !refused.has(key) && (isAll || agreed.has(key));
}

function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

function realPathOf(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder; // it is not there, and so has no other name
  }
}
