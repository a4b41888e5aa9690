// Claude Code: `~/.claude.json` holds the user's servers and, under `projects`, those of each project. It
// also records which servers of a project's `.mcp.json` the user approved, as do settings files.
import { join } from 'node:path';
import { isObject } from '../../../base/object.ts';
import { realPathOf } from '../../../base/paths.ts';
import {
  type Listing,
  listServers,
  mapEntries,
  type ProgramPlaces,
  readJsonSettings,
  type Settings,
} from './listing.ts';

/** Highest precedence first. */
export async function readClaude(places: ProgramPlaces): Promise<Listing[]> {
  const { project, homeFolder, env, gate } = places;
  const own = env['CLAUDE_CONFIG_DIR'];
  const [user, mcpJson, ...settings] = await Promise.all([
    readJsonSettings(join(own || homeFolder, '.claude.json'), gate),
    readJsonSettings(join(project, '.mcp.json'), gate),
    readJsonSettings(join(own || join(homeFolder, '.claude'), 'settings.json'), gate),
    readJsonSettings(join(project, '.claude', 'settings.json'), gate),
    readJsonSettings(join(project, '.claude', 'settings.local.json'), gate),
  ]);
  const here = projectOf(user.settings, project);
  const isOff = new Set(stringsIn(here['disabledMcpServers']));
  const files = [{ settings: here, trust: user.trust }, ...settings];
  const isApproved = approvalIn(
    files.map((file) => file.settings),
    mcpJson.trust === 'foreign',
  );
  // A repository can't consent for the user.
  const users = files.filter(({ trust }) => trust !== 'foreign').map((file) => file.settings);
  const isTrusted = user.trust !== 'foreign' && here['hasTrustDialogAccepted'] === true;
  const isConsented = (key: string) => isTrusted && hasConsent(users, key);
  const warnings = [user, ...settings].flatMap((file) => file.warnings);
  return [
    listServers({ ...user, settings: here, warnings }, 'mcpServers', project),
    listServers({ ...user, warnings: [] }, 'mcpServers', undefined),
    mapEntries({ ...listServers(mcpJson, 'mcpServers', project), isConsented }, (entry, key) =>
      isApproved(key) ? entry : undefined,
    ),
  ].map((listing) => mapEntries(listing, (entry, key) => (isOff.has(key) ? undefined : entry)));
}

function projectOf({ projects }: Settings, project: string): Settings {
  if (!isObject(projects)) return {};
  const names = [project, realPathOf(project), project.replaceAll('\\', '/')];
  const found = names.find((name) => Object.hasOwn(projects, name));
  const here = found === undefined ? undefined : projects[found];
  return isObject(here) ? here : {};
}

/** Whether the user said yes to this server, or to all. */
function hasConsent(files: readonly Settings[], key: string): boolean {
  return files.some(
    (one) =>
      one['enableAllProjectMcpServers'] === true ||
      stringsIn(one['enabledMcpjsonServers']).includes(key),
  );
}

/** A refusal takes precedence over an approval. Without either, Switchboard's own approval decides: `isJudged`. */
function approvalIn(files: readonly Settings[], isJudged: boolean): (key: string) => boolean {
  const refused = new Set(files.flatMap((one) => stringsIn(one['disabledMcpjsonServers'])));
  const approved = new Set(files.flatMap((one) => stringsIn(one['enabledMcpjsonServers'])));
  const isAll =
    isJudged ||
    approved.size === 0 ||
    files.some((one) => one['enableAllProjectMcpServers'] === true);
  return (key) => !refused.has(key) && (isAll || approved.has(key));
}

function stringsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
