// The servers that one file of another program lists, in the shape of entries of our own
// `mcpServers`: each program's file brings its way of writing into that.
import { SwitchboardError } from '../../base/errors.ts';
import { isObject } from '../../base/object.ts';
import { isServerEntry } from '../../config/schema/check.ts';
import { resolveCommand } from '../../config/server/command.ts';
import { resolveRemote } from '../../config/server/remote.ts';
import type { Candidate, Candidates, ServerFolders } from './candidate.ts';
import { folderOf } from './folder.ts';
import type { SettingsFile } from './settings-file.ts';

export interface Listing {
  readonly origin: string;
  /** Where its servers run if they do not say; undefined for the folder of the run. */
  readonly cwd: string | undefined;
  /** By key. Some may be anything but servers. */
  readonly entries: ReadonlyMap<string, unknown>;
  readonly warnings: readonly string[];
}

/** The servers under one key of a file. */
export function listServers(
  { file, settings, warnings }: SettingsFile,
  key: string,
  cwd: string | undefined,
): Listing {
  const servers = settings[key];
  const isUsable = servers === undefined || servers === null || isObject(servers);
  return {
    origin: file,
    cwd,
    entries: new Map(isObject(servers) ? Object.entries(servers) : []),
    warnings: isUsable ? warnings : [...warnings, `${file}: ${key} is not an object with servers.`],
  };
}

/** The listing with some entries left out, or written in another way. */
export function mapEntries(
  listing: Listing,
  change: (entry: unknown, key: string) => unknown,
): Listing {
  const entries = [...listing.entries].map(([key, entry]) => [key, change(entry, key)] as const);
  return { ...listing, entries: new Map(entries.filter(([, entry]) => entry !== undefined)) };
}

export function readListing(listing: Listing, folders: ServerFolders): Candidates {
  const servers: Candidate[] = [];
  const leftOut = new Map<string, string>();
  const warnings = [...listing.warnings];
  for (const [key, entry] of listing.entries) {
    if (isObject(entry) && (entry['disabled'] === true || entry['enabled'] === false)) {
      leftOut.set(key, `${nameOf(key, listing)} is switched off there.`);
      continue;
    }
    const read = readEntry(key, entry, listing, folders);
    if (typeof read === 'string') {
      leftOut.set(key, read);
      warnings.push(read);
      continue;
    }
    servers.push(read);
    if (isObject(entry) && entry['envFile'] !== undefined) {
      warnings.push(`${nameOf(key, listing)} has an envFile, which is not read: use "env".`);
    }
  }
  return { servers, leftOut, warnings };
}

/** The server, or a sentence about why it is none that an agent can have. */
function readEntry(
  key: string,
  entry: unknown,
  listing: Listing,
  folders: ServerFolders,
): Candidate | string {
  const name = nameOf(key, listing);
  if (key === '' || !isServerEntry(entry))
    return `${name} is not written as a server, and left out.`;
  const { origin } = listing;
  const { project } = folders;
  const declaration = { source: 'servers-file', origin, entry, folder: project } as const;
  const remote = resolveRemote(key, declaration);
  if (remote instanceof SwitchboardError) return remote.text;
  if (remote && remote.type !== 'http') return `${name} ${needsProxy(remote.type)}`;
  if (remote && !/^(https?:|\$\{)/i.test(remote.url)) return `${name} has a url that is not http.`;
  const command = entry.command === undefined ? undefined : resolveCommand(declaration, project);
  if (!command && !remote) return `${name} has no command and no url, and is left out.`;
  const cwd = entry.cwd ?? (command && listing.cwd);
  return {
    key,
    origin,
    cmd: command?.cmd,
    args: command?.args ?? [],
    env: command?.env ?? {},
    cwd: cwd === undefined ? undefined : folderOf(cwd, folders),
    url: remote?.url,
    headers: remote?.headers ?? {},
    isInjected: false,
    expose: { allow: entry.expose?.allow, deny: entry.expose?.deny },
    isOwn: false,
  };
}

/** What to do about a server that is reached in a way that agents have not. */
export function needsProxy(type: 'sse' | 'ws'): string {
  const way = type === 'sse' ? 'HTTP with server-sent events' : 'WebSocket';
  return `is reached over ${way}, which agents cannot use. Put a program such as mcp-proxy before it: { "command": "mcp-proxy", "args": ["<url>"] }.`;
}

function nameOf(key: string, { origin }: Listing): string {
  return `${origin}: server ${JSON.stringify(key)}`;
}
