// Where a server runs, as its declaration says it. Variables are filled in later, so what looks like
// one in the project's own path is made plain here.
import { resolve } from 'node:path';
import { expandHome } from '../../config/files/globs.ts';
import { withoutVariables } from '../../config/server/expand.ts';
import type { ServerFolders } from './candidate.ts';

/** One with a variable in it is made whole when that is filled in. */
export function folderOf(cwd: string, { project, homeFolder }: ServerFolders): string {
  if (cwd.includes('${')) return cwd;
  return withoutVariables(resolve(project, expandHome(cwd, homeFolder)));
}
