// Child files: a server declares itself in a `.mcp.json` in its own folder. A broken one affects only itself.
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { SwitchboardError } from '../../base/errors.ts';
import { isObject } from '../../base/object.ts';
import { type ReadText, readTextFile } from '../../base/read-text.ts';
import type { Basis, Subject } from '../judge.ts';
import {
  type CheckedChildFile,
  checkChildFile,
  isChildFile,
  unknownChildFileKeys,
} from '../schema/check.ts';
import type { ChildFile } from '../schema/schema.ts';
import { isUntouched, originalFile, wrapperIn } from './assistant-folder.ts';
import { MAX_CONFIG_BYTES, parseJsonc, withoutByteOrderMark } from './files.ts';
import { type Gate, isForeignUnread, isUnusable } from './gate.ts';

export interface FoundChild {
  readonly file: string;
  readonly entry: ChildFile;
  /** Error messages. */
  readonly invalid?: readonly string[] | undefined;
  /** The server's own file, if the folder was set up for an assistant. */
  readonly original?: ChildFile | undefined;
  /** Undefined for the user's files. */
  readonly origin?: Subject['origin'] | undefined;
  /** The file's text, if there is no other file. */
  readonly basis?: Basis | undefined;
}

interface FoundChildren {
  readonly children: Map<string, FoundChild>;
  /** Those that came with the project, which never take another server's name. */
  readonly foreign: readonly FoundChild[];
  /** Hints by server name, for servers whose file is gone but still has a copy in the assistant's folder. */
  readonly lost: Map<string, string>;
  readonly warnings: string[];
  /** The warnings about ignored or missing files. */
  readonly missing: string[];
  /** The problems of ignored files, except those that came with the project. */
  readonly broken: string[];
}

/** Reads child files. If several have the same name, the first is used. */
export async function readChildFiles(
  files: readonly string[],
  gate: Gate,
  isNamed = false,
): Promise<FoundChildren> {
  const children = new Map<string, FoundChild>();
  const foreign: FoundChild[] = [];
  const lost = new Map<string, string>();
  const missing: string[] = [];
  const broken: string[] = [];
  const warnings: string[] = [];
  const warnOfMissing = (sentence: string): void => {
    missing.push(sentence);
    warnings.push(sentence);
  };
  for (const file of files) {
    const read = await readChildFile(file, gate, isNamed);
    if (read === undefined) {
      await noteLost(file, gate, lost, warnOfMissing);
      continue;
    }
    if ('problem' in read) {
      warnOfMissing(`${read.problem} The file is ignored.`);
      if (!read.isForeign) broken.push(read.problem);
      continue;
    }
    if (read.origin === 'foreign') {
      foreign.push(await withOriginal(file, read, gate, []));
      continue;
    }
    const { name } = read.entry;
    const first = children.get(name);
    if (first && isOriginalOf(file, first.file)) continue;
    if (first) {
      warnOfMissing(`Server "${name}" is declared twice: using ${first.file}, ignoring ${file}.`);
      continue;
    }
    const found = await withOriginal(file, read, gate, warnings);
    if (found.origin === 'foreign') foreign.push(found);
    else children.set(name, found);
    for (const warning of unknownChildFileKeys(read.entry)) warnings.push(`${file}: ${warning}`);
  }
  return { children, foreign, lost, missing, broken, warnings };
}

/** A wide pattern also matches the original file in an assistant's folder. */
function isOriginalOf(file: string, wrapped: string): boolean {
  return file === originalFile(dirname(wrapped));
}

/** With the server behind a wrapper that Switchboard wrote. Both files decide where it comes from. */
async function withOriginal(
  file: string,
  { entry, invalid, origin, basis }: UsableFile,
  gate: Gate,
  warnings: string[],
): Promise<FoundChild> {
  const original = await readOriginal(file, entry, gate, warnings);
  const isForeign = origin === 'foreign' || original?.origin === 'foreign';
  return {
    file,
    entry,
    invalid,
    original: original?.entry,
    basis: original ? undefined : basis,
    origin: isForeign ? 'foreign' : (origin ?? original?.origin),
  };
}

