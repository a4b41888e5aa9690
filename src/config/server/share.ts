// Which sessions share a server's process, and why: the key that says so, or the default rule.
import type { ChildConfig, Command } from '../config.ts';
import type { Layer } from '../files/layers.ts';
import { isUsersFile } from '../files/places.ts';
import { findKey } from '../settings/use.ts';
import type { Declaration } from './command.ts';
import { neutralFolder } from './cwd.ts';
import { programName } from './runners.ts';
import { withoutVersion } from './same-server.ts';
import { SESSION_SERVERS } from './session-servers.ts';

interface ShareFacts {
  readonly command: Command | undefined;
  readonly cwd: string;
  readonly project: string;
  /** `$SWITCHBOARD_HOME`. */
  readonly home: string;
  readonly homeFolder: string;
}

export function resolveShare(
  name: string,
  declaration: Declaration,
  layers: readonly Layer[],
  facts: ShareFacts,
): Pick<ChildConfig, 'share' | 'shareBecause'> {
  const set = findKey('share', (keys) => keys.share, name, declaration, layers);
  if (set) return { share: set.value, shareBecause: set.because };
  if (declaration.source === 'child-file' && declaration.original) {
    return { share: 'session', shareBecause: REMEMBERS };
  }
  const { command, cwd } = facts;
  const state = command && stateOf(command);
  if (state !== undefined) return { share: 'session', shareBecause: state };
  if (!isUsersFile(declaration.origin, facts)) {
    return { share: 'project', shareBecause: "it isn't declared in your own files" };
  }
  if (!command) return { share: 'user', shareBecause: 'it is in your own files, at a URL' };
  return cwd === neutralFolder(facts)
    ? { share: 'user', shareBecause: 'it is in your own files and runs in your home folder' }
    : { share: 'project', shareBecause: "it doesn't run in your home folder" };
}

/** The reason for servers with an assistant. */
export const REMEMBERS = 'its assistant remembers the conversation';

/** The state a well-known server keeps for one session. */
function stateOf({ cmd, args }: Command): string | undefined {
  const names = [programName(cmd), ...args.flatMap(namesIn)];
  return names.map((name) => SESSION_SERVERS.get(name)).find((state) => state !== undefined);
}

const INSTALLED = /[\\/](?:node_modules|site-packages)[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/;
const REPOSITORY = /^git\+https?:.*\/([\w.-]+?)(?:\.git)?(?:@.*)?$/;

/** The packages an argument can mean: `@scope/name@1.2`, `.../node_modules/name/cli.js`, `git+https://…/name`. */
function namesIn(argument: string): string[] {
  const installed = INSTALLED.exec(argument)?.[1]?.replace('\\', '/');
  const repository = REPOSITORY.exec(argument)?.[1];
  return [withoutVersion(argument), installed, repository].flatMap(
    (name) => name?.toLowerCase() ?? [],
  );
}
