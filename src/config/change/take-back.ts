// Takes a key that a command wrote out of its file again. Where nobody has changed the file since, it
// becomes what it was, byte for byte: the text from before is among the backups, and setting the key
// in it gives what is there now. Otherwise the key alone is taken out.
import { join } from 'node:path';
import { readBackups } from '../../base/backup.ts';
import { isObject } from '../../base/object.ts';
import { followLinks } from '../../base/whole-file.ts';
import { parseJson, withoutByteOrderMark } from '../files/files.ts';
import { type Rewritten, rewriteFile } from './rewrite.ts';
import { unsetKey } from './unset.ts';

export interface Taking {
  readonly path: readonly string[];
  /** What the command makes of a text, or of there being no file; undefined where it cannot. */
  readonly set: (text: string | undefined) => Promise<string | undefined>;
  readonly home: string;
  readonly dryRun?: boolean | undefined;
}

export async function takeBack(
  file: string,
  { path, set, home, dryRun }: Taking,
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
  set: Taking['set'],
  place: { readonly file: string; readonly folder: string },
): Promise<string | undefined> {
  for (const backup of readBackups(place)) {
    const earlier = backup.toString();
    const parsed = await parseJson(withoutByteOrderMark(earlier));
    const isUsable = 'value' in parsed && isObject(parsed.value) && earlier !== text;
    if (isUsable && (await set(earlier)) === text) return earlier;
  }
  return undefined;
}
