// Finds copies of another server's tool: the same name, and all words of its description, so that a model uses the copy
// instead. If a server has most of another's tools, it is more likely a fork, which is only worth a look.
import { excerpt } from '../../base/text.ts';
import type { Tool } from '../../mcp/tools.ts';
import type { Finding } from './finding.ts';

/** Another server and its tools. */
export interface OtherServer {
  readonly name: string;
  readonly tools: readonly Tool[];
}

/** Finds clones among one server's tools. Prepared once per list. */
export class CloneFinder {
  readonly #originals = new Map<string, Original[]>();

  constructor(tools: readonly Tool[], others: readonly OtherServer[]) {
    const names = new Set(tools.map(({ name }) => foldName(name)));
    for (const other of others) {
      const severity = isKin(names, other) ? 'soft' : 'hard';
      for (const tool of other.tools) {
        const name = foldName(tool.name);
        const words = names.has(name) ? wordSet(tool) : NO_WORDS;
        if (words.size < FEWEST_WORDS) continue;
        const known = this.#originals.get(name) ?? [];
        this.#originals.set(name, [...known, { server: other.name, words, severity }]);
      }
    }
  }

  find(tool: Tool): Finding[] {
    const words = wordSet(tool);
    const original = this.#originals
      .get(foldName(tool.name))
      ?.find((other) => isCopy(other.words, words));
    if (!original) return [];
    const server = excerpt(original.server, 60);
    const detail = `Copies the name and description of a tool of server "${server}".`;
    return [{ rule: 'clone', severity: original.severity, where: 'description', detail }];
  }
}

interface Original extends Pick<Finding, 'severity'> {
  readonly server: string;
  readonly words: ReadonlySet<string>;
}

const NO_WORDS: ReadonlySet<string> = new Set();
/** Shorter descriptions are alike by chance. */
const FEWEST_WORDS = 6;
/** How many of the original's words a copy has. */
const SHARE_COPIED = 0.95;
/** A server that has this many of another's tools, and this part of them, is a relative. */
const FEWEST_SHARED = 2;
const SHARE_OF_KIN = 0.5;

function isKin(names: ReadonlySet<string>, { tools }: OtherServer): boolean {
  const others = new Set(tools.map(({ name }) => foldName(name)));
  const shared = [...others].filter((name) => names.has(name)).length;
  return shared >= FEWEST_SHARED && shared >= SHARE_OF_KIN * others.size;
}

function isCopy(original: ReadonlySet<string>, words: ReadonlySet<string>): boolean {
  const copied = [...original].filter((word) => words.has(word)).length;
  return copied >= SHARE_COPIED * original.size;
}

function wordSet({ description }: Tool): Set<string> {
  const text = typeof description === 'string' ? description.slice(0, MOST_CHARS) : '';
  return new Set(foldText(text).match(/[\p{L}\p{N}]+/gu) ?? []);
}

const MOST_CHARS = 20_000;

/** `readFile`, `read-file` and `rеad_file` with a Cyrillic е are one name to a reader. */
function foldName(name: string): string {
  return foldText(name).replaceAll(/[^\p{L}\p{N}]/gu, '');
}

function foldText(text: string): string {
  const plain = text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
  return plain.replaceAll(/[\u0370-\u04ff]/g, (letter) => LOOKALIKES[letter] ?? letter);
}

/** Greek and Cyrillic letters that look Latin. */
const LOOKALIKES: Readonly<Record<string, string>> = zip(
  'авсеһіјкмнорѕтухαεικνορτυχ',
  'abcehijkmhopstyxaeikvoptux',
);

function zip(letters: string, latin: string): Record<string, string> {
  return Object.fromEntries(letters.split('').map((letter, at) => [letter, latin[at] ?? letter]));
}
