// Processes as groups. A child server may start others (npx does, browsers do), so each runs in a
// process group of its own and is signalled as a group. How operating systems differ is known here
// and in process-table.ts, and nowhere else.
import type { ChildProcess } from 'node:child_process';
import { chmodSync, lstatSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from './make-folder.ts';
import { codeOf } from './system-error.ts';

export interface GroupCommand {
  readonly cmd: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

const WINDOWS = process.platform === 'win32';

/** Leaders of the groups that are not known to be gone yet. */
const liveGroups = new Set<number>();
let isWatchingExit = false;

/**
 * Starts a command without a shell, with pipes for stdin, stdout and stderr. Rejects if the
 * operating system cannot start it.
 */
export async function spawnGroup({ cmd, args, cwd, env }: GroupCommand): Promise<ChildProcess> {
  // Loaded with the first child: a host that only lists tools does not wait for it. npx and its
  // like are .cmd files on Windows, which Node does not start by itself.
  const spawn = WINDOWS
    ? (await import('cross-spawn')).default
    : (await import('node:child_process')).spawn;
  const child = spawn(cmd, [...args], {
    cwd,
    env,
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: !WINDOWS, // a process group of its own; Windows has none, and ends trees instead
    windowsHide: true,
  });
  const { pid } = child;
  if (pid !== undefined) liveGroups.add(pid);
  // Whatever way we end, no group of ours stays.
  if (!isWatchingExit) process.once('exit', killAllGroups);
  isWatchingExit = true;
  await new Promise((resolve, reject) => {
    child.on('error', reject); // later ones, of signals that cannot be sent, change nothing
    child.once('spawn', resolve);
  });
  if (WINDOWS && pid !== undefined) child.once('exit', () => liveGroups.delete(pid));
  return child;
}

/** Sends a signal to every process of the group. A group that is gone already is no error. */
export function signalGroup(leader: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (WINDOWS) return endTree(leader, signal);
  try {
    process.kill(-leader, signal);
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}

/** Whether any process of the group is left. A leader that has exited may leave others behind. */
export function isGroupAlive(leader: number): boolean {
  if (WINDOWS) return liveGroups.has(leader);
  try {
    process.kill(-leader, 0);
    return true;
  } catch (error) {
    if (!isGone(error)) return true;
    liveGroups.delete(leader);
    return false;
  }
}

/** The leaders of the groups that we have started and that may still be there. */
export function startedGroups(): readonly number[] {
  return [...liveGroups];
}

/** For the last moment before we end: kills what is still there, without waiting. */
export function killAllGroups(): void {
  for (const leader of liveGroups) signalGroup(leader, 'SIGKILL');
  liveGroups.clear();
}

export function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false; // not there, or not for us to see
  }
}

/** The most bytes that every system takes as the path of a socket. */
const LONGEST_SOCKET_PATH = 103;

/**
 * An address in a folder, for programs of one user to meet at: a socket, on Windows a named pipe.
 * Undefined if the path would be too long for a socket.
 */
export function localAddress(folder: string, name: string): string | undefined {
  if (WINDOWS) return `\\\\.\\pipe\\switchboard-${name}`;
  const path = join(folder, `${name}.sock`);
  return Buffer.byteLength(path) <= LONGEST_SOCKET_PATH ? path : undefined;
}

/** Leaves the socket at an address to this user alone. Pipes on Windows are by themselves. */
export function makePrivateSocket(address: string): void {
  if (!WINDOWS) chmodSync(address, 0o600);
}

/** Sees to it that a folder exists, is this user's and is open to nobody else. */
export function makePrivateFolder(folder: string): void {
  makeFolder(folder);
  if (!isOwnFolder(folder)) throw new Error(`${folder} is not a folder of this user.`);
  if (!WINDOWS && (lstatSync(folder).mode & 0o077) !== 0) chmodSync(folder, 0o700);
}

/** Whether a folder is this user's own. A link is not: whoever made it may turn it elsewhere. */
export function isOwnFolder(folder: string): boolean {
  try {
    const stat = lstatSync(folder);
    return stat.isDirectory() && (WINDOWS || stat.uid === userNumber());
  } catch {
    return false; // not there, or not for us to see
  }
}

/** This kind of machine, as packages that hold programs for one kind are named: `linux-x64`. */
export function machineKind(): string {
  return `${process.platform}-${process.arch}`;
}

/** The number that the system knows this user by. Windows has none. */
export function userNumber(): number | undefined {
  return process.getuid?.();
}

/** An environment with some variables set; on Windows their names have no upper and lower case. */
export function withVariables(
  env: NodeJS.ProcessEnv,
  variables: Readonly<Record<string, string>>,
): NodeJS.ProcessEnv {
  if (!WINDOWS) return { ...env, ...variables };
  const set = new Set(Object.keys(variables).map((name) => name.toUpperCase()));
  const others = Object.entries(env).filter(([name]) => !set.has(name.toUpperCase()));
  return { ...Object.fromEntries(others), ...variables };
}

/** What a program needs of our environment to run at all, and nothing that may be a secret. */
export function minimalEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const wanted = new Set((WINDOWS ? WINDOWS_BASICS : POSIX_BASICS).split(' '));
  const names = Object.keys(env).filter((name) => wanted.has(WINDOWS ? name.toUpperCase() : name));
  return Object.fromEntries(names.map((name) => [name, env[name]]));
}

