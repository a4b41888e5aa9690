// Imports servers from another program's file into `servers.json`. Existing entries, comments and their order are
// preserved; the source file is only read.
import { SwitchboardError } from '../base/errors.ts';
import { isObject } from '../base/object.ts';
import { didYouMean } from '../base/text.ts';
import { setKey } from '../config/change/edit.ts';
import { rewriteFile } from '../config/change/rewrite.ts';
import { isServerEntry } from '../config/schema/check.ts';
import { type Change, readIfExists } from './disk.ts';
import { originFolder, withOrigin } from './origin.ts';
import type { InstallPlaces } from './places.ts';
import { isGateway, launchOf, type RawEntry, readHostServers, readServers } from './servers.ts';

export interface ImportSource {
  /** A path or `stdin`, for error messages. */
  readonly file: string;
  readonly text: string;
}

export interface ImportOptions {
  readonly places: InstallPlaces;
  /** The real path of Switchboard itself. */
  readonly program: string;
  /** Import only these. */
  readonly only?: readonly string[] | undefined;
  /** Replace other servers with the same alias. */
  readonly force: boolean;
  readonly dryRun: boolean;
}

export interface ImportedServer {
  readonly alias: string;
  /**
   * `added`, `replaced`: imported. `same`: already present. `differs`: skipped, another server has the alias.
   * `gateway`: skipped, it is Switchboard or similar. `unusable`: skipped, nothing to start or an invalid value.
   */
  readonly state: 'added' | 'replaced' | 'same' | 'differs' | 'gateway' | 'unusable';
  /** The alias it already has in `servers.json`. */
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
  // Decided on the text that is then edited, because another import may be running.
  const edit = async (text: string | undefined) => {
    const merged = await mergeServers(offered, text, options);
    servers = merged.servers;
    return merged.text;
  };
  const { dryRun } = options;
  // Private, because entries may contain secrets.
  const { isChanged, backup } = await rewriteFile(serversFile, edit, { home, mode: 0o600, dryRun });
  const kept: Change[] = backup ? [{ action: 'backup', path: serversFile, to: backup }] : [];
  const written: Change[] = isChanged ? [{ action: 'write', path: serversFile }] : [];
  return { servers, changes: [...kept, ...written] };
}

/** The new text of `servers.json`, and the outcome for each server. */
async function mergeServers(
  offered: ReadonlyMap<string, unknown>,
  text: string | undefined,
  options: ImportOptions,
): Promise<{ readonly servers: readonly ImportedServer[]; readonly text: string | undefined }> {
  const before = text?.trim() ? text : '{}\n';
  const present = await readServers(options.places.serversFile, before);
  const servers = [...offered].map(([alias, entry]) =>
    decide(alias, entry, present.entries, options),
  );
  const imported = servers.filter(({ state }) => state === 'added' || state === 'replaced');
  if (imported.length === 0) return { servers, text };
  let after = before;
  for (const { alias } of imported) {
    after = await setKey(after, [...present.under, alias], offered.get(alias));
  }
  return { servers, text: after };
}

/** How many mcpflip servers haven't been imported yet. */
export async function countLeftBehind(places: InstallPlaces, program: string): Promise<number> {
  try {
    const text = readIfExists(places.mcpflipServers);
    if (text === undefined) return 0;
    const source = { file: places.mcpflipServers, text };
    const { servers } = await importServers(source, {
      places,
      program,
      force: false,
      dryRun: true,
    });
    return servers.filter(({ state }) => state === 'added').length;
  } catch (error) {
    if (error instanceof SwitchboardError) return 0; // only used for a hint
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

function decide(
  alias: string,
  entry: unknown,
  present: ReadonlyMap<string, unknown>,
  { program, force }: ImportOptions,
): ImportedServer {
  const launch = isServerEntry(entry) ? launchOf(entry) : undefined;
  if (!isServerEntry(entry) || !launch) return { alias, state: 'unusable' };
  if (isGateway(launch, program)) return { alias, state: 'gateway' };
  const there = present.get(alias);
  if (isObject(there) && isSameLaunch(there, entry)) return { alias, state: 'same' };
  if (present.has(alias)) return { alias, state: force ? 'replaced' : 'differs' };
  const as = [...present].find(([, other]) => isObject(other) && isSameServer(other, entry))?.[0];
  return as === undefined ? { alias, state: 'added' } : { alias, state: 'same', as };
}

/** Under another alias, `env` also matters: two accounts are two servers with the same command. */
function isSameServer(a: RawEntry, b: RawEntry): boolean {
  return isSameLaunch(a, b) && isSame(a['env'] ?? {}, b['env'] ?? {});
}

/** `node server.js` in two folders means two servers. */
function isSameLaunch(a: RawEntry, b: RawEntry): boolean {
  return isSame(launchOf(a), launchOf(b)) && a['cwd'] === b['cwd'];
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
