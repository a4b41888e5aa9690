// Questions about paths.
import { realpathSync } from 'node:fs';
import { isAbsolute, relative, sep } from 'node:path';

/** The path relative to the folder; undefined if it isn't below it. */
export function pathInside(folder: string, path: string): string | undefined {
  // Every start asks about every file, and almost all paths are like this.
  if (isPlain(folder) && isPlain(path)) {
    return path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : undefined;
  }
  const inside = relative(folder, path);
  const isOutside =
    inside === '' || inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside);
  return isOutside ? undefined : inside;
}

/** Whether a path means what it says: absolute, on a system with slashes, without `.`, `..` and empty parts. */
function isPlain(path: string): boolean {
  return sep === '/' && path.startsWith('/') && !ODD_PART.test(path);
}

const ODD_PART = /\/(?:\.{0,2}(?:\/|$))/;

/** The path with links followed; the path itself if it doesn't exist. */
export function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
