// `mcp-descriptions.json`: descriptions of servers, independent of where the servers are declared. Each entry has the
// description for the host's model (`switchboard`) and the role of the server's assistant (`claude`). Mistakes in it
// are warnings; the rest of the file is still used.
import { join } from 'node:path';
import { isObject } from '../../base/object.ts';
import { type ReadText, readTextFile } from '../../base/read-text.ts';
import { didYouMean } from '../../base/text.ts';
import { MAX_CONFIG_BYTES, parseJsonc, withoutByteOrderMark } from '../files/files.ts';
import type { Gate } from '../files/gate.ts';
import type { Folders } from '../files/places.ts';
import { createLocator, type KeyPath, lineAndColumn } from '../files/position.ts';
import { isWaiting, type Subject } from '../judge.ts';
import { formatPath } from '../schema/wording.ts';
import { plainName } from './plain-name.ts';
import { describeTelling, explainTouch } from './users-servers.ts';

export const DESCRIPTIONS_FILE = 'mcp-descriptions.json';

export interface Description {
  readonly switchboard?: string;
  readonly claude?: string;
}

/** A file and its descriptions by server name. */
export interface DescriptionsLayer {
  readonly file: string;
  readonly texts: ReadonlyMap<string, Description>;
  /** By normalized name (plain-name.ts); the first one wins. */
  readonly byPlainName: ReadonlyMap<string, Description>;
  /** The user's servers it would describe without an approval. */
  readonly notFor?: ReadonlySet<string> | undefined;
}

interface ReadDescriptions {
  /** Highest precedence first. */
  readonly layers: readonly DescriptionsLayer[];
  readonly warnings: readonly string[];
  /** The problems of ignored files, except those that came with the project. */
  readonly broken: readonly string[];
}

/** Possible locations, highest precedence first. */
export function descriptionPlaces({ project, home }: Pick<Folders, 'project' | 'home'>): string[] {
  const folders = [project, join(project, '.switchboard'), home];
  return [...new Set(folders.map((folder) => join(folder, DESCRIPTIONS_FILE)))];
}

export async function readDescriptions(
  folders: Pick<Folders, 'project' | 'home'>,
  gate?: Gate,
  /** The files that declare the user's servers, by name. */
  users: ReadonlyMap<string, string> = NOBODY,
): Promise<ReadDescriptions> {
  const layers: DescriptionsLayer[] = [];
  const warnings: string[] = [];
  const broken: string[] = [];
  for (const file of descriptionPlaces(folders)) {
    const read = gate
      ? await gate.read(file, { maxBytes: MAX_CONFIG_BYTES })
      : { ...readTextFile(file, MAX_CONFIG_BYTES), origin: undefined };
    const text = textOf(read, file, warnings);
    if (text === undefined || !('text' in read)) continue;
    const { origin } = read;
    if (!gate || !origin) {
      const before = warnings.length;
      const texts = await parseDescriptions(file, text, warnings);
      if (texts) layers.push({ file, texts, byPlainName: byPlainName(texts) });
      else broken.push(...warnings.slice(before));
      continue;
    }
    const source = { file, text, origin, warnings, broken };
    const judged = await judgeDescriptions(source, gate, users);
    if (judged) layers.push(judged);
  }
  return { layers, warnings, broken };
}

const NOBODY: ReadonlyMap<string, string> = new Map();

interface ProjectsText {
  readonly file: string;
  readonly text: string;
  readonly origin: Subject['origin'];
  readonly warnings: string[];
  readonly broken: string[];
}

/** A project's file, as far as it may be used. It can't describe the user's servers without an approval that says so. */
async function judgeDescriptions(
  { file, text, origin, warnings, broken }: ProjectsText,
  gate: Gate,
  users: ReadonlyMap<string, string>,
): Promise<DescriptionsLayer | undefined> {
  const mistakes: string[] = [];
  const texts = await parseDescriptions(file, text, mistakes);
  if (!texts && origin === 'yours') broken.push(...mistakes);
  const layer = texts && { file, texts, byPlainName: byPlainName(texts) };
  const described = [...users].filter(
    ([name]) => layer && Object.keys(descriptionOf([layer], name)).length > 0,
  );
  const touches = described.map(([name, theirs]) => describeTelling(name, theirs));
  const verdict = gate.decide({
    kind: 'descriptions',
    name: DESCRIPTIONS_FILE,
    file,
    origin,
    content: () => ({ text }),
    ...(touches.length > 0 && { touches }),
  });
  if (isWaiting(verdict) && touches.length > 0) warnings.push(explainTouch(file, touches));
  const isApproved = verdict === 'approved';
  const isPartlyUsed = origin === 'yours' && touches.length > 0 && verdict !== 'denied';
  if (!isApproved && !isPartlyUsed) return undefined;
  warnings.push(...mistakes);
  if (!layer || isApproved) return layer;
  return { ...layer, notFor: new Set(described.map(([name]) => name)) };
}

