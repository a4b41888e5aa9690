// Process groups. A server may start other processes (npx does, browsers do), so each gets its own group and
// is signaled as a group. Only this file and process-table.ts know how operating systems differ.
import type { ChildProcess } from 'node:child_process';
import { chmodSync, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from './make-folder.ts';
import { codeOf } from './system-error.ts';

export interface GroupCommand {
  readonly cmd: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

export const PLATFORM = process.platform;
const WINDOWS = PLATFORM === 'win32';

/** Leaders of groups that may still exist. */
const liveGroups = new Set<number>();
let isWatchingExit = false;

/**
 * Starts a command without a shell, with pipes for stdin, stdout and stderr. Rejects if the
 * operating system cannot start it.
 */
export async function spawnGroup({ cmd, args, cwd, env }: GroupCommand): Promise<ChildProcess> {
  // Lazy: a host that only lists tools doesn't need it. On Windows, npx and the like are .cmd files, which
  // Node can't start by itself.
  const spawn = WINDOWS
    ? (await import('cross-spawn')).default
    : (await import('node:child_process')).spawn;
  const child = spawn(cmd, [...args], {
    cwd,
    env,
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: !WINDOWS, // its own process group; Windows doesn't have any and stops process trees instead
    windowsHide: true,
  });
  const { pid } = child;
  if (pid !== undefined) liveGroups.add(pid);
  // No matter how we exit, no group is left behind.
  if (!isWatchingExit) process.once('exit', killAllGroups);
  isWatchingExit = true;
  await new Promise((resolve, reject) => {
    child.on('error', reject); // later errors, of failed signals, change nothing
    child.once('spawn', resolve);
  });
  if (WINDOWS && pid !== undefined) child.once('exit', () => liveGroups.delete(pid));
  return child;
}

/** Options for starting a process that outlives us, without a terminal or a window. */
export function ownSession(): { readonly detached: boolean; readonly windowsHide: boolean } {
  return { detached: true, windowsHide: true };
}

/** Signals every process of the group. Does nothing if the group is gone. */
export function signalGroup(leader: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (WINDOWS) return endTree(leader, signal);
  try {
    process.kill(-leader, signal);
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}

/** Whether any process of the group is left, even without the leader. */
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

export function startedGroups(): readonly number[] {
  return [...liveGroups];
}

/** For the last moment before we exit: kills without waiting. */
export function killAllGroups(): void {
  for (const leader of liveGroups) signalGroup(leader, 'SIGKILL');
  liveGroups.clear();
}

/** The most bytes all systems allow in a socket's path. */
const MAX_SOCKET_PATH = 103;

/**
 * An address where one user's processes can meet: a socket, or a named pipe on Windows, whose name all users share.
 * Undefined if the path would be too long for a socket.
 */
export function localAddress(folder: string, name: string, pipe = name): string | undefined {
  if (WINDOWS) return `\\\\.\\pipe\\switchboard-${pipe}`;
  const path = join(folder, `${name}.sock`);
  return Buffer.byteLength(path) <= MAX_SOCKET_PATH ? path : undefined;
}

/** Restricts a socket to this user. Named pipes on Windows already are. */
export function makePrivateSocket(address: string): void {
  if (!WINDOWS) chmodSync(address, 0o600);
}

/** Makes sure a folder exists, belongs to this user and is closed to others. */
export function makePrivateFolder(folder: string): void {
  makeFolder(folder);
  if (!isOwnFolder(folder)) throw new Error(`${folder} is not owned by this user.`);
  if (!WINDOWS && (lstatSync(folder).mode & 0o077) !== 0) chmodSync(folder, 0o700);
}

/** Whether this user owns the folder. A link doesn't count: its owner can change its target. */
export function isOwnFolder(folder: string): boolean {
  try {
    const stat = lstatSync(folder, { throwIfNoEntry: false });
    return stat?.isDirectory() === true && (WINDOWS || stat.uid === userNumber());
  } catch {
    return false; // not accessible
  }
}

/** Where systemd gives each user a folder for sockets. */
export function systemRuntimeFolder(): string | undefined {
  return process.platform === 'linux' ? `/run/user/${userNumber()}` : undefined;
}

/** As in the names of platform-specific packages: `linux-x64`. */
export function machineKind(): string {
  return `${process.platform}-${process.arch}`;
}

/** The user id. Windows has none. */
export function userNumber(): number | undefined {
  return process.getuid?.();
}

/** Sets variables in a copy of the environment. Their names ignore case on Windows. */
export function withVariables(
  env: NodeJS.ProcessEnv,
  variables: Readonly<Record<string, string>>,
): NodeJS.ProcessEnv {
  if (!WINDOWS) return { ...env, ...variables };
  const set = new Set(Object.keys(variables).map((name) => name.toUpperCase()));
  const others = Object.entries(env).filter(([name]) => !set.has(name.toUpperCase()));
  return { ...Object.fromEntries(others), ...variables };
}

/** The variables that any program needs, none of which are secret. */
export function minimalEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const wanted = new Set(minimalNames());
  const names = Object.keys(env).filter((name) => wanted.has(WINDOWS ? name.toUpperCase() : name));
  return Object.fromEntries(names.map((name) => [name, env[name]]));
}

export function minimalNames(): string[] {
  return (WINDOWS ? WINDOWS_BASICS : POSIX_BASICS).split(' ');
}

const POSIX_BASICS =
  'PATH HOME USER LOGNAME SHELL LANG LC_ALL LC_CTYPE TERM TMPDIR TZ XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_RUNTIME_DIR XDG_STATE_HOME';
const WINDOWS_BASICS =
  'PATH PATHEXT APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES PROGRAMFILES(X86) HOMEDRIVE HOMEPATH USERNAME USERPROFILE SYSTEMDRIVE SYSTEMROOT WINDIR COMSPEC TEMP TMP';

/**
 * Opens a URL in the user's browser, or in the program that BROWSER names. Without a shell, and only http
 * and https: the URL comes from a server. Resolves with whether a program was started.
 */
export async function openInBrowser(address: URL, env: NodeJS.ProcessEnv): Promise<boolean> {
  const { href } = new URL(address);
  if (!/^https?:\/\//.test(href)) return false; // so it can't be mistaken for an option either
  const [program, ...args] = browserCommand(env);
  const { spawn } = await import('node:child_process');
  return new Promise((resolve) => {
    // In its own group, so that Ctrl-C doesn't close the user's browser.
    const browser = spawn(program, [...args, href], {
      detached: !WINDOWS,
      stdio: 'ignore',
      windowsHide: true,
    });
    browser.once('error', () => resolve(false)); // there is no such program
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
 * Stops a process and its descendants on Windows. Synchronous, because it must also work while we exit.
 * Programs without a window ignore the milder form, so for those it's only a delay.
 */
function endTree(leader: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  const { spawnSync } = process.getBuiltinModule('node:child_process');
  const program = `${process.env['SystemRoot'] ?? 'C:\\Windows'}\\System32\\taskkill.exe`;
  const force = signal === 'SIGKILL' ? ['/F'] : [];
  // It fails if the process is already gone, which is fine.
  spawnSync(program, ['/PID', String(leader), '/T', ...force], { windowsHide: true });
}

/** EPERM: the number now belongs to another user's group. */
function isGone(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'ESRCH' || code === 'EPERM';
}
