// Stores the descriptions that `switchboard doctor` derives for servers the user hasn't described. They live in
// the cache, keyed by the server's command or URL, never in the user's files, and are read together with the
// configuration: the tool list changes only at a start or reload.
import { readFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { writeAtomically } from '../../base/atomic-file.ts';
import { shortDigest } from '../../base/digest.ts';
import { isObject } from '../../base/object.ts';
import { makePrivateFolder } from '../../base/process.ts';
import type { ChildConfig } from '../config.ts';
import { isPackageRunner } from './runners.ts';

/** Descriptions by server key. */
export type DerivedDescriptions = ReadonlyMap<string, string>;

/** What a description depends on. */
type Described = Pick<ChildConfig, 'command' | 'remote' | 'cwd' | 'expose' | 'rules'>;

/** Files in another format are ignored. */
const FORMAT = 1;
const MAX_SERVERS = 1_000;
const NONE: DerivedDescriptions = new Map();

export function readDerived(home: string): DerivedDescriptions {
  try {
    const content: unknown = JSON.parse(readFileSync(fileIn(home), 'utf8'));
    if (!isObject(content) || content['form'] !== FORMAT) return NONE;
    const { servers } = content;
    const lines = Object.entries(isObject(servers) ? servers : {});
    return new Map(lines.filter((line): line is [string, string] => typeof line[1] === 'string'));
  } catch {
    return NONE; // missing or damaged: the next `doctor` rewrites it
  }
}

export function derivedFor(derived: DerivedDescriptions, server: Described): string | undefined {
  // The usual case: computing a key for every server would slow down the start.
  return derived.size === 0 ? undefined : derived.get(keyOf(server));
}

/** Whether the user has described a server. */
export function isDescribed(config: ChildConfig): boolean {
  const { switchboardDescription, suiteDescription, description, notedDescription } = config;
  const written = [switchboardDescription, suiteDescription, description, notedDescription];
  return written.some((text) => text !== undefined && text.trim() !== '');
}

/** Adds or replaces descriptions. Throws if the file cannot be written. */
export function rememberDerived(
  home: string,
  lines: Iterable<readonly [server: Described, line: string]>,
): void {
  const kept = new Map(readDerived(home));
  for (const [server, line] of lines) {
    kept.delete(keyOf(server)); // re-added as the newest
    kept.set(keyOf(server), line);
  }
  const servers = Object.fromEntries([...kept].slice(-MAX_SERVERS));
  makePrivateFolder(join(home, 'cache'));
  writeAtomically(fileIn(home), `${JSON.stringify({ form: FORMAT, servers })}\n`, { mode: 0o600 });
}

function fileIn(home: string): string {
  return join(home, 'cache', 'descriptions.json');
}

/** Servers that don't depend on the project folder share one description across projects. */
function keyOf({ command, remote, cwd, expose, rules }: Described): string {
  const what = remote
    ? { url: remote.url, type: remote.type }
    : command && {
        cmd: command.cmd,
        args: command.args,
        cwd: dependsOnFolder(command) ? cwd : undefined,
      };
  const { allow, deny, within } = expose;
  const more = within || rules ? [within, rules] : [];
  const text = JSON.stringify([what, allow, deny, ...more]);
  // A single 32-bit digest would collide too often.
  return shortDigest(`1${text}`) + shortDigest(`2${text}`);
}

function dependsOnFolder(command: NonNullable<ChildConfig['command']>): boolean {
  if (isPackageRunner(command)) return false;
  const { cmd, args } = command;
  const paths = args.filter((arg) => !arg.startsWith('-'));
  return (/[\\/]/.test(cmd) && !isAbsolute(cmd)) || !paths.every((path) => isAbsolute(path));
}
