// Writes the role of a server's assistant to `mcp-descriptions.json`, where the user can edit it. Removes it again
// unless the user has changed it.
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { SwitchboardError } from '../../base/errors.ts';
import { isObject } from '../../base/object.ts';
import { parseJsonc, withoutByteOrderMark } from '../files/files.ts';
import type { Folders } from '../files/places.ts';
import { descriptionPlaces, readDescriptions } from '../server/descriptions.ts';
import type { ConfigChange, Owner } from './change.ts';
import { setKey } from './edit.ts';
import { revertKey } from './revert.ts';
import { rewriteFile } from './rewrite.ts';

interface RoleOptions {
  readonly folders: Folders;
  readonly dryRun: boolean;
}

/** Writes to the owner's existing file, or creates one in the owner's folder. */
export async function writeRole(
  name: string,
  role: string,
  owner: Owner,
  { folders, dryRun }: RoleOptions,
): Promise<ConfigChange> {
  const { home } = folders;
  const places = descriptionPlaces(folders).filter(
    (file) => (owner === 'user') === (dirname(file) === home),
  );
  const file = places.find((place) => existsSync(place)) ?? places[0] ?? '';
  const edit = async (text: string | undefined) => {
    const changed = await setRole(text, name, role);
    if (changed !== undefined) return changed;
    throw new SwitchboardError(
      'CONFIG_INVALID',
      `Cannot add the role for server "${name}" to ${file}.`,
      {
        hint: 'Nothing was changed. The file must be JSON with servers by name under "mcps".',
      },
    );
  };
  const mode = owner === 'user' ? 0o600 : 0o666;
  return { file, ...(await rewriteFile(file, edit, { home, mode, dryRun })) };
}

/** Removes it from every file that still has it unmodified. */
export async function revertRole(
  name: string,
  role: string,
  { folders, dryRun }: RoleOptions,
): Promise<ConfigChange[]> {
  const { layers } = await readDescriptions(folders);
  const changes: ConfigChange[] = [];
  for (const { file, texts } of layers) {
    if (texts.get(name)?.claude !== role) continue;
    const rewritten = await revertKey(file, {
      path: ['mcps', name, 'claude'],
      set: (text) => setRole(text, name, role),
      home: folders.home,
      dryRun,
    });
    changes.push({ file, ...rewritten });
  }
  return changes;
}

/** Undefined if the file has the wrong format. */
async function setRole(
  text: string | undefined,
  name: string,
  role: string,
): Promise<string | undefined> {
  const before = text?.trim() ? text : '{}\n';
  const parsed = await parseJsonc(withoutByteOrderMark(before));
  if ('problem' in parsed || !isObject(parsed.value)) return undefined;
  const { mcps = {} } = parsed.value;
  if (!isObject(mcps)) return undefined;
  const entry = Object.hasOwn(mcps, name) ? mcps[name] : {};
  // A plain string is shorthand for `switchboard`.
  if (typeof entry === 'string') {
    return setKey(before, ['mcps', name], { switchboard: entry, claude: role });
  }
  return isObject(entry) ? setKey(before, ['mcps', name, 'claude'], role) : undefined;
}