/**
 * Each of the two texts comes from the file with the highest precedence that has it. Within a file, an exact name
 * takes precedence over a normalized one.
 */
export function descriptionOf(layers: readonly DescriptionsLayer[], name: string): Description {
  // Runs for every server on every start, and almost nobody has such a file.
  if (layers.length === 0) return NOTHING;
  const found = layers.map(({ texts, byPlainName, notFor }) =>
    notFor?.has(name) ? undefined : (texts.get(name) ?? byPlainName.get(plainName(name))),
  );
  const switchboard = found.find((one) => one?.switchboard !== undefined)?.switchboard;
  const claude = found.find((one) => one?.claude !== undefined)?.claude;
  return {
    ...(switchboard !== undefined && { switchboard }),
    ...(claude !== undefined && { claude }),
  };
}

const NOTHING: Description = {};

function byPlainName(texts: DescriptionsLayer['texts']): Map<string, Description> {
  // In reverse, so the first one wins.
  return new Map([...texts].toReversed().map(([name, text]) => [plainName(name), text]));
}

function textOf(read: ReadText, file: string, warnings: string[]): string | undefined {
  if ('text' in read) return withoutByteOrderMark(read.text);
  if (!read.isMissing) warnings.push(`${file}: ${read.problem} The file is ignored.`);
  return undefined;
}

const MAX_PROBLEMS = 20;

/** Keeps the first problems and counts the rest. */
class Problems {
  readonly first: { readonly path: KeyPath; readonly message: string }[] = [];
  more = 0;

  add(path: KeyPath, message: () => string): void {
    if (this.first.length < MAX_PROBLEMS) this.first.push({ path, message: message() });
    else this.more++;
  }
}

async function parseDescriptions(
  file: string,
  text: string,
  warnings: string[],
): Promise<ReadonlyMap<string, Description> | undefined> {
  const parsed = await parseJsonc(text);
  if ('problem' in parsed) {
    warnings.push(`${file}:${parsed.problem} The file is ignored.`);
    return undefined;
  }
  const problems = new Problems();
  const texts = collectTexts(parsed.value, problems);
  const { first, more } = problems;
  if (first.length > 0) {
    const locate = await createLocator(text);
    for (const { path, message } of first) {
      const where = path.length === 0 ? '' : `${formatPath(path)}: `;
      warnings.push(`${file}:${lineAndColumn(text, locate(path))}: ${where}${message}`);
    }
    if (more > 0) warnings.push(`${file}: ${more} more invalid entries (ignored).`);
  }
  return texts;
}

/** Both are read the same way; `mcps` takes precedence. */
const GROUPS = ['mcps', 'properties'];
/** Keys of a file in JSON Schema form. */
const FURTHER_KEYS = new Set(['$schema', '$id', 'type', 'title', 'description', 'version']);

function collectTexts(value: unknown, problems: Problems): Map<string, Description> {
  const texts = new Map<string, Description>();
  if (!isObject(value) || !GROUPS.some((group) => Object.hasOwn(value, group))) {
    problems.add([], () => 'Expected servers by name under "mcps". Nothing in this file is used.');
    return texts;
  }
  for (const group of GROUPS.filter((one) => Object.hasOwn(value, one))) {
    const named = value[group];
    if (!isObject(named)) {
      problems.add([group], () => 'expected servers by name (ignored).');
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

/** A plain string is shorthand for `switchboard`. Empty strings count as unset. */
function parseEntry(path: KeyPath, entry: unknown, problems: Problems): Description {
  if (typeof entry === 'string') return entry.trim() === '' ? {} : { switchboard: entry };
  if (!isObject(entry)) {
    problems.add(
      path,
      () => 'expected a string, or an object with "switchboard" and "claude" (ignored).',
    );
    return {};
  }
  const description: { switchboard?: string; claude?: string } = {};
  for (const [key, text] of Object.entries(entry)) {
    const known = TEXTS.find((one) => one === key);
    if (!known) problems.add([...path, key], () => unknown(key, TEXTS));
    else if (typeof text !== 'string') {
      problems.add([...path, key], () => 'expected a string (ignored).');
    } else if (text.trim() !== '') description[known] = text;
  }
  return description;
}

function unknown(key: string, known: readonly string[]): string {
  return `unknown key (ignored). ${didYouMean(key, known)}`.trimEnd();
}
