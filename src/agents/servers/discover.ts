// The servers the user has set up in other programs. Their files are read again for each run, which takes a few
// milliseconds, so that changes take effect immediately.

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isObject } from '../../base/object.ts';
import { pathInside, realPathOf } from '../../base/paths.ts';
import type { AgentSettings } from '../../config/config.ts';
import type { Gate } from '../../config/files/gate.ts';
import { withPlainVariables } from '../../config/files/servers-file.ts';
import { isServerEntry } from '../../config/schema/check.ts';
import { isSelf } from '../../config/server/self.ts';
import { type Candidate, type Candidates, mergeCandidates } from './candidate.ts';
import { readClaude } from './programs/claude.ts';
import { readCodex } from './programs/codex.ts';
import {
  type Listing,
  listServers,
  mapEntries,
  type ProgramPlaces,
  readJsonSettings,
  readListing,
  type SettingsFile,
} from './programs/listing.ts';

export interface DiscoverServersOptions extends ProgramPlaces {
  readonly settings: AgentSettings;
  /** This program's real path, if known. */
  readonly program?: string | undefined;
}

/** Highest precedence first. Each also returns its listings in that order. */
const PROGRAMS = [readVsCode, readClaude, readCursor, readCodex, readGemini];

export async function discoverServers(options: DiscoverServersOptions): Promise<Candidates> {
  if (!options.settings.mcpDiscovery) return mergeCandidates();
  const listings = await Promise.all(PROGRAMS.map((read) => read(options)));
  const found = listings.flat().map((listing) => readListing(listing, options));
  const all = options.settings.skipSelf
    ? found.map((group) => withoutSelf(group, options.program))
    : found;
  return mergeCandidates(...all);
}

/** Not worth a warning, since nearly every host has Switchboard. Agents that name it get the reason. */
function withoutSelf(group: Candidates, program: string | undefined): Candidates {
  const isOurs = (server: Candidate) => isSelf(server, program);
  const reasons = group.servers
    .filter(isOurs)
    .map(({ key, origin }) => [key, explainSelf(key, origin)] as const);
  return {
    ...group,
    servers: group.servers.filter((server) => !isOurs(server)),
    leftOut: new Map([...group.leftOut, ...reasons]),
  };
}

function explainSelf(key: string, origin: string): string {
  return `${origin}: Server ${JSON.stringify(key)} is Switchboard itself, so agents don't get it from here. Declare it in the agent's own file, or set SWITCHBOARD_SKIP_SELF=false.`;
}

/** VS Code: the workspace's `.vscode/mcp.json`, and the user's own file if configured. */
async function readVsCode({ project, settings, gate }: ProgramPlaces): Promise<Listing[]> {
  const { vscodeUserMcp } = settings;
  return Promise.all([
    ...(vscodeUserMcp === undefined ? [] : [readConfigured(vscodeUserMcp, gate)]),
    readVsCodeFile(join(project, '.vscode', 'mcp.json'), project, gate),
  ]);
}

async function readConfigured(path: string, gate: Gate | undefined): Promise<Listing> {
  const listing = await readVsCodeFile(path, undefined, gate);
  if (existsSync(path)) return listing;
  return { ...listing, warnings: [`${path}: File not found. Check VSCODE_USER_MCP.`] };
}

/** The key is `servers`, but people paste `mcpServers` from elsewhere. */
async function readVsCodeFile(
  path: string,
  cwd: string | undefined,
  gate: Gate | undefined,
): Promise<Listing> {
  const file = await readJsonSettings(path, gate);
  const key = Object.hasOwn(file.settings, 'servers') ? 'servers' : 'mcpServers';
  return listServers(file, key, cwd);
}

async function readCursor({ project, homeFolder, gate }: ProgramPlaces): Promise<Listing[]> {
  const [ofProject, ofUser] = await Promise.all([
    readJsonSettings(join(project, '.cursor', 'mcp.json'), gate),
    readJsonSettings(join(homeFolder, '.cursor', 'mcp.json'), gate),
  ]);
  return [
    listServers(ofProject, 'mcpServers', project),
    listServers(ofUser, 'mcpServers', undefined),
  ];
}

async function readGemini({ project, homeFolder, gate }: ProgramPlaces): Promise<Listing[]> {
  const [ofProject, ofUser, trusted] = await Promise.all([
    readJsonSettings(join(project, '.gemini', 'settings.json'), gate),
    readJsonSettings(join(homeFolder, '.gemini', 'settings.json'), gate),
    readJsonSettings(join(homeFolder, '.gemini', 'trustedFolders.json'), gate),
  ]);
  const isConsented = () =>
    trusted.trust !== 'foreign' && isGeminiFolder(trusted.settings, project);
  return [{ ...listGemini(ofProject, project), isConsented }, listGemini(ofUser, undefined)];
}

/** A rule is for a folder, or for the one it's in, and everything below. A "no" is for the folder itself. */
function isGeminiFolder(rules: SettingsFile['settings'], project: string): boolean {
  const path = realPathOf(project);
  const covers = (folder: string) => folder === path || pathInside(folder, path) !== undefined;
  const all = Object.entries(rules).map(([folder, rule]) => ({ folder: realPathOf(folder), rule }));
  if (all.some(({ folder, rule }) => rule === 'DO_NOT_TRUST' && folder === path)) return false;
  return all.some(
    ({ folder, rule }) =>
      (rule === 'TRUST_FOLDER' && covers(folder)) ||
      (rule === 'TRUST_PARENT' && covers(dirname(folder))),
  );
}

function listGemini(file: SettingsFile, cwd: string | undefined): Listing {
  const { mcp } = file.settings;
  const { allowed, excluded } = isObject(mcp) ? mcp : {};
  const isAllowed = (key: string) =>
    !(Array.isArray(excluded) && excluded.includes(key)) &&
    (!Array.isArray(allowed) || allowed.includes(key));
  return mapEntries(listServers(file, 'mcpServers', cwd), (entry, key) =>
    isAllowed(key) ? translateGemini(entry) : undefined,
  );
}

/** `url` is the older HTTP with server-sent events unless `type` says otherwise; `httpUrl` is Streamable HTTP. */
function translateGemini(entry: unknown): unknown {
  if (!isObject(entry)) return entry;
  const { httpUrl, url, type, includeTools: allow, excludeTools: deny, ...others } = entry;
  const translated = {
    ...others,
    ...(url !== undefined && { url, type: type ?? 'sse' }),
    ...(httpUrl !== undefined && { url: httpUrl, type: 'http' }),
    expose: { allow, deny },
  };
  // Gemini also writes `$VAR` for `${VAR}`.
  return isServerEntry(translated) ? withPlainVariables(translated) : translated;
}
