// A server's identity: the command and folder, or the URL. What we have learned about a server is valid only as
// long as its identity stays the same. Values of variables and headers aren't part of it: they are secrets, and
// they rarely change which tools there are.
import { readFileSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { shortDigest } from '../base/digest.ts';
import type { ChildConfig, Command } from '../config/config.ts';
import { programName, withoutShell } from '../config/server/runners.ts';

type Launch = Pick<Command, 'cmd' | 'args'>;

/** How many folders above a script to search for its package.json. */
const MOST_LEVELS = 6;

export function identityOf(config: ChildConfig): string {
  const what = launchOf(config);
  const isProgram = config.command && !config.remote;
  return digestTwice(what && isProgram ? { ...what, version: versionOf(config) } : what);
}

/** The version of a server's package, if it is on this disk. */
export function versionOf({ command, remote, cwd }: ChildConfig): string | undefined {
  return command && !remote ? packageVersion(command, cwd) : undefined;
}

/** An identity that stays the same when the server is updated. Two servers with the same command differ by name. */
export function lastingIdentityOf(config: ChildConfig): string {
  return digestTwice({ name: config.name, launch: launchOf(config) });
}

function launchOf(config: ChildConfig): object | undefined {
  const { command, remote } = config;
  if (remote) {
    return { url: remote.url, type: remote.type, headers: Object.keys(remote.headers).sort() };
  }
  return (
    command && {
      cmd: command.cmd,
      args: command.args,
      env: Object.keys(command.env).sort(),
      cwd: boundFolderOf(config),
    }
  );
}

/** Twice, because 32 bits would collide too often. */
function digestTwice(what: unknown): string {
  const text = JSON.stringify(what ?? null);
  return shortDigest(`1${text}`) + shortDigest(`2${text}`);
}

/**
 * The folder a server's lists may depend on; undefined if they are the same in every project. When in doubt, they
 * depend on it: at worst we ask the server again in the next project.
 */
export function boundFolderOf({
  command,
  remote,
  cwd,
  isCwdGiven,
}: ChildConfig): string | undefined {
  if (remote) return undefined;
  const isBound = isCwdGiven || !command || usesFolder(command, cwd);
  return isBound ? cwd : undefined;
}

/** Programs whose first operand is a script or a project command. */
const INTERPRETERS =
  /^(?:node|bun|bunx|deno|tsx|python[\d.]*|ruby|php|perl|(?:ba|z)?sh|cmd|npm|pnpm|pnpx|yarn|uv)$/;

function usesFolder(command: Launch, cwd: string): boolean {
  const inner = withoutShell(command);
  if (inner) return usesFolder(inner, cwd);
  const { cmd, args } = command;
  const isPath = /[\\/]/.test(cmd) && !isAbsolute(cmd);
  if (isPath || [cmd, ...args].some((word) => word.includes('$'))) return true;
  const program = programName(cmd);
  const operand = args.find((arg) => !arg.startsWith('-'));
  if (INTERPRETERS.test(program) && !isAbsolute(operand ?? '')) return true;
  const isRunner = program === 'npx' || program === 'uvx';
  // npx prefers a package installed in the project.
  if (isRunner && packageVersion(command, cwd) !== undefined) return true;
  return args.some((arg) => mayBeInFolder(arg, isRunner));
}

/** Whether an argument may be a path relative to the project. */
function mayBeInFolder(arg: string, isRunner: boolean): boolean {
  const value = arg.startsWith('-') ? (/=(.*)$/s.exec(arg)?.[1] ?? '') : arg;
  if (isAbsolute(value) || /^[a-z][a-z0-9+.-]*:\/\//i.test(value)) return false;
  if (isRunner && /^@[\w.-]+\/[\w.@^~-]+$/.test(value)) return false;
  if (/^\.|[\\/]/.test(value)) return true;
  return !isRunner && /\.\w+$/.test(value);
}

/** The version of the package, if it is on this disk. */
function packageVersion({ cmd, args }: Launch, cwd: string): string | undefined {
  const inner = withoutShell({ cmd, args });
  if (inner) return packageVersion(inner, cwd);
  const program = programName(cmd);
  const operand = args.find((arg) => !arg.startsWith('-'));
  if (operand === undefined) return undefined;
  if (/^(?:node|bun|deno|tsx)$/.test(program)) {
    return versionAbove(resolve(cwd, operand));
  }
  // npx prefers a package installed in the project.
  if (program !== 'npx' || isAbsolute(operand) || /^\.|@.*@/.test(operand)) {
    return undefined;
  }
  return readVersion(join(cwd, 'node_modules', operand, 'package.json'));
}

function versionAbove(script: string): string | undefined {
  let folder = dirname(script);
  for (let level = 0; level < MOST_LEVELS; level++) {
    const version = readVersion(join(folder, 'package.json'));
    if (version !== undefined) return version;
    if (folder === dirname(folder)) break;
    folder = dirname(folder);
  }
  return undefined;
}

function readVersion(file: string): string | undefined {
  try {
    const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version?: unknown };
    return typeof version === 'string' ? version : undefined;
  } catch {
    return undefined; // no package here
  }
}
