// Switchboard among Claude Code's servers. Claude Code's own program changes its file; we read that
// only to see whether there is anything to do.
import { readFileSync } from 'node:fs';
import { keepBackup } from '../base/backup.ts';
import { SwitchboardError } from '../base/errors.ts';
import { isObject } from '../base/object.ts';
import { ProgramNotStarted, ProgramTimeout, runProgram } from '../base/run-program.ts';
import { cleanText, formatDuration } from '../base/text.ts';
import { explainFailure } from './disk.ts';
import { isOnPath } from './find-program.ts';
import type { InstallPlaces } from './places.ts';

export interface Registration {
  /**
   * `registered` and `removed`: done, or in a dry run to be done. `unchanged`: it was so already.
   * `skipped`: not wanted. `no-claude`: there is no program to do it. `failed`: see `says`.
   */
  readonly state: 'registered' | 'removed' | 'unchanged' | 'skipped' | 'no-claude' | 'failed';
  /** What does it by hand. */
  readonly command: string;
  /** Why it failed. */
  readonly says?: string;
  /** Where the earlier registration is kept. */
  readonly backup?: string;
  /** Whether that is in place again after a failure, or still; undefined if there was none. */
  readonly isRestored?: boolean;
}

export interface RegistrationOptions {
  readonly places: InstallPlaces;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly isWanted: boolean;
  readonly dryRun: boolean;
  /** How long Claude Code may take for one change, in milliseconds. */
  readonly limitMs?: number;
}

const REMOVE = ['mcp', 'remove', 'switchboard', '-s', 'user'];
const LIMIT_MS = 60_000;
const LONGEST_SAYING = 500;

/** `launch` is the command, with its arguments, that starts Switchboard. */
export async function register(
  launch: readonly string[],
  options: RegistrationOptions,
): Promise<Registration> {
  const home = homeVariable(options);
  // Variables first: `-e` takes everything up to the next option for one.
  const variables = home === undefined ? [] : ['-e', `SWITCHBOARD_HOME=${home}`];
  const add = ['mcp', 'add', ...variables, '-s', 'user', 'switchboard', '--', ...launch];
  const command = formatCommand(['claude', ...add]);
  const reason = reasonNotTo(options);
  if (reason) return { state: reason, command };
  // As it stands it may have more that the user added, such as variables: it is not written anew.
  const earlier = registeredEntry(options.places);
  const isSameLaunch = earlier !== undefined && isLaunchOf(earlier, launch);
  if (isSameLaunch && hasHome(earlier, home)) return { state: 'unchanged', command };
  if (options.dryRun) return { state: 'registered', command };
  const kept = earlier ? { backup: keepEntry(earlier, options.places) } : {};
  // Claude Code adds nothing over an entry. This fails where there is nothing to remove.
  await runClaude(REMOVE, options);
  // Only the home is another one: the user's own variables stay.
  const again = isSameLaunch ? addJson(withHome(earlier, home)) : add;
  const says = await runClaude(again, options);
  if (says === undefined) return { state: 'registered', command, ...kept };
  if (!earlier) return { state: 'failed', command, says };
  const isRestored = await restore(earlier, options);
  const anew = `${formatCommand(['claude', ...REMOVE])} && ${command}`;
  return { state: 'failed', command: isRestored ? anew : command, says, ...kept, isRestored };
}

/** Sees to it that Claude Code has the entry again that it had. What it says then may hold secrets. */
async function restore(earlier: Entry, options: RegistrationOptions): Promise<boolean> {
  if (!registeredEntry(options.places)) await runClaude(addJson(earlier), options);
  return registeredEntry(options.places) !== undefined;
}

export async function unregister(options: RegistrationOptions): Promise<Registration> {
  const command = formatCommand(['claude', ...REMOVE]);
  const reason = reasonNotTo(options);
  if (reason) return { state: reason, command };
  if (options.dryRun) return { state: 'removed', command };
  const earlier = registeredEntry(options.places);
  const kept =
    earlier && hasMore(earlier) ? { backup: keepEntry(earlier, options.places) } : undefined;
  const says = await runClaude(REMOVE, options);
  if (says === undefined) return { state: 'removed', command, ...kept };
  const isThere = registeredEntry(options.places) !== undefined;
  return isThere ? { state: 'failed', command, says, ...kept } : { state: 'unchanged', command };
}