async function readOriginal(
  file: string,
  entry: ChildFile,
  gate: Gate,
  warnings: string[],
): Promise<UsableFile | undefined> {
  const wrapper = basename(file) === '.mcp.json' ? wrapperIn(entry) : undefined;
  if (wrapper === undefined) return undefined;
  const script = readTextFile(join(dirname(file), wrapper));
  if ('problem' in script || !isUntouched(script.text)) return undefined;
  const original = await readChildFile(originalFile(dirname(file)), gate);
  const problem = original && problemOf(original);
  if (problem !== undefined) warnings.push(problem);
  return original && 'entry' in original && problem === undefined ? original : undefined;
}

/** The kept file isn't used instead: users usually remove a server's file to get rid of the server. */
async function noteLost(
  file: string,
  gate: Gate,
  lost: Map<string, string>,
  warn: (sentence: string) => void,
): Promise<void> {
  const original = originalFile(dirname(file));
  if (basename(file) !== '.mcp.json' || !existsSync(original)) return;
  const kept = await readChildFile(original, gate);
  if (!kept || !('entry' in kept) || kept.origin === 'foreign') return;
  const { name } = kept.entry;
  const hint = `${file} is missing, but its original is still in ${original}. Move it back to restore the server, or remove it.`;
  lost.set(name, hint);
  warn(`Server ${JSON.stringify(name)}: ${hint}`);
}

/** Reads an assistant's folder. Throws if the server's own file can't be used. */
export async function readAssistantFolder(folder: string, gate: Gate): Promise<FoundChild> {
  const original = originalFile(folder);
  const own = await readChildFile(original, gate);
  const problem = own ? problemOf(own) : `File not found: ${original}.`;
  if (!own || !('entry' in own) || problem !== undefined) {
    throw new SwitchboardError('CONFIG_INVALID', problem ?? '', {
      hint: 'It declares the server behind the assistant in this folder.',
    });
  }
  const file = join(folder, '.mcp.json');
  const present = await readChildFile(file, gate);
  const isWrapper = present && 'entry' in present && wrapperIn(present.entry) !== undefined;
  const { entry, invalid, origin } = isWrapper ? present : own;
  const isForeign = [origin, own.origin].includes('foreign');
  return { file, entry, invalid, original: own.entry, origin: isForeign ? 'foreign' : origin };
}

/** Why a file can't be used. */
function problemOf(read: ReadChildFile): string | undefined {
  if ('problem' in read) return read.problem;
  return read.invalid?.join('\n');
}

type UsableFile = Exclude<CheckedChildFile, { problem: string }> &
  Pick<FoundChild, 'origin' | 'basis'>;
type ReadChildFile = UsableFile | { readonly problem: string; readonly isForeign?: boolean };

/** Undefined if there is no such file. */
async function readChildFile(
  file: string,
  gate: Gate,
  isNamed = false,
): Promise<ReadChildFile | undefined> {
  const read = await gate.read(file, { maxBytes: MAX_CONFIG_BYTES, isNamed });
  // Not every folder that matches the pattern has such a file.
  if ('problem' in read && read.isMissing) return undefined;
  const checked = readFast(read) ?? (await readCarefully(file, read));
  if ('problem' in read) {
    const isForeign = isUnusable(read) || (await isForeignUnread(file, read, gate));
    return 'problem' in checked ? { ...checked, isForeign } : checked;
  }
  const { origin } = read;
  if ('problem' in checked) {
    return origin === 'foreign' ? { problem: NOT_VALID(file), isForeign: true } : checked;
  }
  return { ...checked, origin, basis: origin && [read] };
}

/** None of its text is repeated. */
const NOT_VALID = (file: string) => `${file}: It is invalid and came with the project.`;

/** For valid plain JSON, as nearly all files are. It matters with hundreds of them. */
function readFast(read: ReadText): CheckedChildFile | undefined {
  if ('problem' in read) return undefined;
  try {
    const entry: unknown = JSON.parse(read.text);
    return isChildFile(entry) ? { entry } : undefined;
  } catch {
    return undefined; // readCarefully explains it
  }
}

async function readCarefully(file: string, read: ReadText): Promise<CheckedChildFile> {
  if ('problem' in read) return { problem: `${file}: ${read.problem}` };
  const text = withoutByteOrderMark(read.text);
  const parsed = await parseJsonc(text);
  if ('problem' in parsed) return { problem: `${file}:${parsed.problem}` };
  if (isObject(parsed.value) && !('name' in parsed.value) && 'mcpServers' in parsed.value) {
    return {
      problem: `${file}: "mcpServers" belongs in switchboard.config.json. A child file declares one server and needs a "name".`,
    };
  }
  return checkChildFile({ file, value: parsed.value, text });
}
