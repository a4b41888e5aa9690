// Takes servers over from a file of another program into `servers.json`. What is there already stays as
// it is, with its comments and in its order; the file they come from is only read.
import { SwitchboardError } from '../base/errors.ts';
import { isObject } from '../base/object.ts';
import { didYouMean } from '../base/text.ts';
import { setKey } from '../config/change/edit.ts';
import { rewriteFile } from '../config/change/rewrite.ts';
import { isServerEntry } from '../config/schema/check.ts';
import { type Change, readIfThere } from './disk.ts';
import { originFolder, withOrigin } from './origin.ts';
import type { InstallPlaces } from './places.ts';
import { isGateway, launchOf, readHostServers, readServers, type ServerEntry } from './servers.ts';

export interface ImportSource {
  /** For errors: a path, or `stdin`. */
  readonly file: string;
  readonly text: string;
}

export interface ImportOptions {
  readonly places: InstallPlaces;
  /** The command that starts Switchboard itself. */
  readonly self: readonly string[];
  /** Take over these alone. */
  readonly only?: readonly string[] | undefined;
  /** Replace what has the same alias and is another server. */
  readonly force: boolean;
  readonly dryRun: boolean;
}

export interface ImportedServer {
  readonly alias: string;
  /**
   * `added`, `replaced`: taken over. `same`: it was there. `differs`: another server has the alias,
   * and keeps it. `gateway`: it is Switchboard or the like. `unusable`: it has nothing to start, or a key
   * with an invalid value.
   */
  readonly state: 'added' | 'replaced' | 'same' | 'differs' | 'gateway' | 'unusable';
  /** The alias under which it was there. */
  readonly as?: string;
}

export async function importServers(
  source: ImportSource,
  options: ImportOptions,
): Promise<{ readonly servers: readonly ImportedServer[]; readonly changes: readonly Change[] }> {
  const { home, serversFile } = options.places;
  const found = await readHostServers(source.file, source.text);
  const folder = originFolder(source.file, options.places.homeFolder);
  const offered = new Map(
    [...chosen(found, source.file, options.only)].map(([alias, entry]) => [
      alias,
      folder === undefined ? entry : withOrigin(entry, folder),
    ]),
  );
  let servers: readonly ImportedServer[] = [];
  // Judged by the text that is then changed: another import may be at it, too.
  const edit = async (text: string | undefined) => {
    const taken = await takeOver(offered, text, options);
    servers = taken.servers;
    return taken.text;
  };
  const { dryRun } = options;
  // The mode because entries may hold secrets.
  const { isChanged, backup } = await rewriteFile(serversFile, edit, { home, mode: 0o600, dryRun });
  const kept: Change[] = backup ? [{ action: 'backup', path: serversFile, to: backup }] : [];
  const written: Change[] = isChanged ? [{ action: 'write', path: serversFile }] : [];
  return { servers, changes: [...kept, ...written] };
}

/** The text of `servers.json` with what it takes of the servers on offer, and what became of each. */
async function takeOver(
  offered: ReadonlyMap<string, unknown>,
  text: string | undefined,
  options: ImportOptions,
): Promise<{ readonly servers: readonly ImportedServer[]; readonly text: string | undefined }> {
  const before = text?.trim() ? text : '{}\n';
  const present = await readServers(options.places.serversFile, before);
  const servers = [...offered].map(([alias, entry]) =>
    judge(alias, entry, present.entries, options),
  );
  const taken = servers.filter(({ state }) => state === 'added' || state === 'replaced');
  if (taken.length === 0) return { servers, text };
  let after = before;
  for (const { alias } of taken) {
    after = await setKey(after, [...present.under, alias], offered.get(alias));
  }
  return { servers, text: after };
}

/** The servers of mcpflip that a person who moves over has not brought along yet. */
export async function countLeftBehind(
  places: InstallPlaces,
  self: readonly string[],
): Promise<number> {
  try {
    const text = readIfThere(places.mcpflipServers);
    if (text === undefined) return 0;
    const source = { file: places.mcpflipServers, text };
    const { servers } = await importServers(source, { places, self, force: false, dryRun: true });
    return servers.filter(({ state }) => state === 'added').length;
  } catch (error) {
    if (error instanceof SwitchboardError) return 0; // only a hint hangs on it
    throw error;
  }
}

function chosen(
  offered: ReadonlyMap<string, unknown>,
  file: string,
  only: readonly string[] | undefined,
): ReadonlyMap<string, unknown> {
  if (!only) return offered;
  return new Map(
    only.map((alias) => {
      if (offered.has(alias)) return [alias, offered.get(alias)];
      const names = [...offered.keys()];
      throw new SwitchboardError('USAGE', `${file} has no server "${alias}".`, {
        hint: didYouMean(alias, names) || `It has: ${names.join(', ') || 'none'}.`,
      });
    }),
  );
}

function judge(
  alias: string,
  entry: unknown,
  present: ReadonlyMap<string, unknown>,
  { self, force }: ImportOptions,
): ImportedServer {
  const launch = isServerEntry(entry) ? launchOf(entry) : undefined;
  if (!isServerEntry(entry) || !launch) return { alias, state: 'unusable' };
  if (isGateway(launch, self)) return { alias, state: 'gateway' };
  const there = present.get(alias);
  if (isObject(there) && isSameLaunch(there, entry)) return { alias, state: 'same' };
  if (present.has(alias)) return { alias, state: force ? 'replaced' : 'differs' };
  const as = [...present].find(([, other]) => isObject(other) && isSameServer(other, entry))?.[0];
  return as === undefined ? { alias, state: 'added' } : { alias, state: 'same', as };
}

/** Under another name also the variables count: two accounts are two servers with one command. */
function isSameServer(a: ServerEntry, b: ServerEntry): boolean {
  return isSameLaunch(a, b) && isSame(a['env'] ?? {}, b['env'] ?? {});
}

/** `node server.js` in two folders is two servers. */
function isSameLaunch(a: ServerEntry, b: ServerEntry): boolean {
  return isSame(launchOf(a), launchOf(b)) && a['cwd'] === b['cwd'];
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