function reasonNotTo({ isWanted, env }: RegistrationOptions): 'skipped' | 'no-claude' | undefined {
  if (!isWanted) return 'skipped';
  return isOnPath('claude', env) ? undefined : 'no-claude';
}

type Entry = Readonly<Record<string, unknown>>;

/** What Claude Code has about us now. */
function registeredEntry({ claudeFile }: InstallPlaces): Entry | undefined {
  try {
    const file: unknown = JSON.parse(readFileSync(claudeFile, 'utf8'));
    const servers = isObject(file) ? file['mcpServers'] : undefined;
    const entry = isObject(servers) ? servers['switchboard'] : undefined;
    return isObject(entry) ? entry : undefined;
  } catch {
    return undefined; // no file yet, or none that we can read: its owner will say so
  }
}

function isLaunchOf({ command, args = [] }: Entry, launch: readonly string[]): boolean {
  return JSON.stringify([command, args]) === JSON.stringify([launch[0], launch.slice(1)]);
}

/** Hosts start Switchboard in an environment of their own, so a home of the user's choice is registered with it. */
function homeVariable({ env, places }: RegistrationOptions): string | undefined {
  return env['SWITCHBOARD_HOME'] ? places.home : undefined;
}

/** Where none is chosen, one that the user has registered is right. */
function hasHome({ env }: Entry, home: string | undefined): boolean {
  return home === undefined || (isObject(env) && env['SWITCHBOARD_HOME'] === home);
}

function withHome(entry: Entry, home: string | undefined): Entry {
  const env = isObject(entry['env']) ? entry['env'] : {};
  return { ...entry, env: { ...env, SWITCHBOARD_HOME: home } };
}

function addJson(entry: Entry): string[] {
  return ['mcp', 'add-json', '-s', 'user', 'switchboard', JSON.stringify(entry)];
}

/** Whether the user has put more into it than the command, which we can write again at any time. */
function hasMore(entry: Entry): boolean {
  const { type: _type, command: _command, args: _args, env, ...more } = entry;
  return Object.keys({ ...more, ...(isObject(env) ? env : {}) }).length > 0;
}

/** Claude Code forgets the whole entry. Gives where it is kept. */
function keepEntry(entry: Entry, { claudeFile, backups }: InstallPlaces): string {
  const place = { file: claudeFile, name: 'claude-entry.json', folder: backups };
  const text = `${JSON.stringify(entry, null, 2)}\n`;
  return explainFailure(backups, () => keepBackup(text, place));
}

/** Runs `claude`; gives what went wrong, if anything did. */
async function runClaude(
  args: readonly string[],
  { cwd, env, limitMs = LIMIT_MS }: RegistrationOptions,
): Promise<string | undefined> {
  let said = '';
  const keep = (text: string): void => {
    said = (said + text).slice(-LONGEST_SAYING);
  };
  try {
    const command = { cmd: 'claude', args, cwd, env };
    const output = { onStdout: keep, onStderr: keep };
    const { status, signal } = await runProgram({ ...command, ...output, limitMs });
    const words = cleanText(said).trim();
    return status === 0 ? undefined : words || `it ended with ${signal ?? `status ${status}`}`;
  } catch (error) {
    if (error instanceof ProgramTimeout) return `it did not end within ${formatDuration(limitMs)}`;
    if (!(error instanceof ProgramNotStarted)) throw error;
    throw new SwitchboardError('INSTALL_FAILED', `claude cannot be started: ${error.message}.`, {
      hint: 'With --no-register it is left alone.',
      cause: error,
    });
  }
}

/** A command as a person can paste it into a shell. */
function formatCommand(words: readonly string[]): string {
  return words
    .map((word) =>
      /^[\w@%+=:,./\\-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`,
    )
    .join(' ');
}
