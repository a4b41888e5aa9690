// Questions about paths.
import { isAbsolute, relative, sep } from 'node:path';

/** The path relative to the folder; undefined if it isn't below it. */
export function pathInside(folder: string, path: string): string | undefined {
  const inside = relative(folder, path);
  const isOutside =
    inside === '' || inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside);
  return isOutside ? undefined : inside;
}
