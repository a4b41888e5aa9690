// The servers in another program's settings file, in the form of our own `mcpServers` entries; each program's
// reader translates its own syntax. The file may contain anything, including tokens, so it must never be quoted. If
// it can't be read, that's only a warning.
import { SwitchboardError } from '../../../base/errors.ts';
import { isObject } from '../../../base/object.ts';
import { readTextFile } from '../../../base/read-text.ts';
import type { AgentSettings } from '../../../config/config.ts';
import { parseJsonc, withoutByteOrderMark } from '../../../config/files/files.ts';
import type { Gate, GatedText } from '../../../config/files/gate.ts';
import { parseToml } from '../../../config/files/toml.ts';
import { harmlessName, type Subject } from '../../../config/judge.ts';
import { isServerEntry } from '../../../config/schema/check.ts';
import { isPlainObject } from '../../../config/schema/fits.ts';
import { resolveCommand } from '../../../config/server/command.ts';
import { resolveRemote } from '../../../config/server/remote.ts';
import { readSandbox } from '../../../config/server/sandbox.ts';
import { type Candidate, type Candidates, type ServerFolders, serverFolder } from '../candidate.ts';

/** Where other programs keep their files. */
export interface ProgramPlaces extends ServerFolders {
  readonly settings: Pick<AgentSettings, 'vscodeUserMcp' | 'codexHome'>;
  readonly env: NodeJS.ProcessEnv;
  /** Judges the project's files; without it, all are trusted. */
  readonly gate?: Gate | undefined;
}

export interface Listing {
  readonly origin: string;
  /** The servers' default folder; undefined for the run's. */
  readonly cwd: string | undefined;
  /** By key. Not all need to be servers. */
  readonly entries: ReadonlyMap<string, unknown>;
  readonly warnings: readonly string[];
  /** Where the file comes from; undefined for the user's files. */
  readonly trust?: Subject['origin'] | undefined;
  /** Whether the user's own files say that the user has accepted the server in the program it's for. */
  readonly isConsented?: ((key: string) => boolean) | undefined;
}

export function listServers(
  { file, settings, warnings, trust }: SettingsFile,
  key: string,
  cwd: string | undefined,
): Listing {
  const servers = settings[key];
  const isUsable = servers === undefined || servers === null || isObject(servers);
  return {
    origin: file,
    cwd,
    trust,
    entries: new Map(isObject(servers) ? Object.entries(servers) : []),
    warnings: isUsable ? warnings : [...warnings, `${file}: ${key} is not an object with servers.`],
  };
}

/** Translates each entry, or drops it if `change` returns undefined. */
export function mapEntries(
  listing: Listing,
  change: (entry: unknown, key: string) => unknown,
): Listing {
  const entries = [...listing.entries].map(([key, entry]) => [key, change(entry, key)] as const);
  return { ...listing, entries: new Map(entries.filter(([, entry]) => entry !== undefined)) };
}

export function readListing(
  listing: Listing,
  folders: ServerFolders & Pick<ProgramPlaces, 'gate'>,
): Candidates {
  const servers: Candidate[] = [];
  const leftOut = new Map<string, string>();
  const warnings = [...listing.warnings];
  for (const [key, entry] of listing.entries) {
    if (isObject(entry) && (entry['disabled'] === true || entry['enabled'] === false)) {
      if (listing.trust !== 'foreign') {
        leftOut.set(key, `${nameOf(key, listing)} is disabled there.`);
      }
      continue;
    }
    const read = readEntry(key, entry, listing, folders);
    if (!isApproved(key, read, listing, folders.gate)) {
      leftOut.set(
        harmlessName(key, leftOut),
        `${listing.origin}: This server needs your approval. Run: switchboard trust`,
      );
      continue;
    }
    if (typeof read === 'string') {
      leftOut.set(key, read);
      warnings.push(read);
      continue;
    }
    servers.push(read);
    if (isObject(entry) && entry['envFile'] !== undefined) {
      warnings.push(`${nameOf(key, listing)} has an envFile, which is not supported. Use "env".`);
    }
  }
  return { servers, leftOut, warnings };
}

function isApproved(
  key: string,
  read: Candidate | string,
  { origin: file, trust, isConsented = () => false }: Listing,
  gate: Gate | undefined,
): boolean {
  if (!gate || trust === undefined) return true;
  if (typeof read === 'string') return trust === 'yours'; // the reason repeats its text
  const subject = { kind: 'agent-server', name: key, file, origin: trust } as const;
  const { origin: _origin, isOwn: _isOwn, isInjected: _isInjected, ...content } = read;
  const decided = { ...subject, content: () => content, isConsented: isConsented(key) };
  return gate.decide(decided) === 'approved';
}

