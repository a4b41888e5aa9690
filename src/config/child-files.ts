// Child files: a server that describes itself in a `.mcp.json` in its own folder. They are often
// other people's, so a bad one costs a warning and itself, never the rest.
import { readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { SwitchboardError } from '../base/errors.ts';
import { isObject } from '../base/object.ts';
import { checkChildFile, isChildFile, strangeChildFileKeys } from './check.ts';
import { parseJson, withoutByteOrderMark } from './files.ts';
import type { ChildFile } from './schema.ts';

export interface FoundChild {
  readonly file: string;
  readonly entry: ChildFile;
}

/** The usable children of these files, the first of each name, and what to say about the rest. */
export async function readChildFiles(
  files: readonly string[],
): Promise<{ readonly children: Map<string, FoundChild>; readonly warnings: string[] }> {
  const children = new Map<string, FoundChild>();
  const warnings: string[] = [];
  for (const file of files) {
    const read = readQuickly(file) ?? (await readPatiently(file));
    if (read === undefined) continue;
    if ('problem' in read) {
      warnings.push(`${read.problem} The file is ignored.`);
      continue;
    }
    const { name } = read.entry;
    const first = children.get(name);
    if (first && isOriginalOf(file, first.file)) continue;
    if (first) {
      warnings.push(
        `Two child files have the name "${name}": ${first.file} is used, ${file} is not.`,
      );
      continue;
    }
    children.set(name, { file, entry: read.entry });
    for (const says of strangeChildFileKeys(read.entry)) warnings.push(`${file}: ${says}`);
  }
  return { children, warnings };
}

/** A wide pattern finds also what the assistant of a server keeps: that server's own file. */
function isOriginalOf(file: string, wrapped: string): boolean {
  return file === originalFile(dirname(wrapped));
}

/** Where the child file of a server is kept, whose place in its folder an assistant has taken. */
export function originalFile(folder: string): string {
  return join(folder, 'original', '.mcp.json');
}

/** The server for which an assistant speaks, as if its file still lay where it was. */
export async function readOriginal(folder: string): Promise<FoundChild> {
  const original = originalFile(folder);
  const { children, warnings } = await readChildFiles([original]);
  const [found] = children.values();
  if (found) return { file: join(folder, '.mcp.json'), entry: found.entry };
  const [problem = `There is no file ${original}.`] = warnings;
  throw new SwitchboardError('CONFIG_INVALID', problem, {
    hint: 'It declares the server that the assistant in this folder speaks for.',
  });
}

type ReadChild = { readonly entry: ChildFile } | { readonly problem: string };

/** For a file that is plain JSON and right, as nearly all are: with hundreds of them it shows. */
function readQuickly(file: string): ReadChild | undefined {
  try {
    if (!statSync(file).isFile()) return { problem: `${file}: is not a file.` };
    const entry: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return isChildFile(entry) ? { entry } : undefined;
  } catch {
    // The patient way finds out what it is, and whether it matters.
    return undefined;
  }
}

async function readPatiently(file: string): Promise<ReadChild | undefined> {
  let text: string;
  try {
    text = withoutByteOrderMark(readFileSync(file, 'utf8'));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    // A folder that matches the pattern and has no such file is nothing to speak of.
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    return { problem: `${file}: cannot be read (${code}).` };
  }
  const parsed = await parseJson(text);
  if ('problem' in parsed) return { problem: `${file}:${parsed.problem}` };
  if (isObject(parsed.value) && !('name' in parsed.value) && 'mcpServers' in parsed.value) {
    return {
      problem: `${file}: "mcpServers" belongs into switchboard.config.json; a child file describes one server and needs a "name".`,
    };
  }
  const checked = await checkChildFile({ file, value: parsed.value, text });
  return 'problem' in checked ? checked : { entry: checked.value };
}
