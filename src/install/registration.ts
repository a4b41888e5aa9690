// Registers Switchboard with Claude Code. The `claude` program changes Claude Code's file; we only read it to see whether
// anything has to change.
import { readFileSync } from 'node:fs';
import { keepBackup } from '../base/backup.ts';
import { SwitchboardError } from '../base/errors.ts';
import { isOnPath } from '../base/find-program.ts';
import { isObject } from '../base/object.ts';
import { ProgramNotStarted, ProgramTimeout, runProgram } from '../base/run-program.ts';
import { cleanText, formatDuration } from '../base/text.ts';
import { explainFailure } from './disk.ts';
import type { InstallPlaces } from './places.ts';

export interface Registration {
  /**
   * `registered`, `removed`: done, or would be in a dry run. `unchanged`: nothing to do. `skipped`: not wanted.
   * `no-claude`: `claude` was not found. `failed`: see `says`.
   */
  readonly state: 'registered' | 'removed' | 'unchanged' | 'skipped' | 'no-claude' | 'failed';
  /** The command to run manually. */
  readonly command: string;
  /** Why it failed. */
  readonly says?: string;
  /** The backup of the previous entry. */
  readonly backup?: string;
  /** After a failure: whether the previous entry is in place again; undefined if there was none. */
  readonly isRestored?: boolean;
}

export interface RegistrationOptions {
  readonly places: InstallPlaces;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly isWanted: boolean;
  readonly dryRun: boolean;
  /** Time limit for one `claude` command, in milliseconds. */
  readonly limitMs?: number;
}

const REMOVE = ['mcp', 'remove', 'switchboard', '-s', 'user'];
const LIMIT_MS = 60_000;
const MAX_OUTPUT = 500;

/** `launch` is the command and arguments that start Switchboard. */
export async function register(
  launch: readonly string[],
  options: RegistrationOptions,
): Promise<Registration> {
  const home = homeVariable(options);
  // Variables first: `-e` consumes everything up to the next option.
  const variables = home === undefined ? [] : ['-e', `SWITCHBOARD_HOME=${home}`];
  const add = ['mcp', 'add', ...variables, '-s', 'user', 'switchboard', '--', ...launch];
  const command = formatCommand(['claude', ...add]);
  const reason = reasonNotTo(options);
  if (reason) return { state: reason, command };
  // The entry may have more that the user added, such as variables, so keep it if it already works.
  const earlier = registeredEntry(options.places);
  const isSameLaunch = earlier !== undefined && isLaunchOf(earlier, launch);
  if (isSameLaunch && hasHome(earlier, home)) return { state: 'unchanged', command };
  if (options.dryRun) return { state: 'registered', command };
  const kept = earlier ? { backup: keepEntry(earlier, options.places) } : {};
  // Claude Code doesn't replace an existing entry. This fails if there is none.
  await runClaude(REMOVE, options);
  // If only the home changed, keep the user's own variables.
  const again = isSameLaunch ? addJson(withHome(earlier, home)) : add;
  const says = await runClaude(again, options);
  if (says === undefined) return { state: 'registered', command, ...kept };
  if (!earlier) return { state: 'failed', command, says };
  const isRestored = await restore(earlier, options);
  const replace = `${formatCommand(['claude', ...REMOVE])} && ${command}`;
  return { state: 'failed', command: isRestored ? replace : command, says, ...kept, isRestored };
}

/** Restores the previous entry. Ignores the output, which may contain secrets. */
async function restore(earlier: Entry, options: RegistrationOptions): Promise<boolean> {
  if (!registeredEntry(options.places)) await runClaude(addJson(earlier), options);
  return registeredEntry(options.places) !== undefined;
}

export async function unregister(options: RegistrationOptions): Promise<Registration> {
  const command = formatCommand(['claude', ...REMOVE]);
  const reason = reasonNotTo(options);
  if (reason) return { state: reason, command };
  const earlier = registeredEntry(options.places);
  if (options.dryRun) return { state: earlier ? 'removed' : 'unchanged', command };
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

/** Switchboard's current entry in Claude Code. */
function registeredEntry({ claudeFile }: InstallPlaces): Entry | undefined {
  try {
    const file: unknown = JSON.parse(readFileSync(claudeFile, 'utf8'));
    const servers = isObject(file) ? file['mcpServers'] : undefined;
    const entry = isObject(servers) ? servers['switchboard'] : undefined;
    return isObject(entry) ? entry : undefined;
  } catch {
    return undefined; // missing or unreadable: `claude` will report it
  }
}

function isLaunchOf({ command, args = [] }: Entry, launch: readonly string[]): boolean {
  return JSON.stringify([command, args]) === JSON.stringify([launch[0], launch.slice(1)]);
}

/** Hosts start Switchboard in their own environment, so a custom home has to be registered with it. */
function homeVariable({ env, places }: RegistrationOptions): string | undefined {
  return env['SWITCHBOARD_HOME'] ? places.home : undefined;
}

/** Without a custom home, a registered one is kept. */
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

/** Whether the entry contains more than the command, which we could write again. */
function hasMore(entry: Entry): boolean {
  const { type: _type, command: _command, args: _args, env, ...more } = entry;
  return Object.keys({ ...more, ...(isObject(env) ? env : {}) }).length > 0;
}

/** Backs up the entry, because `claude` removes all of it. Returns the backup's path. */
function keepEntry(entry: Entry, { claudeFile, backups }: InstallPlaces): string {
  const place = { file: claudeFile, name: 'claude-entry.json', folder: backups };
  const text = `${JSON.stringify(entry, null, 2)}\n`;
  return explainFailure(backups, () => keepBackup(text, place));
}

/** Runs `claude`; returns an error message, or undefined if it succeeded. */
async function runClaude(
  args: readonly string[],
  { cwd, env, limitMs = LIMIT_MS }: RegistrationOptions,
): Promise<string | undefined> {
  let printed = '';
  const keep = (text: string): void => {
    printed = (printed + text).slice(-MAX_OUTPUT);
  };
  try {
    const command = { cmd: 'claude', args, cwd, env };
    const output = { onStdout: keep, onStderr: keep };
    const { status, signal } = await runProgram({ ...command, ...output, limitMs });
    const words = cleanText(printed).trim();
    return status === 0 ? undefined : words || `it exited with ${signal ?? `status ${status}`}`;
  } catch (error) {
    if (error instanceof ProgramTimeout) return `it did not exit within ${formatDuration(limitMs)}`;
    if (!(error instanceof ProgramNotStarted)) throw error;
    throw new SwitchboardError('INSTALL_FAILED', `Cannot start claude: ${error.message}.`, {
      hint: 'To skip this step, use --no-register.',
      cause: error,
    });
  }
}

/** Quoted for a shell. */
function formatCommand(words: readonly string[]): string {
  return words
    .map((word) =>
      /^[\w@%+=:,./\\-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`,
    )
    .join(' ');
}
