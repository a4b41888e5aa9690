// The Claude Code skill on the user's disk: a copy of its text in Switchboard's folder, and a link to
// that where Claude Code looks. Nothing that the user may have written is lost: what differs from our
// text is backed up before it is replaced or removed.
import { readlinkSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { removeEmptyFolder } from '../base/empty-folder.ts';
import { makeFolder } from '../base/make-folder.ts';
import { codeOf } from '../base/system-error.ts';
import { unfinishedName } from '../base/whole-file.ts';
import { type Change, entryAt, explainFailure, readIfThere, Work, writeText } from './disk.ts';
import type { InstallPlaces } from './places.ts';
import { SKILL } from './skill-text.ts';

export interface SkillOptions {
  readonly places: InstallPlaces;
  readonly dryRun: boolean;
}

type MakeLink = (target: string, path: string) => void;

/** Puts the skill in place. There are no changes if it was. */
export function installSkill(
  { places, dryRun }: SkillOptions,
  makeLink: MakeLink = (target, path) => symlinkSync(target, path, 'file'),
): readonly Change[] {
  const work = new Work({ dryRun });
  placeCopy(places, work);
  placeLink(places, work, makeLink);
  placeServersFile(places, work);
  return work.changes;
}

/** Removes the skill; the servers stay. `left` is what stands in its place and is not ours. */
export function uninstallSkill({ places, dryRun }: SkillOptions): {
  readonly changes: readonly Change[];
  readonly left: readonly string[];
} {
  const work = new Work({ dryRun });
  const { skillCopy, skillLink } = places;
  const strangers = [dirname(skillLink), skillLink].filter(
    (path) => isLink(path) && !leadsTo(path, skillCopy),
  );
  if (strangers.length === 0) removeFile(skillLink, places, work);
  removeFile(skillCopy, places, work);
  return { changes: work.changes, left: strangers.slice(0, 1) };
}

function placeCopy({ skillCopy, backups }: InstallPlaces, work: Work): void {
  const there = readIfThere(skillCopy);
  if (there === SKILL) return;
  if (there !== undefined) work.backUp(skillCopy, backups);
  work.write(skillCopy, SKILL);
}

function placeLink(
  { skillLink, skillCopy, backups }: InstallPlaces,
  work: Work,
  makeLink: MakeLink,
): void {
  const folder = dirname(skillLink);
  const isElsewhere = isLink(folder);
  // A link to a folder, of a clone say: a file put in there would change what is not ours.
  if (isElsewhere) work.perform({ action: 'remove', path: folder }, () => unlinkSync(folder));
  else if (leadsTo(skillLink, skillCopy)) return;
  const there = isElsewhere || isLink(skillLink) ? undefined : readIfThere(skillLink);
  if (there !== undefined && there !== SKILL) work.backUp(skillLink, backups);
  const made = work.isDry
    ? 'link'
    : explainFailure(skillLink, () => linkOrCopy(skillCopy, skillLink, makeLink));
  if (made === 'link') work.changes.push({ action: made, path: skillLink, to: skillCopy });
  else if (there !== SKILL) work.changes.push({ action: made, path: skillLink });
}

/** Windows lets not everybody make links, and some file systems have none. */
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

/** The user's servers: an empty file to begin with, and never touched again from here. */
function placeServersFile({ serversFile }: InstallPlaces, work: Work): void {
  if (entryAt(serversFile)) return;
  work.perform({ action: 'create', path: serversFile }, () => {
    makeFolder(dirname(serversFile));
    writeFileSync(serversFile, '{}\n', { mode: 0o600, flag: 'wx' });
  });
}

function removeFile(file: string, { backups }: InstallPlaces, work: Work): void {
  const text = isLink(file) ? SKILL : readIfThere(file);
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
