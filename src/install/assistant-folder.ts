// Puts an assistant in front of a server that has its own folder, and removes it again:
//
//   .mcp.json                    starts the wrapper
//   CLAUDE.md                    the assistant's role
//   <name>-claude-wrapper.mjs    loads our runtime
//   original/.mcp.json           the server's own file, unchanged
//
// Replacing `.mcp.json` is the last step of switching on and the first of switching off. If the process dies in between,
// the server still works, and running the command again finishes the job. The user's own files are kept.
import { readFileSync, renameSync, rmSync, type Stats, statSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { writeAtomically } from '../base/atomic-file.ts';
import { removeEmptyFolder } from '../base/empty-folder.ts';
import { SwitchboardError } from '../base/errors.ts';
import { isFolder, makeFolder } from '../base/make-folder.ts';
import { pathInside } from '../base/paths.ts';
import { whileLocked } from '../config/change/rewrite.ts';
import { isUntouched, originalFile, wrapperIn } from '../config/files/assistant-folder.ts';
import { parseJsonc, withoutByteOrderMark } from '../config/files/files.ts';
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
import { type Change, DiskWork, entryAt, explainFailure, readIfExists } from './disk.ts';

export interface FolderOptions {
  /** The server's `.mcp.json`. */
  readonly file: string;
  /** Switchboard's home, for the lock and backups. */
  readonly home: string;
  /** Folders between the project and the server's folder are checked for links. */
  readonly project: string;
  readonly dryRun: boolean;
}

export interface FolderSwitch {
  readonly changes: readonly Change[];
  /** The user's own files, which were left unchanged. */
  readonly kept: readonly string[];
}

/** Whether the server of this file has an assistant. */
export async function hasAssistantFolder(file: string): Promise<boolean> {
  const present = await readText(file);
  return present !== undefined && wrapperIn(present.entry) !== undefined;
}

/** The server's own entry, with or without an assistant. */
export async function ownEntryOf(file: string): Promise<ChildFile> {
  const { script, original, present } = await readFolder(file);
  return script !== undefined && original ? original.entry : present.entry;
}

/** `role` is the content for a new CLAUDE.md; `runtime` is the URL of our runtime. */
export async function switchOn(
  options: FolderOptions & { readonly role: string | undefined; readonly runtime: string },
): Promise<FolderSwitch> {
  return locked(options, async (work, folder) => {
    refuseLinks(folder, options);
    const { file, paths, original } = folder;
    const isOn = folder.script !== undefined;
    if (isOn && !original) throw withoutOriginal(folder, options.home);
    const own = original ?? folder.present;
    // Read first, so that unreadable files fail before anything is changed.
    const script = readIfExists(paths.script);
    const role = readIfExists(paths.role);
    if (!isOn) keepOriginal(folder, options, work);
    const wanted = options.role ?? templateRole(own.entry.name, own.entry.description);
    const isOurs = role === undefined || (script !== undefined && isRoleOf(script, role));
    const isScriptKept = script !== undefined && !isUntouched(script);
    // Only the wrapper records that a role is ours, so a kept wrapper needs the old role.
    const ours = isScriptKept ? (role ?? wanted) : wanted;
    const newScript = wrapperScript(own.entry.name, options.runtime, isOurs ? ours : undefined);
    // Before the role, which counts as the user's unless the wrapper says otherwise.
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
      // A rename keeps content, mode and modification time.
      work.perform({ action: 'write', path: file }, () => renameSync(paths.original, file));
    }
    const script = readIfExists(paths.script);
    const kept: string[] = [];
    if (script !== undefined && (isOn || isUntouched(script))) {
      kept.push(...removeRole(paths.role, script, work));
      if (!isUntouched(script)) work.backUp(paths.script, backups);
      work.perform({ action: 'remove', path: paths.script }, () => rmSync(paths.script));
    }
    // Left over from an interrupted switch-on.
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
  /** The wrapper the server's file starts. */
  readonly script: string | undefined;
  /** The server's own file behind that wrapper. */
  readonly original: Text | undefined;
  /** The kept file from an interrupted switch-on, if there is no wrapper. */
  readonly leftover: string | undefined;
}

interface Text {
  readonly text: string;
  readonly entry: ChildFile;
  readonly stats: Stats;
}

async function locked(
  options: FolderOptions,
  act: (work: DiskWork, folder: Folder) => Promise<FolderSwitch>,
): Promise<FolderSwitch> {
  const { file, home, dryRun } = options;
  const run = async () => act(new DiskWork({ dryRun }), await readFolder(file));
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
      script === undefined && isFolder(dirname(original)) ? readIfExists(original) : undefined,
  };
}

async function readText(file: string): Promise<Text | undefined> {
  const text = readIfExists(file);
  if (text === undefined) return undefined;
  const parsed = await parseJsonc(withoutByteOrderMark(text));
  const checked =
    'problem' in parsed
      ? { problem: `${file}:${parsed.problem}` }
      : await checkChildFile({ file, value: parsed.value, text });
  if ('problem' in checked || checked.invalid) {
    const problem = 'problem' in checked ? checked.problem : checked.invalid?.join('\n');
    throw new SwitchboardError('CONFIG_INVALID', problem ?? '', {
      hint: 'Nothing was changed. Fix the file, then try again.',
    });
  }
  return { text, entry: checked.entry, stats: explainFailure(file, () => statSync(file)) };
}

/** The target of a link may be shared with others, who didn't ask for an assistant. */
function refuseLinks({ file, paths, present }: Folder, { project }: FolderOptions): void {
  const folders = [...foldersBelow(project, dirname(file)), dirname(paths.original)];
  const link = [...folders, file, paths.original, paths.role, paths.script].find((path) =>
    entryAt(path)?.isSymbolicLink(),
  );
  if (link === undefined) return;
  throw new SwitchboardError(
    'INSTALL_FAILED',
    `${link} is a symbolic link, which Switchboard doesn't change.`,
    {
      hint: `To get the same effect, add this to switchboard.config.json: ${keysFor(present.entry.name)}`,
    },
  );
}

/** The folder and its parents within the project. */
function foldersBelow(project: string, folder: string): string[] {
  const path = pathInside(project, folder);
  if (path === undefined) return [folder];
  const names = path.split(sep);
  return names.map((_, index) => join(project, ...names.slice(0, index + 1)));
}

/** Keeps a copy with the same content and mode, and a backup. */
function keepOriginal(
  { file, paths, present, leftover }: Folder,
  { home }: FolderOptions,
  work: DiskWork,
): void {
  const backups = join(home, 'backups');
  if (leftover === present.text) return;
  if (leftover !== undefined) work.backUp(paths.original, backups);
  work.backUp(file, backups);
  const act = () => {
    makeFolder(dirname(paths.original), 0o777);
    writeAtomically(paths.original, readFileSync(file), { mode: 0o600, like: present.stats });
  };
  work.perform({ action: 'write', path: paths.original }, act);
}

/** Keeps a role the user has edited; it is used again when the assistant is switched on. */
function removeRole(file: string, script: string, work: DiskWork): string[] {
  const role = readIfExists(file);
  if (role === undefined) return [];
  if (!isRoleOf(script, role)) return [file];
  work.perform({ action: 'remove', path: file }, () => rmSync(file));
  return [];
}

function write(file: string, text: string, like: Stats | undefined, work: DiskWork): void {
  const act = () => writeAtomically(file, text, { mode: 0o666, like });
  work.perform({ action: 'write', path: file }, act);
}

function withoutOriginal({ file, paths }: Folder, home: string): SwitchboardError {
  return new SwitchboardError(
    'INSTALL_FAILED',
    `${file} starts an assistant, but the server's own file is missing: ${paths.original}.`,
    { hint: `Restore it. Backups of ${file} are in ${join(home, 'backups')}.` },
  );
}

function gone(file: string): SwitchboardError {
  return new SwitchboardError('INSTALL_FAILED', `${file} no longer exists.`, {
    hint: 'It was just removed. Run: switchboard config check',
  });
}
