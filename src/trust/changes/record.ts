// What is known about one server's tools, prompts and instructions: the version the user has accepted, by trusting it
// at first sight or with `switchboard changes accept`, and the version that waits for that.
import { isObject, parseIfJson } from '../../base/object.ts';
import { type Hints, parseHints } from '../../mcp/annotations.ts';
import { type Finding, parseFindings } from '../scanner/finding.ts';
import type { Words } from './words.ts';

export type ItemKind = 'tool' | 'prompt' | 'instructions';

/** One version of an item: two digests, and what is needed to show the difference. */
export interface Version {
  /** The digest of every word a model reads. */
  readonly words: string;
  /** The digest of the annotations. */
  readonly rights: string;
  readonly hints: Hints;
  /** The words; undefined if they are too long or contain a secret. */
  readonly text?: Words | undefined;
  readonly findings: readonly Finding[];
}

/** `changed`: every change is held. `scan`: because of what the scanner found. */
type HeldBecause = 'changed' | 'scan';

export interface ItemRecord {
  /** Undefined for an item that was held at first sight. */
  readonly accepted?: Version | undefined;
  /** The version that isn't listed until the user accepts it. */
  readonly held?: (Version & { readonly because: HeldBecause; readonly at: string }) | undefined;
  /** Hints that grant more than the accepted ones. Permissions ignore them until the user accepts them. */
  readonly grown?: { readonly hints: Hints; readonly at: string } | undefined;
  /** Digests of earlier accepted words: going back to them isn't a change. */
  readonly seen: readonly string[];
}

/** A change that passed. */
export interface PassedChange {
  readonly kind: ItemKind;
  /** Empty for instructions. */
  readonly name: string;
  readonly what: 'added' | 'changed';
  /** ISO 8601. */
  readonly at: string;
  /** The words that differ; empty if they aren't stored. */
  readonly difference: Difference;
}

/** The words that only one of two versions has, with their paths. */
export interface Difference {
  readonly before: Words;
  readonly after: Words;
}

export interface ServerRecord {
  readonly name: string;
  /** The file that declares the server. */
  readonly origin: string;
  /** By kind and name; see `keyOfItem`. */
  readonly items: ReadonlyMap<string, ItemRecord>;
  readonly passed: readonly PassedChange[];
  /** A digest of each list as it was last reviewed, so that an unchanged one costs little. */
  readonly lists: Readonly<Record<string, string>>;
}

export function keyOfItem(kind: ItemKind, name: string): string {
  return kind === 'instructions' ? kind : `${kind} ${name}`;
}

/** The kind and name in a key. */
export function itemOfKey(key: string): { readonly kind: ItemKind; readonly name: string } {
  const gap = key.indexOf(' ');
  if (gap === -1) return { kind: 'instructions', name: '' };
  return { kind: key.slice(0, gap) === 'prompt' ? 'prompt' : 'tool', name: key.slice(gap + 1) };
}

/** How much of a record waits for the user. */
export interface ChangeCounts {
  /** Items that aren't listed. */
  readonly held: number;
  /** Tools whose annotations permissions ignore. */
  readonly rights: number;
  /** Changes that passed. */
  readonly passed: number;
}

export function countChanges({ items, passed }: ServerRecord): ChangeCounts {
  const all = [...items.values()];
  return {
    held: all.filter(({ held }) => held).length,
    rights: all.filter(({ held, grown }) => grown && !held).length,
    passed: passed.length,
  };
}

/** The words that differ. Unchanged words in another order don't. */
export function compareWords(before: Words = [], after: Words = []): Difference {
  return { before: without(before, after), after: without(after, before) };
}

const MOST_SHOWN = 20;
const LONGEST_SHOWN = 2_000;

function without(words: Words, others: Words): Words {
  const known = new Set(others.map((pair) => JSON.stringify(pair)));
  return words
    .filter((pair) => !known.has(JSON.stringify(pair)))
    .slice(0, MOST_SHOWN)
    .map(([path, text]) => [path, text.slice(0, LONGEST_SHOWN)] as const);
}

/** Files in another format are ignored. */
const FORM = 1;

export function formatRecord({ items, ...rest }: ServerRecord): string {
  return JSON.stringify({ form: FORM, ...rest, items: Object.fromEntries(items) });
}

/** Undefined if it isn't a record. */
export function parseRecord(text: string): ServerRecord | undefined {
  const value = parseIfJson(text);
  if (!isObject(value) || value['form'] !== FORM) return undefined;
  const { name, origin, items, passed, lists } = value;
  if (typeof name !== 'string' || !isObject(items)) return undefined;
  const known = Object.entries(items).map(([key, item]) => [key, parseItem(item)] as const);
  return {
    name,
    origin: typeof origin === 'string' ? origin : '',
    items: new Map(known),
    passed: Array.isArray(passed) ? passed.filter(isObject).map(parsePassed) : [],
    lists: Object.fromEntries(
      Object.entries(isObject(lists) ? lists : {}).filter(
        (entry): entry is [string, string] => typeof entry[1] === 'string',
      ),
    ),
  };
}

function parseItem(value: unknown): ItemRecord {
  const { accepted, held, grown, seen } = isObject(value) ? value : {};
  return {
    accepted: parseVersion(accepted),
    held: parseHeld(held),
    grown: isObject(grown)
      ? { hints: parseHints(grown['hints']), at: textIn(grown, 'at') }
      : undefined,
    seen: Array.isArray(seen) ? seen.filter((one) => typeof one === 'string') : [],
  };
}

function parseHeld(value: unknown): ItemRecord['held'] {
  const version = parseVersion(value);
  if (!version || !isObject(value)) return undefined;
  const because = value['because'] === 'scan' ? 'scan' : 'changed';
  return { ...version, because, at: textIn(value, 'at') };
}

function parseVersion(value: unknown): Version | undefined {
  if (!isObject(value) || typeof value['words'] !== 'string') return undefined;
  return {
    words: value['words'],
    rights: textIn(value, 'rights'),
    hints: parseHints(value['hints']),
    text: Array.isArray(value['text']) ? parseWords(value['text']) : undefined,
    findings: parseFindings(value['findings']),
  };
}

function parsePassed(value: Record<string, unknown>): PassedChange {
  const { kind, what, difference } = value;
  const { before, after } = isObject(difference) ? difference : {};
  return {
    kind: kind === 'prompt' || kind === 'instructions' ? kind : 'tool',
    name: textIn(value, 'name'),
    what: what === 'added' ? 'added' : 'changed',
    at: textIn(value, 'at'),
    difference: { before: parseWords(before), after: parseWords(after) },
  };
}

function parseWords(value: unknown): Words {
  const pairs: unknown[] = Array.isArray(value) ? value : [];
  return pairs.flatMap((pair) => {
    const [path, text]: unknown[] = Array.isArray(pair) ? pair : [];
    return typeof path === 'string' && typeof text === 'string' ? [[path, text] as const] : [];
  });
}

function textIn(value: Record<string, unknown>, key: string): string {
  const text = value[key];
  return typeof text === 'string' ? text : '';
}
