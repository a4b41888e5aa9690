// Reads a file in which another program keeps its settings. It is theirs, so anything may be in it,
// and nothing of it may be repeated: it holds tokens. What cannot be read costs a warning, no more.
import { readTextFile } from '../../base/read-text.ts';
import { parseJson, withoutByteOrderMark } from '../../config/files/files.ts';
import { parseToml } from '../../config/files/toml.ts';
import { isPlainObject } from '../../config/schema/fits.ts';

export type Settings = Readonly<Record<string, unknown>>;

/** `settings` is empty where there is no such file, or none that can be used. */
export interface SettingsFile {
  readonly file: string;
  readonly settings: Settings;
  readonly warnings: readonly string[];
}

/** The settings of no program are as long as this, unless it keeps its history with them. */
const MOST_BYTES = 8 << 20;

/** JSON, with comments and trailing commas wherever they stand. */
export function readJsonSettings(file: string): Promise<SettingsFile> {
  return readSettings(file, parseJson);
}

export function readTomlSettings(file: string): Promise<SettingsFile> {
  return readSettings(file, parseTomlSettings);
}

type Parsed = { readonly value: unknown } | { readonly problem: string };

async function readSettings(
  file: string,
  parse: (text: string) => Promise<Parsed>,
): Promise<SettingsFile> {
  const empty: SettingsFile = { file, settings: {}, warnings: [] };
  const unusable = (problem: string): SettingsFile => ({
    ...empty,
    warnings: [`${file}:${problem} It is left out.`],
  });
  const read = readTextFile(file, MOST_BYTES);
  if ('problem' in read) return read.isMissing ? empty : unusable(` ${read.problem}`);
  const text = withoutByteOrderMark(read.text);
  if (text.trim() === '') return empty;
  const parsed = await parse(text);
  if ('problem' in parsed) return unusable(parsed.problem);
  if (!isPlainObject(parsed.value)) return unusable(' expected an object.');
  return { ...empty, settings: parsed.value };
}

async function parseTomlSettings(text: string): Promise<Parsed> {
  const parsed = await parseToml(text);
  if ('table' in parsed) return { value: parsed.table };
  return { problem: `${parsed.line}:${parsed.column}: ${parsed.problem}` };
}
