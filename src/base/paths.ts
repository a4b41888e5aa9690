// Questions about paths.
import { realpathSync } from 'node:fs';
import { isAbsolute, relative, sep } from 'node:path';

/** The path relative to the folder; undefined if it isn't below it. */
export function pathInside(folder: string, path: string): string | undefined {
  const inside = relative(folder, path);
  const isOutside =
    inside === '' || inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside);
  return isOutside ? undefined : inside;
}

/** The path with links followed; the path itself if it doesn't exist. */
export function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
