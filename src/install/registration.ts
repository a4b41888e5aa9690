// Switchboard among Claude Code's servers. Claude Code's own program changes its file; we read that
// only to see whether there is anything to do.
import { readFileSync } from 'node:fs';
import { SwitchboardError } from '../base/errors.ts';
import { isGroupAlive, signalGroup, spawnGroup } from '../base/process.ts';
import { cleanText } from '../base/text.ts';
import { isObject } from '../config/wording.ts';
import { keepText } from './disk.ts';
import { isOnPath } from './find-program.ts';
import type { Places } from './places.ts';

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
  /** Where an earlier registration is kept that had more in it than a command. */
  readonly backup?: string;
}

export interface RegistrationOptions {
  readonly places: Places;
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
  const add = ['mcp', 'add', '-s', 'user', 'switchboard', '--', ...launch];
  const command = formatCommand(['claude', ...add]);
  const reason = reasonNotTo(options);
  if (reason) return { state: reason, command };
  // As it stands it may have more that the user added, such as variables: it is not written anew.
  const earlier = registeredEntry(options.places);
  if (earlier && isLaunchOf(earlier, launch)) return { state: 'unchanged', command };
  if (options.dryRun) return { state: 'registered', command };
  const kept = keepEntry(earlier, options.places);
  await runClaude(REMOVE, options); // fails where there is nothing to remove
  const says = await runClaude(add, options);
  return says === undefined
    ? { state: 'registered', command, ...kept }
    : { state: 'failed', command, says, ...kept };
}

export async function unregister(options: RegistrationOptions): Promise<Registration> {
  const command = formatCommand(['claude', ...REMOVE]);
  const reason = reasonNotTo(options);
  if (reason) return { state: reason, command };
  if (options.dryRun) return { state: 'removed', command };
  const kept = keepEntry(registeredEntry(options.places), options.places);
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
function registeredEntry({ claudeFile }: Places): Entry | undefined {
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

/** Claude Code forgets the whole entry, and the user may have put variables into it. */
function keepEntry(entry: Entry | undefined, { backups }: Places): { backup?: string } {
  const { type: _type, command: _command, args: _args, env, ...more } = entry ?? {};
  const hasMore = Object.keys({ ...more, ...(isObject(env) ? env : {}) }).length > 0;
  if (!hasMore) return {};
  return { backup: keepText(`${JSON.stringify(entry, null, 2)}\n`, 'claude-entry.json', backups) };
}

/** Runs `claude`; gives what went wrong, if anything did. */
async function runClaude(
  args: readonly string[],
  { cwd, env, limitMs = LIMIT_MS }: RegistrationOptions,
): Promise<string | undefined> {
  const claude = await spawnGroup({ cmd: 'claude', args, cwd, env }).catch((cause: unknown) => {
    throw new SwitchboardError('INSTALL_FAILED', `claude cannot be started: ${String(cause)}.`, {
      hint: 'With --no-register it is left alone.',
      cause,
    });
  });
  const { pid, stdin, stdout, stderr } = claude;
  let said = '';
  for (const stream of [stdout, stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-LONGEST_SAYING);
    });
  }
  stdin?.on('error', () => {}); // it need not wait for what we never say
  stdin?.end();
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      if (pid !== undefined) signalGroup(pid, 'SIGKILL');
      resolve(`it did not end within ${limitMs / 1_000} seconds`);
    }, limitMs);
    claude.once('close', (status, signal) => {
      clearTimeout(timer);
      if (pid !== undefined) isGroupAlive(pid); // one that is gone is forgotten, and its number free
      const words = cleanText(said).trim();
      resolve(status === 0 ? undefined : words || `it ended with ${signal ?? `status ${status}`}`);
    });
  });
}

/** A command as a person can paste it into a shell. */
function formatCommand(words: readonly string[]): string {
  return words
    .map((word) =>
      /^[\w@%+=:,./\\-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`,
    )
    .join(' ');
}
