// Descriptions of well-known servers and roles for their assistants. They are copied into the configuration
// when it is written, for the user to see and change; nothing reads them at run time.
import type { ChildConfig } from '../config/config.ts';
import { plainName } from '../config/server/plain-name.ts';

/** A server of the library. */
export interface LibraryEntry {
  /** Names people give it in their configuration. */
  readonly names: readonly string[];
  /** npm and Python packages, and images. */
  readonly packages: readonly string[];
  /** Host names of remote servers. */
  readonly addresses?: readonly string[];
  /** One line for the host's model. */
  readonly switchboard: string;
  /** The role of its assistant: how to use its tools well. */
  readonly claude: string;
}

/** Servers change, and different ones share a name. */
const OTHER_TOOLS = 'If you do not have a tool named here, use the one that does the same.';

export type KnownServer = Pick<ChildConfig, 'name' | 'command' | 'remote'>;

/** Found by package or address, else by name. */
export async function findInLibrary(
  child: KnownServer,
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

function isCalled({ names }: LibraryEntry, { name }: KnownServer): boolean {
  const plain = plainName(name);
  return names.some((one) => plainName(one) === plain);
}

/** A package is a word of the command, maybe with a version or extras, or a folder in a path. */
function isStarted({ packages }: LibraryEntry, { command }: KnownServer): boolean {
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

function isReached({ addresses = [] }: LibraryEntry, { remote }: KnownServer): boolean {
  if (!remote || !URL.canParse(remote.url)) return false;
  const { hostname } = new URL(remote.url);
  return addresses.some((address) => hostname === address || hostname.endsWith(`.${address}`));
}
