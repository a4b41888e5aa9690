// Child files: a server that describes itself in a `.mcp.json` in its own folder. They are often
// other people's, so a bad one costs only itself.
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { SwitchboardError } from '../../base/errors.ts';
import { isObject } from '../../base/object.ts';
import { type ReadText, readTextFile } from '../../base/read-text.ts';
import {
  type CheckedChildFile,
  checkChildFile,
  isChildFile,
  strangeChildFileKeys,
} from '../schema/check.ts';
import type { ChildFile } from '../schema/schema.ts';
import { MOST_CONFIG_BYTES, parseJson, withoutByteOrderMark } from './files.ts';
import { isUntouched, originalFile, wrapperIn } from './laid-out.ts';

export interface FoundChild {
  readonly file: string;
  readonly entry: ChildFile;
  /** What is wrong in the file. */
  readonly invalid?: readonly string[] | undefined;
  /** The server's own file, where the folder was laid out for an assistant that speaks for it. */
  readonly original?: ChildFile | undefined;
}

interface FoundChildren {
  readonly children: Map<string, FoundChild>;
  /** What to do about servers whose file is gone, while their assistant's folder keeps it; by name. */
  readonly lost: Map<string, string>;
  readonly warnings: string[];
  /** Those of the warnings that are about files that are ignored or gone. */
  readonly missing: string[];
}

/** The usable children of these files, the first of each name, and what to say about the rest. */
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
      warnOfMissing(
        `Two child files have the name "${name}": ${first.file} is used, ${file} is not.`,
      );
      continue;
    }
    children.set(name, {
      file,
      entry: read.entry,
      invalid: read.invalid,
      original: await behind(file, read.entry, warnings),
    });
    for (const says of strangeChildFileKeys(read.entry)) warnings.push(`${file}: ${says}`);
  }
  return { children, lost, missing, warnings };
}

/** A wide pattern finds also what the assistant of a server keeps: that server's own file. */
function isOriginalOf(file: string, wrapped: string): boolean {
  return file === originalFile(dirname(wrapped));
}

/** The server behind a wrapper of ours. Any other program is a server like any other, whatever it is called. */
async function behind(
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

/** Not read in its place: whoever removes a server's file mostly wants it to be gone. */
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
  const says = `${file} is missing, but its assistant's folder keeps the server's own file: move ${original} there to have the server back, or remove it.`;
  lost.set(name, says);
  warn(`Server ${JSON.stringify(name)}: ${says}`);
}

/** The folder of an assistant, whoever has started it there: the server's own file must be readable. */
export async function readAssistantFolder(folder: string): Promise<FoundChild> {
  const original = originalFile(folder);
  const own = await readChildFile(original);
  const problem = own ? problemOf(own) : `There is no file ${original}.`;
  if (!own || !('entry' in own) || problem !== undefined) {
    throw new SwitchboardError('CONFIG_INVALID', problem ?? '', {
      hint: 'It declares the server that the assistant in this folder speaks for.',
    });
  }
  const file = join(folder, '.mcp.json');
  const present = await readChildFile(file);
  const isWrapper = present && 'entry' in present && wrapperIn(present.entry) !== undefined;
  const { entry, invalid } = isWrapper ? present : own;
  return { file, entry, invalid, original: own.entry };
}

/** Why a file can't be used as it is. */
function problemOf(read: CheckedChildFile): string | undefined {
  if ('problem' in read) return read.problem;
  return read.invalid?.join('\n');
}

/** Undefined where there is no such file. */
async function readChildFile(file: string): Promise<CheckedChildFile | undefined> {
  const read = readTextFile(file, MOST_CONFIG_BYTES);
  // A folder that matches the pattern and has no such file is nothing to speak of.
  if ('problem' in read && read.isMissing) return undefined;
  return readQuickly(read) ?? readPatiently(file, read);
}

/** For a file that is plain JSON and right, as nearly all are: with hundreds of them it shows. */
function readQuickly(read: ReadText): CheckedChildFile | undefined {
  if ('problem' in read) return undefined;
  try {
    const entry: unknown = JSON.parse(read.text);
    return isChildFile(entry) ? { entry } : undefined;
  } catch {
    return undefined; // the patient way finds out what it is
  }
}

async function readPatiently(file: string, read: ReadText): Promise<CheckedChildFile> {
  if ('problem' in read) return { problem: `${file}: ${read.problem}` };
  const text = withoutByteOrderMark(read.text);
  const parsed = await parseJson(text);
  if ('problem' in parsed) return { problem: `${file}:${parsed.problem}` };
  if (isObject(parsed.value) && !('name' in parsed.value) && 'mcpServers' in parsed.value) {
    return {
      problem: `${file}: "mcpServers" belongs into switchboard.config.json; a child file describes one server and needs a "name".`,
    };
  }
  return checkChildFile({ file, value: parsed.value, text });
}
