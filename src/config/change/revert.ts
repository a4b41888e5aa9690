// Removes a key that a command wrote. If the file hasn't been changed since, it is restored byte for byte: one of the
// backups is the earlier text, and setting the key in it yields the current one. Otherwise only the key is removed.
import { join } from 'node:path';
import { followLinks } from '../../base/atomic-file.ts';
import { readBackups } from '../../base/backup.ts';
import { isObject } from '../../base/object.ts';
import { parseJsonc, withoutByteOrderMark } from '../files/files.ts';
import { type Rewritten, rewriteFile } from './rewrite.ts';
import { unsetKey } from './unset.ts';

export interface RevertOptions {
  readonly path: readonly string[];
  /** Applies the command's change to a text, or creates the file; undefined if that's not possible. */
  readonly set: (text: string | undefined) => Promise<string | undefined>;
  readonly home: string;
  readonly dryRun?: boolean | undefined;
}

export async function revertKey(
  file: string,
  { path, set, home, dryRun }: RevertOptions,
): Promise<Rewritten> {
  const edit = async (text: string | undefined) => {
    if (text === undefined) return undefined;
    const earlier = await findEarlier(text, set, {
      file: followLinks(file),
      folder: join(home, 'backups'),
    });
    if (earlier !== undefined) return earlier;
    return (await set(undefined)) === text ? null : unsetKey(text, path);
  };
  return rewriteFile(file, edit, { home, mode: 0o600, dryRun });
}

async function findEarlier(
  text: string,
  set: RevertOptions['set'],
  place: { readonly file: string; readonly folder: string },
): Promise<string | undefined> {
  for (const backup of readBackups(place)) {
    const earlier = backup.toString();
    const parsed = await parseJsonc(withoutByteOrderMark(earlier));
    const isUsable = 'value' in parsed && isObject(parsed.value) && earlier !== text;
    if (isUsable && (await set(earlier)) === text) return earlier;
  }
  return undefined;
}
