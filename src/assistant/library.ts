// Good descriptions of well-known servers, for the moment in which configuration is written: what the
// host's model is told of one, and the role of its assistant. They are copied then, for the user to
// see and to change; at run time nothing is looked up here.
import type { ChildConfig } from '../config/config.ts';
import { plainName } from '../config/server/plain-name.ts';

/** A server of the library. */
export interface LibraryEntry {
  /** What people call it in their configuration. */
  readonly names: readonly string[];
  /** What they start: packages of npm or Python, images. */
  readonly packages: readonly string[];
  /** Hosts where it is reached over the network. */
  readonly addresses?: readonly string[];
  /** What it is good for, in one line for the host's model. */
  readonly switchboard: string;
  /** How its tools are used well: the role of its assistant. */
  readonly claude: string;
}

/** Servers change, and other people's have the same name. */
const OTHER_TOOLS =
  'If a tool that is named here is not among yours, use the one that does the same.';

/** What tells which server it is. */
export type Known = Pick<ChildConfig, 'name' | 'command' | 'remote'>;

/** The texts for a server, found by what is started or reached, else by its name. */
export async function findInLibrary(
  child: Known,
): Promise<{ readonly switchboard: string; readonly claude: string } | undefined> {
  const entries = await loadLibrary();
  const found =
    entries.find((entry) => isStarted(entry, child) || isReached(entry, child)) ??
    entries.find((entry) => isCalled(entry, child));
  return found && { switchboard: found.switchboard, claude: `${found.claude} ${OTHER_TOOLS}` };
}

export async function loadLibrary(): Promise<readonly LibraryEntry[]> {
  return (await import('./library.json', { with: { type: 'json' } })).default;
}

function isCalled({ names }: LibraryEntry, { name }: Known): boolean {
  const plain = plainName(name);
  return names.some((one) => plainName(one) === plain);
}

/** A package stands in a command by itself, with a version or extras, or as a folder in a path. */
function isStarted({ packages }: LibraryEntry, { command }: Known): boolean {
  if (!command) return false;
  const words = [command.cmd, ...command.args].map((word) => word.replaceAll('\\', '/'));
  return packages.some((name) =>
    words.some(
      (word) => withoutVersion(word) === name || `${word}/`.includes(`/node_modules/${name}/`),
    ),
  );
}

/** `name@1.2`, `name:latest`, `name==1.2`, `name[extra]` and a program's `.exe`; a scope stays. */
function withoutVersion(word: string): string {
  return word.replace(/(?!^)(?:@|:(?!\/\/)|==|\[).*$/, '').replace(/\.(?:exe|cmd)$/, '');
}

function isReached({ addresses = [] }: LibraryEntry, { remote }: Known): boolean {
  if (!remote || !URL.canParse(remote.url)) return false;
  const { hostname } = new URL(remote.url);
  return addresses.some((address) => hostname === address || hostname.endsWith(`.${address}`));
}
