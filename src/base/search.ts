// Finds many strings in a text in one pass. `indexOf` needs a pass for each of them, which adds up: there are about
// seventy well-known token prefixes, and a dozen forms of every configured secret.
//
// From each string, its three rarest characters in a row are picked. They contain two pairs, and one of the two starts at
// an even index wherever the string occurs. So only every second pair of a text is looked up in a table of those, and
// only hits are compared with the strings.

/** Each string has at least three characters. */
export class StringSearch {
  readonly #strings: readonly string[];
  /** By hash of a pair: 0, or one more than the index of its entries. */
  readonly #table = new Uint16Array(HASHES);
  readonly #entries: Entry[][] = [];

  constructor(strings: readonly string[]) {
    this.#strings = strings;
    for (const [index, string] of strings.entries()) {
      const rarest = rarestIn(string);
      this.#add(index, string, rarest);
      this.#add(index, string, rarest + 1);
    }
  }

  /** Calls `visit` for each occurrence of each string, roughly in order. They may overlap. */
  visit(text: string, visit: (index: number, at: number) => void): void {
    bytes ??= Buffer.alloc(CHUNK);
    for (let start = 0; start < text.length; start += CHUNK) {
      // Only the lower byte of each character: the comparison needs all of it.
      const length = bytes.write(start === 0 ? text : text.slice(start), 0, CHUNK, 'latin1');
      this.#search(bytes, length, text, start, visit);
    }
  }

  #search(
    chunk: Buffer,
    length: number,
    text: string,
    start: number,
    visit: (index: number, at: number) => void,
  ): void {
    const table = this.#table;
    for (let at = 0; at < length - 1; at += 2) {
      const slot = table[hashOf(chunk[at] as number, chunk[at + 1] as number)] as number;
      if (slot === 0) continue;
      for (const { index, offset } of this.#entries[slot - 1] as Entry[]) {
        const begin = start + at - offset;
        if (begin >= 0 && text.startsWith(this.#strings[index] as string, begin)) {
          visit(index, begin);
        }
      }
    }
  }

  #add(index: number, string: string, offset: number): void {
    const hash = hashOf(string.charCodeAt(offset) & 0xff, string.charCodeAt(offset + 1) & 0xff);
    const slot = this.#table[hash] as number;
    if (slot === 0) this.#table[hash] = this.#entries.push([{ index, offset }]);
    else this.#entries[slot - 1]?.push({ index, offset });
  }
}

interface Entry {
  /** Of the string. */
  readonly index: number;
  /** Where the pair is in the string. */
  readonly offset: number;
}

const HASHES = 1 << 12;

function hashOf(first: number, second: number): number {
  return ((first << 5) ^ second) & (HASHES - 1);
}

/** Even, so that no pair is in two chunks. */
const CHUNK = 1 << 15;

/** Shared, because a search never waits. */
let bytes: Buffer | undefined;

/** From frequent to rare, in prose, code and JSON. Anything else is rarer still. */
const FREQUENT = ' e"tao,insr:lcdu-pmh_f.g/b\\0y1v2w345k6789';

/** Where the three rarest characters begin. */
function rarestIn(string: string): number {
  const rarities = Array.from(
    { length: string.length - 1 },
    (_none, index) => rarityOf(string.charAt(index)) + rarityOf(string.charAt(index + 1)),
  );
  let best = 0;
  let most = -1;
  for (let index = 0; index < rarities.length - 1; index++) {
    const rarity = Math.min(rarities[index] ?? 0, rarities[index + 1] ?? 0);
    if (rarity > most) [best, most] = [index, rarity];
  }
  return best;
}

function rarityOf(character: string): number {
  const index = FREQUENT.indexOf(character);
  return index === -1 ? FREQUENT.length : index;
}

export interface Span {
  readonly at: number;
  readonly end: number;
}

/** The text with something else in place of each span. Spans may overlap. */
export function replaceSpans(text: string, spans: readonly Span[], replacement: string): string {
  if (spans.length === 0) return text;
  const ordered = spans.length < 2 ? spans : spans.toSorted((a, b) => a.at - b.at || b.end - a.end);
  let replaced = '';
  let copied = 0;
  for (const { at, end } of ordered) {
    if (at >= copied) replaced += text.slice(copied, at) + replacement;
    copied = Math.max(copied, end);
  }
  return replaced + text.slice(copied);
}
