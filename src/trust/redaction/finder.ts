// Finds a server's secrets in its results: its configured values in every form we know, and well-known tokens. All of
// them in one pass.
import { StringSearch } from '../../base/search.ts';
import { secretForms } from '../../base/secrets.ts';
import { createTokenReader, type FoundToken, tokenPrefixes } from '../../base/tokens.ts';

/** The kind of configured values. */
export const CONFIGURED = 'configured value';

export type FoundSecret = FoundToken;

export interface JsonSecrets {
  /** Such as `GitHub token`; empty if there are none. */
  readonly kinds: readonly string[];
  /** Where they are in the text as it is written. They may overlap. */
  readonly found: readonly FoundSecret[];
  /** Whether the text has escapes that may hide secrets. Some servers escape more characters than they have to. */
  readonly isEscaped: boolean;
}

export class SecretFinder {
  readonly #values: readonly string[];
  readonly #forms: readonly string[];
  readonly #search: StringSearch;
  readonly #escapes: RegExp;

  /** `values`: the server's configured secrets. */
  constructor(values: readonly string[]) {
    this.#values = values;
    const forms = secretForms(values);
    this.#escapes = forms.every((form) => IS_ASCII.test(form)) ? ASCII_ESCAPE : ANY_ESCAPE;
    // A value may look like an escape itself. Then it's different in a text without escapes.
    const odd = forms.filter((form) => this.isEscaped(form)).map(withoutEscapes);
    this.#forms = [...new Set([...forms, ...odd])];
    this.#search = new StringSearch([...this.#forms, ...tokenPrefixes()]);
  }

  isFor(values: readonly string[]): boolean {
    return (
      values.length === this.#values.length &&
      values.every((value, index) => value === this.#values[index])
    );
  }

  findIn(json: string): JsonSecrets {
    const isEscaped = this.isEscaped(json);
    const plain = isEscaped ? this.#find(withoutEscapes(json)) : [];
    const found = isEscaped && plain.length === 0 ? [] : this.#find(json);
    const kinds = new Set([...found, ...plain].map(({ name }) => name));
    return {
      kinds: [...kinds].sort((a, b) => Number(a === CONFIGURED) - Number(b === CONFIGURED)),
      found,
      isEscaped,
    };
  }

  isEscaped(json: string): boolean {
    return json.search(this.#escapes) !== -1;
  }

  #find(text: string): FoundSecret[] {
    const found: FoundSecret[] = [];
    const read = createTokenReader(text);
    const forms = this.#forms;
    this.#search.visit(text, (index, at) => {
      const form = forms[index];
      const secret = form
        ? { name: CONFIGURED, at, end: at + form.length, isWord: false }
        : read(index - forms.length, at);
      if (secret) found.push(secret);
    });
    return found;
  }
}

/** One for each server, kept until its secrets change: preparing a search takes longer than searching a small result. */
export class SecretFinders {
  readonly #known = new Map<string, SecretFinder>();

  get(server: string, values: readonly string[]): SecretFinder {
    const known = this.#known.get(server);
    if (known?.isFor(values)) return known;
    const finder = new SecretFinder(values);
    this.#known.set(server, finder);
    return finder;
  }
}

// oxlint-disable-next-line no-control-regex -- all of ASCII
const IS_ASCII = /^[\u0000-\u007f]*$/;
/** The escapes of characters that tokens consist of. There are many more in text that isn't English. */
const ASCII_ESCAPE = /\\(?:u00[0-7][0-9a-fA-F]|\/)/g;
const ANY_ESCAPE = /\\(?:u[0-9a-fA-F]{4}|\/)/g;

/** JSON with every escaped character as itself, also in JSON inside of its strings: to search in, it's not JSON. */
function withoutEscapes(json: string): string {
  const units = new Uint16Array(json.length);
  const bytes = Buffer.from(units.buffer);
  bytes.write(json, 'utf16le');
  let written = 0;
  for (let at = 0; at < units.length; at++) {
    let unit = units[at] as number;
    if (unit === BACKSLASH) {
      const next = units[at + 1];
      const code = next === LETTER_U ? codeAt(units, at + 2) : -1;
      if (code !== -1) at += 5;
      else if (next === SLASH) at++;
      unit = code !== -1 ? code : next === SLASH ? SLASH : unit;
    }
    units[written++] = unit;
  }
  return bytes.toString('utf16le', 0, 2 * written);
}

const BACKSLASH = 0x5c;
const SLASH = 0x2f;
const LETTER_U = 0x75;

/** Four hexadecimal digits; -1 if there are other characters. */
function codeAt(units: Uint16Array, at: number): number {
  let code = 0;
  for (let index = at; index < at + 4; index++) {
    const digit = digitOf(units[index] ?? 0);
    if (digit === -1) return -1;
    code = code * 16 + digit;
  }
  return code;
}

function digitOf(unit: number): number {
  if (unit >= 0x30 && unit <= 0x39) return unit - 0x30;
  const letter = unit | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}
