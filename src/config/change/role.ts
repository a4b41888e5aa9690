// Writes the role of a server's assistant into `mcp-descriptions.json`, where the user can see and
// change it, and takes it out again if he has not.
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { SwitchboardError } from '../../base/errors.ts';
import { isObject } from '../../base/object.ts';
import { parseJson, withoutByteOrderMark } from '../files/files.ts';
import type { Folders } from '../files/places.ts';
import { descriptionPlaces, readDescriptions } from '../server/descriptions.ts';
import type { Change, Owner } from './change.ts';
import { setKey } from './edit.ts';
import { rewriteFile } from './rewrite.ts';
import { takeBack } from './take-back.ts';

interface RoleOptions {
  readonly folders: Folders;
  readonly dryRun: boolean;
}

/** Into the file that the owner has, or a new one in his folder. */
export async function writeRole(
  name: string,
  role: string,
  owner: Owner,
  { folders, dryRun }: RoleOptions,
): Promise<Change> {
  const { home } = folders;
  const places = descriptionPlaces(folders).filter(
    (file) => (owner === 'user') === (dirname(file) === home),
  );
  const file = places.find((place) => existsSync(place)) ?? places[0] ?? '';
  const edit = async (text: string | undefined) => {
    const changed = await setRole(text, name, role);
    if (changed !== undefined) return changed;
    throw new SwitchboardError('CONFIG_INVALID', `${file} cannot take the role of "${name}".`, {
      hint: 'It must be JSON with servers by name under "mcps". Mend it first; nothing was changed.',
    });
  };
  const mode = owner === 'user' ? 0o600 : 0o666;
  return { file, ...(await rewriteFile(file, edit, { home, mode, dryRun })) };
}

/** From every file in which it stands as it was written. */
export async function withdrawRole(
  name: string,
  role: string,
  { folders, dryRun }: RoleOptions,
): Promise<Change[]> {
  const { layers } = await readDescriptions(folders);
  const changes: Change[] = [];
  for (const { file, texts } of layers) {
    if (texts.get(name)?.claude !== role) continue;
    const rewritten = await takeBack(file, {
      path: ['mcps', name, 'claude'],
      set: (text) => setRole(text, name, role),
      home: folders.home,
      dryRun,
    });
    changes.push({ file, ...rewritten });
  }
  return changes;
}

/** Undefined where there is no place for it. */
async function setRole(
  text: string | undefined,
  name: string,
  role: string,
): Promise<string | undefined> {
  const before = text?.trim() ? text : '{}\n';
  const parsed = await parseJson(withoutByteOrderMark(before));
  if ('problem' in parsed || !isObject(parsed.value)) return undefined;
  const { mcps = {} } = parsed.value;
  if (!isObject(mcps)) return undefined;
  const entry = Object.hasOwn(mcps, name) ? mcps[name] : {};
  // A mere text is what the host's model reads, and stays that.
  if (typeof entry === 'string') {
    return setKey(before, ['mcps', name], { switchboard: entry, claude: role });
  }
  return isObject(entry) ? setKey(before, ['mcps', name, 'claude'], role) : undefined;
}
