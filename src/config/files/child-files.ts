// Child files: a server declares itself in a `.mcp.json` in its own folder. A broken one affects only itself.
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { SwitchboardError } from '../../base/errors.ts';
import { isObject } from '../../base/object.ts';
import { type ReadText, readTextFile } from '../../base/read-text.ts';
import {
  type CheckedChildFile,
  checkChildFile,
  isChildFile,
  unknownChildFileKeys,
} from '../schema/check.ts';
import type { ChildFile } from '../schema/schema.ts';
import { isUntouched, originalFile, wrapperIn } from './assistant-folder.ts';
import { MAX_CONFIG_BYTES, parseJsonc, withoutByteOrderMark } from './files.ts';

export interface FoundChild {
  readonly file: string;
  readonly entry: ChildFile;
  /** Error messages. */
  readonly invalid?: readonly string[] | undefined;
  /** The server's own file, if the folder was set up for an assistant. */
  readonly original?: ChildFile | undefined;
}

interface FoundChildren {
  readonly children: Map<string, FoundChild>;
  /** Hints by server name, for servers whose file is gone but still has a copy in the assistant's folder. */
  readonly lost: Map<string, string>;
  readonly warnings: string[];
  /** The warnings about ignored or missing files. */
  readonly missing: string[];
}

/** Reads child files. If several have the same name, the first is used. */
export async function readChildFiles(files: readonly string[]): Promise<FoundChildren> {
  const children = new Map<string, FoundChild>();
  const lost = new Map<string, string>();
  const missing: string[] = [];
  const warnings: string[] = [];
  const warnOfMissing = (sentence: string): void => {
    missing.push(sentence);
    warnings.push(sentence);
  };
  for (const file of files) {
    const read = await readChildFile(file);
    if (read === undefined) {
      await noteLost(file, lost, warnOfMissing);
      continue;
    }
    if ('problem' in read) {
      warnOfMissing(`${read.problem} The file is ignored.`);
      continue;
    }
    const { name } = read.entry;
    const first = children.get(name);
    if (first && isOriginalOf(file, first.file)) continue;
    if (first) {
      warnOfMissing(`Server "${name}" is declared twice: using ${first.file}, ignoring ${file}.`);
      continue;
    }
    children.set(name, {
      file,
      entry: read.entry,
      invalid: read.invalid,
      original: await readOriginal(file, read.entry, warnings),
    });
    for (const warning of unknownChildFileKeys(read.entry)) warnings.push(`${file}: ${warning}`);
  }
  return { children, lost, missing, warnings };
}

/** A wide pattern also matches the original file in an assistant's folder. */
function isOriginalOf(file: string, wrapped: string): boolean {
  return file === originalFile(dirname(wrapped));
}

/** The server behind a wrapper that Switchboard wrote. */
async function readOriginal(
  file: string,
  entry: ChildFile,
  warnings: string[],
): Promise<ChildFile | undefined> {
  const wrapper = basename(file) === '.mcp.json' ? wrapperIn(entry) : undefined;
  if (wrapper === undefined) return undefined;
  const script = readTextFile(join(dirname(file), wrapper));
  if ('problem' in script || !isUntouched(script.text)) return undefined;
  const original = await readChildFile(originalFile(dirname(file)));
  const problem = original && problemOf(original);
  if (problem !== undefined) warnings.push(problem);
  return original && 'entry' in original && problem === undefined ? original.entry : undefined;
}

/** The kept file isn't used instead: users usually remove a server's file to get rid of the server. */
async function noteLost(
  file: string,
  lost: Map<string, string>,
  warn: (sentence: string) => void,
): Promise<void> {
  const original = originalFile(dirname(file));
  if (basename(file) !== '.mcp.json' || !existsSync(original)) return;
  const kept = await readChildFile(original);
  if (!kept || !('entry' in kept)) return;
  const { name } = kept.entry;
  const hint = `${file} is missing, but its original is still in ${original}. Move it back to restore the server, or remove it.`;
  lost.set(name, hint);
  warn(`Server ${JSON.stringify(name)}: ${hint}`);
}

/** Reads an assistant's folder. Throws if the server's own file can't be used. */
export async function readAssistantFolder(folder: string): Promise<FoundChild> {
  const original = originalFile(folder);
  const own = await readChildFile(original);
  const problem = own ? problemOf(own) : `File not found: ${original}.`;
  if (!own || !('entry' in own) || problem !== undefined) {
    throw new SwitchboardError('CONFIG_INVALID', problem ?? '', {
      hint: 'It declares the server behind the assistant in this folder.',
    });
  }
  const file = join(folder, '.mcp.json');
  const present = await readChildFile(file);
  const isWrapper = present && 'entry' in present && wrapperIn(present.entry) !== undefined;
  const { entry, invalid } = isWrapper ? present : own;
  return { file, entry, invalid, original: own.entry };
}

/** Why a file can't be used. */
function problemOf(read: CheckedChildFile): string | undefined {
  if ('problem' in read) return read.problem;
  return read.invalid?.join('\n');
}

/** Undefined if there is no such file. */
async function readChildFile(file: string): Promise<CheckedChildFile | undefined> {
  const read = readTextFile(file, MAX_CONFIG_BYTES);
  // Not every folder that matches the pattern has such a file.
  if ('problem' in read && read.isMissing) return undefined;
  return readFast(read) ?? readCarefully(file, read);
}

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
