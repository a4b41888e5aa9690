// `mcp-descriptions.json`: texts about servers, apart from where those are declared. For each it may
// say what the host's model reads (`switchboard`) and what the server's assistant is told to be
// (`claude`). Nothing depends on these texts, so what is wrong in such a file is a warning, and the
// rest of it counts.
import { join } from 'node:path';
import { isObject } from '../../base/object.ts';
import { readTextFile } from '../../base/read-text.ts';
import { didYouMean } from '../../base/text.ts';
import { MOST_CONFIG_BYTES, parseJson, withoutByteOrderMark } from '../files/files.ts';
import type { Folders } from '../files/places.ts';
import { createLocator, type KeyPath, lineAndColumn } from '../files/position.ts';
import { formatPath } from '../schema/wording.ts';
import { plainName } from './plain-name.ts';

export const DESCRIPTIONS_FILE = 'mcp-descriptions.json';

/** What such a file says about one server. */
export interface Description {
  readonly switchboard?: string;
  readonly claude?: string;
}

/** A file and its texts, by the names that stand in it. */
export interface DescriptionsLayer {
  readonly file: string;
  readonly texts: ReadonlyMap<string, Description>;
  /** The first of each name, without what people write differently. */
  readonly byPlainName: ReadonlyMap<string, Description>;
}

interface ReadDescriptions {
  /** Strongest first. */
  readonly layers: readonly DescriptionsLayer[];
  readonly warnings: readonly string[];
}

/** Where the files may lie, strongest first. */
export function descriptionPlaces({ project, home }: Pick<Folders, 'project' | 'home'>): string[] {
  const folders = [project, join(project, '.switchboard'), home];
  return [...new Set(folders.map((folder) => join(folder, DESCRIPTIONS_FILE)))];
}

export async function readDescriptions(
  folders: Pick<Folders, 'project' | 'home'>,
): Promise<ReadDescriptions> {
  const layers: DescriptionsLayer[] = [];
  const warnings: string[] = [];
  for (const file of descriptionPlaces(folders)) {
    const text = readText(file, warnings);
    if (text === undefined) continue;
    const texts = await parseDescriptions(file, text, warnings);
    if (texts) layers.push({ file, texts, byPlainName: shorten(texts) });
  }
  return { layers, warnings };
}

/**
 * What the files say about a server, each of the two texts from the strongest that has it. In a file
 * the name itself counts first, then the first that is the same but for what people write differently.
 */
export function descriptionOf(layers: readonly DescriptionsLayer[], name: string): Description {
  // Nearly nobody has such a file, and the start has to do this for every server.
  if (layers.length === 0) return NOTHING;
  const found = layers.map(
    ({ texts, byPlainName }) => texts.get(name) ?? byPlainName.get(plainName(name)),
  );
  const switchboard = found.find((one) => one?.switchboard !== undefined)?.switchboard;
  const claude = found.find((one) => one?.claude !== undefined)?.claude;
  return {
    ...(switchboard !== undefined && { switchboard }),
    ...(claude !== undefined && { claude }),
  };
}

const NOTHING: Description = {};

function shorten(texts: DescriptionsLayer['texts']): Map<string, Description> {
  // From the last to the first, so that the first stays.
  return new Map([...texts].toReversed().map(([name, text]) => [plainName(name), text]));
}

function readText(file: string, warnings: string[]): string | undefined {
  const read = readTextFile(file, MOST_CONFIG_BYTES);
  if ('text' in read) return withoutByteOrderMark(read.text);
  if (!read.isMissing) warnings.push(`${file}: ${read.problem} The file is ignored.`);
  return undefined;
}

/** Nobody reads more than these: a file that is wrong throughout is wrong in one way. */
const MOST_PROBLEMS = 20;

/** What is wrong, as far as it is told; the rest is only counted. */
class Problems {
  readonly told: { readonly path: KeyPath; readonly says: string }[] = [];
  untold = 0;

  add(path: KeyPath, says: () => string): void {
    if (this.told.length < MOST_PROBLEMS) this.told.push({ path, says: says() });
    else this.untold++;
  }
}

async function parseDescriptions(
  file: string,
  text: string,
  warnings: string[],
): Promise<ReadonlyMap<string, Description> | undefined> {
  const parsed = await parseJson(text);
  if ('problem' in parsed) {
    warnings.push(`${file}:${parsed.problem} The file is ignored.`);
    return undefined;
  }
  const problems = new Problems();
  const texts = collectTexts(parsed.value, problems);
  const { told, untold } = problems;
  if (told.length > 0) {
    const locate = await createLocator(text);
    for (const { path, says } of told) {
      const where = path.length === 0 ? '' : `${formatPath(path)} `;
      warnings.push(`${file}:${lineAndColumn(text, locate(path))}: ${where}${says}`);
    }
    if (untold > 0) warnings.push(`${file}: ${untold} more such entries are ignored.`);
  }
  return texts;
}

/** The two groups that a file may have. Both are read alike; what is in `mcps` counts first. */
const GROUPS = ['mcps', 'properties'];
/** What a file in the shape of a JSON schema has beside them. */
const FURTHER_KEYS = new Set(['$schema', '$id', 'type', 'title', 'description', 'version']);

function collectTexts(value: unknown, problems: Problems): Map<string, Description> {
  const texts = new Map<string, Description>();
  if (!isObject(value) || !GROUPS.some((group) => Object.hasOwn(value, group))) {
    problems.add([], () => 'It has no "mcps" with servers by name, so nothing is used.');
    return texts;
  }
  for (const group of GROUPS.filter((one) => Object.hasOwn(value, one))) {
    const named = value[group];
    if (!isObject(named)) {
      problems.add([group], () => 'is ignored: it must hold servers by name.');
      continue;
    }
    for (const [name, entry] of Object.entries(named)) {
      texts.set(name, { ...parseEntry([group, name], entry, problems), ...texts.get(name) });
    }
  }
  for (const key of Object.keys(value)) {
    if (!GROUPS.includes(key) && !FURTHER_KEYS.has(key)) {
      problems.add([key], () => unknown(key, GROUPS));
    }
  }
  return texts;
}

const TEXTS = ['switchboard', 'claude'] as const;

/** A mere text is what the host's model reads. An empty one says nothing. */
function parseEntry(path: KeyPath, entry: unknown, problems: Problems): Description {
  if (typeof entry === 'string') return entry.trim() === '' ? {} : { switchboard: entry };
  if (!isObject(entry)) {
    problems.add(
      path,
      () => 'is ignored: it must be a text, or have the texts "switchboard" and "claude".',
    );
    return {};
  }
  const said: { switchboard?: string; claude?: string } = {};
  for (const [key, text] of Object.entries(entry)) {
    const known = TEXTS.find((one) => one === key);
    if (!known) problems.add([...path, key], () => unknown(key, TEXTS));
    else if (typeof text !== 'string') {
      problems.add([...path, key], () => 'is ignored: it must be a text.');
    } else if (text.trim() !== '') said[known] = text;
  }
  return said;
}

function unknown(key: string, known: readonly string[]): string {
  return `is unknown and ignored. ${didYouMean(key, known)}`.trimEnd();
}