const POSIX_BASICS =
  'PATH HOME USER LOGNAME SHELL LANG LC_ALL LC_CTYPE TERM TMPDIR TZ XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_RUNTIME_DIR XDG_STATE_HOME';
const WINDOWS_BASICS =
  'PATH PATHEXT APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES PROGRAMFILES(X86) HOMEDRIVE HOMEPATH USERNAME USERPROFILE SYSTEMDRIVE SYSTEMROOT WINDIR COMSPEC TEMP TMP';

/**
 * Opens an address in the user's browser; BROWSER names another program for it. Without a shell, and
 * only http and https: the address is somebody else's text. Gives whether a program was started.
 */
export async function openInBrowser(address: URL, env: NodeJS.ProcessEnv): Promise<boolean> {
  const { href } = new URL(address);
  if (!/^https?:\/\//.test(href)) return false; // also keeps it from being read as an option
  const [program, ...args] = browserCommand(env);
  const { spawn } = await import('node:child_process');
  return new Promise((resolve) => {
    // In a group of its own, so that Ctrl-C for us does not close the user's browser.
    const browser = spawn(program, [...args, href], {
      detached: !WINDOWS,
      stdio: 'ignore',
      windowsHide: true,
    });
    browser.once('error', () => resolve(false)); // there is none
    browser.once('spawn', () => resolve(true));
    browser.unref();
  });
}

function browserCommand(env: NodeJS.ProcessEnv): [string, ...string[]] {
  if (env['BROWSER']) return [env['BROWSER']];
  if (process.platform === 'darwin') return ['open'];
  if (!WINDOWS) return ['xdg-open'];
  const system = `${env['SystemRoot'] ?? 'C:\\Windows'}\\System32`;
  return [`${system}\\rundll32.exe`, 'url.dll,FileProtocolHandler'];
}

/**
 * Windows' way to end a process and what it started. It waits, since it must also work in the last
 * moment of ours. Programs without a window do not hear of the milder form, so that is only a wait.
 */
function endTree(leader: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  const { spawnSync } = process.getBuiltinModule('node:child_process');
  const program = `${process.env['SystemRoot'] ?? 'C:\\Windows'}\\System32\\taskkill.exe`;
  const force = signal === 'SIGKILL' ? ['/F'] : [];
  // It fails when the process is gone, which is what was wanted.
  spawnSync(program, ['/PID', String(leader), '/T', ...force], { windowsHide: true });
}

/** EPERM: what is left of the group is not ours any more. */
function isGone(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'ESRCH' || code === 'EPERM';
}
