// One line about each server that nobody has described, as `switchboard doctor` made it. Kept apart from the
// user's files, in the cache, by what is started or asked; read when the configuration is, so that the list
// of tools changes only with that.
import { readFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { shortDigest } from '../base/digest.ts';
import { isObject } from '../base/object.ts';
import { makePrivateFolder } from '../base/process.ts';
import { writeWhole } from '../base/whole-file.ts';
import type { ChildConfig } from './config.ts';
import { isPackageRunner } from './runners.ts';

/** By the server's key. */
export type DerivedDescriptions = ReadonlyMap<string, string>;

/** What a description depends on. */
type Described = Pick<ChildConfig, 'command' | 'remote' | 'cwd' | 'expose'>;

/** Files of another form than this are not read. */
const FORM = 1;
const MOST_SERVERS = 1_000;
const NONE: DerivedDescriptions = new Map();

export function readDerived(home: string): DerivedDescriptions {
  try {
    const content: unknown = JSON.parse(readFileSync(fileIn(home), 'utf8'));
    if (!isObject(content) || content['form'] !== FORM) return NONE;
    const { servers } = content;
    const lines = Object.entries(isObject(servers) ? servers : {});
    return new Map(lines.filter((line): line is [string, string] => typeof line[1] === 'string'));
  } catch {
    return NONE; // never written, or damaged: the next `doctor` writes it anew
  }
}

export function derivedFor(derived: DerivedDescriptions, server: Described): string | undefined {
  // Nearly every start: finding out the key of each server would cost it something.
  return derived.size === 0 ? undefined : derived.get(keyOf(server));
}

/** Whether somebody has written what hosts are told about a server. */
export function isDescribed(config: ChildConfig): boolean {
  const { switchboardDescription, suiteDescription, description, notedDescription } = config;
  const written = [switchboardDescription, suiteDescription, description, notedDescription];
  return written.some((text) => text !== undefined && text.trim() !== '');
}

/** Keeps lines about servers. Throws what the system says if they cannot be kept. */
export function rememberDerived(
  home: string,
  lines: Iterable<readonly [server: Described, line: string]>,
): void {
  const kept = new Map(readDerived(home));
  for (const [server, line] of lines) {
    kept.delete(keyOf(server)); // so that it counts as the newest
    kept.set(keyOf(server), line);
  }
  const servers = Object.fromEntries([...kept].slice(-MOST_SERVERS));
  makePrivateFolder(join(home, 'cache'));
  writeWhole(fileIn(home), `${JSON.stringify({ form: FORM, servers })}\n`, { mode: 0o600 });
}

function fileIn(home: string): string {
  return join(home, 'cache', 'descriptions.json');
}

/** A server that is the same in every folder is described once for all of them. */
function keyOf({ command, remote, cwd, expose }: Described): string {
  const what = remote
    ? { url: remote.url, type: remote.type }
    : command && {
        cmd: command.cmd,
        args: command.args,
        cwd: dependsOnFolder(command) ? cwd : undefined,
      };
  const text = JSON.stringify([what, expose.allow, expose.deny]);
  // Twice, since 32 bits alone would be met again too soon.
  return shortDigest(`1${text}`) + shortDigest(`2${text}`);
}

function dependsOnFolder(command: NonNullable<ChildConfig['command']>): boolean {
  if (isPackageRunner(command)) return false;
  const { cmd, args } = command;
  const paths = args.filter((arg) => !arg.startsWith('-'));
  return (/[\\/]/.test(cmd) && !isAbsolute(cmd)) || !paths.every((path) => isAbsolute(path));
}
