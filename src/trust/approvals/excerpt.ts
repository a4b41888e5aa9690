// What one project's start needs to know from trust.json, in a small file of its own: trust.json grows with every project,
// and reading all of it would slow down every start. The excerpt counts only as long as trust.json is the file it was
// taken from.
import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { writeAtomically } from '../../base/atomic-file.ts';
import { shortDigest } from '../../base/digest.ts';
import { makeFolder } from '../../base/make-folder.ts';
import { isObject, parseIfJson } from '../../base/object.ts';
import { pathInside } from '../../base/paths.ts';
import { fileStamp, readTextFile } from '../../base/read-text.ts';
import { isSystemError } from '../../base/system-error.ts';
import { stampsIn, stringsIn, type TrustStore, trustFile } from './store.ts';

/** `unmarked` and `foreign` have all files of the project that trust.json has, `batches` those that a start has asked for. */
export type Excerpt = Pick<TrustStore, 'batches' | 'unmarked' | 'foreign'>;

const FORM = 1;

function excerptFile(home: string, project: string): string {
  return join(home, 'cache', 'trust', `${shortDigest(project)}.json`);
}

/** Undefined if trust.json has to be read. */
export function readExcerpt(home: string, project: string): Excerpt | undefined {
  const read = readTextFile(excerptFile(home, project));
  const content = 'text' in read ? parseIfJson(read.text) : undefined;
  if (!isObject(content) || content['form'] !== FORM || content['project'] !== project)
    return undefined;
  const stats = statSync(trustFile(home), { throwIfNoEntry: false });
  if (!stats || content['of'] !== fileStamp(stats)) return undefined;
  return {
    batches: stringsIn(content['batches']),
    unmarked: stampsIn(content['unmarked']),
    foreign: stampsIn(content['foreign']),
  };
}

/** For the next start; `batches` are those that this one has found. Nothing is kept if trust.json may be changing. */
export function keepExcerpt(
  home: string,
  project: string,
  { stamp, unmarked, foreign }: TrustStore,
  batches: readonly string[],
): void {
  if (stamp === undefined) return;
  const isProjects = ([file]: readonly [string, string]): boolean =>
    pathInside(project, file) !== undefined;
  const content = {
    form: FORM,
    project,
    of: stamp,
    batches,
    unmarked: Object.fromEntries([...unmarked].filter(isProjects)),
    foreign: Object.fromEntries([...foreign].filter(isProjects)),
  };
  const file = excerptFile(home, project);
  try {
    makeFolder(dirname(file));
    writeAtomically(file, JSON.stringify(content), { mode: 0o600 });
  } catch (error) {
    if (!isSystemError(error)) throw error; // then trust.json is read each time
  }
}
