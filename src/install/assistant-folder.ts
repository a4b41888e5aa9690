// An assistant before a server that has a folder of its own, and back again:
//
//   .mcp.json                    starts the wrapper
//   CLAUDE.md                    the assistant's role
//   <name>-claude-wrapper.mjs    loads our runtime
//   original/.mcp.json           the server's own file, unchanged
//
// Putting the new `.mcp.json` in the place of the old one is the last step of switching on, and the
// first of switching off. Whatever ends us in between, the server works, and the same command again
// finishes the rest. What the user wrote is kept.
import { readFileSync, renameSync, rmSync, type Stats, statSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { removeEmptyFolder } from '../base/empty-folder.ts';
import { SwitchboardError } from '../base/errors.ts';
import { makeFolder } from '../base/make-folder.ts';
import { isFolder } from '../base/process.ts';
import { writeWhole } from '../base/whole-file.ts';
import { whileLocked } from '../config/change/rewrite.ts';
import { parseJson, withoutByteOrderMark } from '../config/files/files.ts';
import { isUntouched, originalFile, wrapperIn } from '../config/files/laid-out.ts';
import { checkChildFile } from '../config/schema/check.ts';
import type { ChildFile } from '../config/schema/schema.ts';
import {
  isRoleOf,
  keysFor,
  templateRole,
  wrapperFile,
  wrapperName,
  wrapperScript,
} from './assistant-texts.ts';
import { type Change, entryAt, explainFailure, readIfThere, Work } from './disk.ts';

export interface FolderOptions {
  /** The server's `.mcp.json`. */
  readonly file: string;
  /** Switchboard's own folder, for the lock and for backups. */
  readonly home: string;
  /** The project, whose folders above the server's are looked at for links. */
  readonly project: string;
  readonly dryRun: boolean;
}

export interface FolderSwitch {
  readonly changes: readonly Change[];
  /** Files of the user's that were in the way, and are left as they are. */
  readonly kept: readonly string[];
}

/** Whether an assistant stands before the server of this file. */
export async function hasAssistantFolder(file: string): Promise<boolean> {
  const present = await readText(file);
  return present !== undefined && wrapperIn(present.entry) !== undefined;
}

/** What the server says of itself, with an assistant before it or without. */
export async function ownEntryOf(file: string): Promise<ChildFile> {
  const { script, original, present } = await readFolder(file);
  return script !== undefined && original ? original.entry : present.entry;
}

/** `role` is what CLAUDE.md shall say if there is none; `runtime` the address of our runtime. */
export async function switchOn(
  options: FolderOptions & { readonly role: string | undefined; readonly runtime: string },
): Promise<FolderSwitch> {
  return locked(options, async (work, folder) => {
    refuseLinks(folder, options);
    const { file, paths, original } = folder;
    const isOn = folder.script !== undefined;
    if (isOn && !original) throw withoutOriginal(folder, options.home);
    const own = original ?? folder.present;
    // Read before anything is changed: what cannot be read is refused.
    const script = readIfThere(paths.script);
    const role = readIfThere(paths.role);
    if (!isOn) keepOriginal(folder, options, work);
    const wanted = options.role ?? templateRole(own.entry.name, own.entry.description);
    const isOurs = role === undefined || (script !== undefined && isRoleOf(script, role));
    const isScriptKept = script !== undefined && !isUntouched(script);
    // Without a wrapper that says so a new role would no longer be known as ours.
    const ours = isScriptKept ? (role ?? wanted) : wanted;
    const newScript = wrapperScript(own.entry.name, options.runtime, isOurs ? ours : undefined);
    // Before the role, which is taken for the user's unless the wrapper says otherwise.
    if (!isScriptKept && script !== newScript) write(paths.script, newScript, undefined, work);
    if (isOurs && role !== ours) write(paths.role, ours, undefined, work);
    const kept = [...(isOurs ? [] : [paths.role]), ...(isScriptKept ? [paths.script] : [])];
    if (!isOn) write(file, wrapperFile(own.entry), folder.present.stats, work);
    return { changes: work.changes, kept };
  });
}

export async function switchOff(options: FolderOptions): Promise<FolderSwitch> {
  return locked(options, async (work, folder) => {
    const { file, paths, original, present, leftover } = folder;
    const backups = join(options.home, 'backups');
    const isOn = folder.script !== undefined;
    if (isOn) refuseLinks(folder, options);
    if (isOn && !original) throw withoutOriginal(folder, options.home);
    if (isOn && original) {
      if (present.text !== wrapperFile(original.entry)) work.backUp(file, backups);
      // The very file that is kept there: its bytes, its mode, its time.
      work.perform({ action: 'write', path: file }, () => renameSync(paths.original, file));
    }
    const script = readIfThere(paths.script);
    const kept: string[] = [];
    if (script !== undefined && (isOn || isUntouched(script))) {
      kept.push(...removeRole(paths.role, script, work));
      if (!isUntouched(script)) work.backUp(paths.script, backups);
      work.perform({ action: 'remove', path: paths.script }, () => rmSync(paths.script));
    }
    // Left by a switching on that did not come to its end.
    if (leftover === present.text) {
      work.perform({ action: 'remove', path: paths.original }, () => rmSync(paths.original));
    }
    if (work.changes.length > 0 && !work.isDry) removeEmptyFolder(dirname(paths.original));
    return { changes: work.changes, kept };
  });
}

interface Folder {
  readonly file: string;
  readonly paths: { readonly original: string; readonly role: string; readonly script: string };
  readonly present: Text;
  /** The wrapper that the server's file starts. */
  readonly script: string | undefined;
  /** The server's own file behind that wrapper. */
  readonly original: Text | undefined;
  /** What stands in its place where there is no wrapper. */
  readonly leftover: string | undefined;
}

interface Text {
  readonly text: string;
  readonly entry: ChildFile;
  readonly stats: Stats;
}

async function locked(
  options: FolderOptions,
  act: (work: Work, folder: Folder) => Promise<FolderSwitch>,
): Promise<FolderSwitch> {
  const { file, home, dryRun } = options;
  const run = async () => act(new Work({ dryRun }), await readFolder(file));
  return dryRun ? run() : whileLocked(dirname(file), home, run);
}

async function readFolder(file: string): Promise<Folder> {
  const folder = dirname(file);
  const original = originalFile(folder);
  const present = await readText(file);
  if (!present) throw gone(file);
  const script = wrapperIn(present.entry);
  return {
    file,
    paths: {
      original,
      role: join(folder, 'CLAUDE.md'),
      script: join(folder, script ?? wrapperName(present.entry.name)),
    },
    present,
    script,
    original: script === undefined ? undefined : await readText(original),
    leftover:
      script === undefined && isFolder(dirname(original)) ? readIfThere(original) : undefined,
  };
}

async function readText(file: string): Promise<Text | undefined> {
  const text = readIfThere(file);
  if (text === undefined) return undefined;
  const parsed = await parseJson(withoutByteOrderMark(text));
  const checked =
    'problem' in parsed
      ? { problem: `${file}:${parsed.problem}` }
      : await checkChildFile({ file, value: parsed.value, text });
  if ('problem' in checked || checked.invalid) {
    const problem = 'problem' in checked ? checked.problem : checked.invalid?.join('\n');
    throw new SwitchboardError('CONFIG_INVALID', problem ?? '', {
      hint: 'Fix it first; nothing was changed.',
    });
  }
  return { text, entry: checked.entry, stats: explainFailure(file, () => statSync(file)) };
}

/** What a link leads to is perhaps used by others, who did not ask for an assistant. */
function refuseLinks({ file, paths, present }: Folder, { project }: FolderOptions): void {
  const folders = [...foldersBelow(project, dirname(file)), dirname(paths.original)];
  const link = [...folders, file, paths.original, paths.role, paths.script].find((path) =>
    entryAt(path)?.isSymbolicLink(),
  );
  if (link === undefined) return;
  throw new SwitchboardError(
    'INSTALL_FAILED',
    `${link} is a link, and what it leads to is left alone.`,
    {
      hint: `Put this into switchboard.config.json instead, which does the same: ${keysFor(present.entry.name)}`,
    },
  );
}

/** A folder and those above it, as far as they belong to the project. */
function foldersBelow(project: string, folder: string): string[] {
  const way = relative(project, folder);
  if (way === '' || way.startsWith('..') || isAbsolute(way)) return [folder];
  const names = way.split(sep);
  return names.map((_, index) => join(project, ...names.slice(0, index + 1)));
}

/** A copy with the same bytes and the same mode; and another among the backups. */
function keepOriginal(
  { file, paths, present, leftover }: Folder,
  { home }: FolderOptions,
  work: Work,
): void {
  const backups = join(home, 'backups');
  if (leftover === present.text) return;
  if (leftover !== undefined) work.backUp(paths.original, backups);
  work.backUp(file, backups);
  const act = () => {
    makeFolder(dirname(paths.original), 0o777);
    writeWhole(paths.original, readFileSync(file), { mode: 0o600, like: present.stats });
  };
  work.perform({ action: 'write', path: paths.original }, act);
}

/** A role that somebody has worked on stays, and is taken up when the assistant is switched on again. */
function removeRole(file: string, script: string, work: Work): string[] {
  const role = readIfThere(file);
  if (role === undefined) return [];
  if (!isRoleOf(script, role)) return [file];
  work.perform({ action: 'remove', path: file }, () => rmSync(file));
  return [];
}

function write(file: string, text: string, like: Stats | undefined, work: Work): void {
  const act = () => writeWhole(file, text, { mode: 0o666, like });
  work.perform({ action: 'write', path: file }, act);
}

function withoutOriginal({ file, paths }: Folder, home: string): SwitchboardError {
  return new SwitchboardError(
    'INSTALL_FAILED',
    `${file} starts an assistant, but the server's own file is missing: ${paths.original}.`,
    { hint: `Put it back; earlier texts of ${file} are in ${join(home, 'backups')}.` },
  );
}

function gone(file: string): SwitchboardError {
  return new SwitchboardError('INSTALL_FAILED', `${file} is not there any more.`, {
    hint: 'Somebody removed it a moment ago. See: switchboard config check',
  });
}