/** The server, or a sentence about why agents can't use it. */
function readEntry(
  key: string,
  entry: unknown,
  listing: Listing,
  folders: ServerFolders,
): Candidate | string {
  const name = nameOf(key, listing);
  if (key === '' || !isServerEntry(entry))
    return `${name} is not a valid server entry and is ignored.`;
  const { origin } = listing;
  const { project } = folders;
  const declaration = { source: 'servers-file', origin, entry, folder: project } as const;
  const remote = resolveRemote(key, declaration);
  if (remote instanceof SwitchboardError) return remote.text;
  if (remote && remote.type !== 'http') return `${name} ${needsProxy(remote.type)}`;
  if (remote && !/^(https?:|\$\{)/i.test(remote.url)) return `${name} has a URL that is not HTTP.`;
  const command = entry.command === undefined ? undefined : resolveCommand(declaration, project);
  if (!command && !remote) return `${name} has no command and no url and is ignored.`;
  const cwd = entry.cwd ?? (command && listing.cwd);
  return {
    key,
    origin,
    cmd: command?.cmd,
    args: command?.args ?? [],
    env: command?.env ?? {},
    cwd: cwd === undefined ? undefined : serverFolder(cwd, folders),
    url: remote?.url,
    headers: remote?.headers ?? {},
    isInjected: false,
    expose: { allow: entry.expose?.allow, deny: entry.expose?.deny },
    sandbox: readSandbox(entry, origin),
    isOwn: false,
  };
}

/** For a transport that agents can't use. */
export function needsProxy(type: 'sse' | 'ws'): string {
  const way = type === 'sse' ? 'HTTP with server-sent events' : 'WebSocket';
  return `uses ${way}, which agents can't use. Bridge it with a program such as mcp-proxy: { "command": "mcp-proxy", "args": ["<url>"] }.`;
}

function nameOf(key: string, { origin }: Listing): string {
  return `${origin}: Server ${JSON.stringify(key)}`;
}

export type Settings = Readonly<Record<string, unknown>>;

/** `settings` is empty if the file is missing or unusable. */
export interface SettingsFile {
  readonly file: string;
  readonly settings: Settings;
  readonly warnings: readonly string[];
  /** Where it comes from; undefined for the user's files. */
  readonly trust?: Subject['origin'] | undefined;
}

/** Some programs keep their history in the same file. */
const MOST_BYTES = 8 << 20;

/** Allows comments and trailing commas. */
export function readJsonSettings(file: string, gate: Gate | undefined): Promise<SettingsFile> {
  return readSettings(file, parseJsonc, gate);
}

export function readTomlSettings(file: string, gate: Gate | undefined): Promise<SettingsFile> {
  return readSettings(file, parseTomlSettings, gate);
}

type Parsed = { readonly value: unknown } | { readonly problem: string };

async function readSettings(
  file: string,
  parse: (text: string) => Promise<Parsed>,
  gate: Gate | undefined,
): Promise<SettingsFile> {
  const read: GatedText = gate
    ? await gate.read(file, { maxBytes: MOST_BYTES })
    : { ...readTextFile(file, MOST_BYTES), origin: undefined };
  const trust = 'text' in read ? read.origin : undefined;
  const empty: SettingsFile = { file, settings: {}, warnings: [], trust };
  const unusable = (problem: string): SettingsFile => ({
    ...empty,
    warnings: trust === 'foreign' ? [] : [`${file}:${problem} The file is ignored.`],
  });
  if ('problem' in read) return read.isMissing ? empty : unusable(` ${read.problem}`);
  const text = withoutByteOrderMark(read.text);
  if (text.trim() === '') return empty;
  const parsed = await parse(text);
  if ('problem' in parsed) return unusable(parsed.problem);
  if (!isPlainObject(parsed.value)) return unusable(' expected an object.');
  return { ...empty, settings: parsed.value };
}

async function parseTomlSettings(text: string): Promise<Parsed> {
  const parsed = await parseToml(text);
  if ('table' in parsed) return { value: parsed.table };
  return { problem: `${parsed.line}:${parsed.column}: ${parsed.problem}` };
}
