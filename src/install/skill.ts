// Installs the Claude Code skill: a copy of its text in Switchboard's home, and a link to it where Claude Code looks.
// Files that differ from our text may contain the user's work, so they are backed up before being replaced or removed.
import {
  readFileSync,
  readlinkSync,
  renameSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { unfinishedName } from '../base/atomic-file.ts';
import { removeEmptyFolder } from '../base/empty-folder.ts';
import { makeFolder } from '../base/make-folder.ts';
import { codeOf } from '../base/system-error.ts';
import { type Change, DiskWork, entryAt, explainFailure, readIfExists, writeText } from './disk.ts';
import type { InstallPlaces } from './places.ts';

/** Injected by the build from skill/SKILL.md. */
declare const __SKILL__: string | undefined;

export const SKILL: string =
  typeof __SKILL__ === 'string'
    ? __SKILL__
    : readFileSync(new URL('../../skill/SKILL.md', import.meta.url), 'utf8');

export interface SkillOptions {
  readonly places: InstallPlaces;
  readonly dryRun: boolean;
}

type MakeLink = (target: string, path: string) => void;

/** Returns no changes if the skill is already installed. */
export function installSkill(
  { places, dryRun }: SkillOptions,
  makeLink: MakeLink = (target, path) => symlinkSync(target, path, 'file'),
): readonly Change[] {
  const work = new DiskWork({ dryRun });
  placeCopy(places, work);
  placeLink(places, work, makeLink);
  placeServersFile(places, work);
  return work.changes;
}

/** Removes the skill and keeps the servers. `left` is a link that doesn't belong to us. */
export function uninstallSkill({ places, dryRun }: SkillOptions): {
  readonly changes: readonly Change[];
  readonly left: readonly string[];
} {
  const work = new DiskWork({ dryRun });
  const { skillCopy, skillLink } = places;
  const foreignLinks = [dirname(skillLink), skillLink].filter(
    (path) => isLink(path) && !leadsTo(path, skillCopy),
  );
  if (foreignLinks.length === 0) removeFile(skillLink, places, work);
  removeFile(skillCopy, places, work);
  return { changes: work.changes, left: foreignLinks.slice(0, 1) };
}

function placeCopy({ skillCopy, backups }: InstallPlaces, work: DiskWork): void {
  const there = readIfExists(skillCopy);
  if (there === SKILL) return;
  if (there !== undefined) work.backUp(skillCopy, backups);
  work.write(skillCopy, SKILL);
}

function placeLink(
  { skillLink, skillCopy, backups }: InstallPlaces,
  work: DiskWork,
  makeLink: MakeLink,
): void {
  const folder = dirname(skillLink);
  const isElsewhere = isLink(folder);
  // A link to another folder, such as a clone: a file in there would change something that isn't ours.
  if (isElsewhere) work.perform({ action: 'remove', path: folder }, () => unlinkSync(folder));
  else if (leadsTo(skillLink, skillCopy)) return;
  const there = isElsewhere || isLink(skillLink) ? undefined : readIfExists(skillLink);
  if (there !== undefined && there !== SKILL) work.backUp(skillLink, backups);
  const made = work.isDry
    ? 'link'
    : explainFailure(skillLink, () => linkOrCopy(skillCopy, skillLink, makeLink));
  if (made === 'link') work.changes.push({ action: made, path: skillLink, to: skillCopy });
  else if (there !== SKILL) work.changes.push({ action: made, path: skillLink });
}

/** Not every Windows user is allowed to create links, and some file systems don't support them. */
function linkOrCopy(target: string, path: string, makeLink: MakeLink): 'link' | 'copy' {
  makeFolder(dirname(path));
  const unfinished = unfinishedName(path);
  try {
    makeLink(target, unfinished);
  } catch (error) {
    if (!NO_LINKS.has(codeOf(error))) throw error;
    if (isLink(path)) unlinkSync(path);
    writeText(path, SKILL);
    return 'copy';
  }
  renameSync(unfinished, path);
  return 'link';
}

const NO_LINKS = new Set<string | undefined>(['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP']);

/** Creates an empty file for the user's servers if there is none. */
function placeServersFile({ serversFile }: InstallPlaces, work: DiskWork): void {
  if (entryAt(serversFile)) return;
  work.perform({ action: 'create', path: serversFile }, () => {
    makeFolder(dirname(serversFile));
    writeFileSync(serversFile, '{}\n', { mode: 0o600, flag: 'wx' });
  });
}

function removeFile(file: string, { backups }: InstallPlaces, work: DiskWork): void {
  const text = isLink(file) ? SKILL : readIfExists(file);
  if (text === undefined) return;
  if (text !== SKILL) work.backUp(file, backups);
  work.perform({ action: 'remove', path: file }, () => {
    unlinkSync(file);
    removeEmptyFolder(dirname(file));
  });
}

function isLink(path: string): boolean {
  return entryAt(path)?.isSymbolicLink() ?? false;
}

function leadsTo(link: string, target: string): boolean {
  return isLink(link) && resolve(dirname(link), readlinkSync(link)) === target;
}
