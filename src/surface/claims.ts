// Caches the claims of a project's suites in one small file. Reading every server's list would slow down each
// start, so the claims are checked afterwards, and only if the catalog has changed.
import { readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { writeCacheFile } from '../base/atomic-file.ts';
import { shortDigest } from '../base/digest.ts';
import { makeFolder } from '../base/make-folder.ts';
import { isObject } from '../base/object.ts';
import type { ChildConfig } from '../config/config.ts';
import { type Hints, parseHints } from '../mcp/annotations.ts';

export interface Claim {
  /** The weakest hints of the subtools; undefined if none is known. */
  readonly hints: Hints | undefined;
  /** The names of the subtools. */
  readonly words: readonly string[];
}

interface KeyedClaim extends Claim {
  /** Identifies the configuration the claim was computed for. */
  readonly key: string;
}

export interface ClaimsFile {
  readonly path: string;
  /** The catalog's folder. */
  readonly catalog: string;
}

/** Files in another format are ignored. */
const FORM = 1;
/** Oldest entries beyond this are dropped. */
const MOST_CLAIMS = 1_000;

export class Claims {
  readonly #file: ClaimsFile | undefined;
  #claims: Map<string, KeyedClaim> | undefined;
  /** The state of the catalog when they were computed. */
  #seen = '';
  #writing: Promise<void> | undefined;
  #isChanged = false;

  /** Without a file, claims are kept in memory only. */
  constructor(file?: ClaimsFile) {
    this.#file = file;
  }

  /** The claim of a child's suite; undefined if it was never computed. */
  get(config: ChildConfig): Claim | undefined {
    const known = this.#known.get(config.name);
    return known && known.key === keyOf(config) ? known : undefined;
  }

  set(config: ChildConfig, { hints, words }: Claim): void {
    const { name } = config;
    const claim = { key: keyOf(config), hints, words };
    if (JSON.stringify(this.#known.get(name)) === JSON.stringify(claim)) return;
    this.#known.delete(name); // so that it becomes the newest
    this.#known.set(name, claim);
    this.#writeSoon();
  }

  /** Whether the catalog has changed since the last check; this counts as one. */
  becomeCurrent(): boolean {
    const state = this.#catalogState();
    const { size } = this.#known;
    const isOther = state !== this.#seen && size > 0;
    if (isOther) this.#writeSoon();
    this.#seen = state;
    return isOther;
  }

  /** Resolves when everything is on disk. */
  async written(): Promise<void> {
    while (this.#writing) await this.#writing;
  }

  get #known(): Map<string, KeyedClaim> {
    this.#claims ??= this.#read();
    return this.#claims;
  }

  #read(): Map<string, KeyedClaim> {
    if (!this.#file) return new Map();
    try {
      const content: unknown = JSON.parse(readFileSync(this.#file.path, 'utf8'));
      if (!isObject(content) || content['form'] !== FORM) return new Map();
      const { seen, claims } = content;
      this.#seen = typeof seen === 'string' ? seen : '';
      return new Map(Object.entries(isObject(claims) ? claims : {}).map(parseClaim));
    } catch {
      return new Map(); // missing or damaged: computed again
    }
  }

  #catalogState(): string {
    try {
      return this.#file ? String(statSync(this.#file.catalog).mtimeMs) : '';
    } catch {
      return ''; // no catalog yet
    }
  }

  #writeSoon(): void {
    if (!this.#file) return;
    this.#isChanged = true;
    this.#writing ??= this.#write(this.#file.path).finally(() => {
      this.#writing = undefined;
      if (this.#isChanged) this.#writeSoon();
    });
  }

  async #write(path: string): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve)); // coalesces claims computed in this turn
    this.#isChanged = false;
    try {
      makeFolder(dirname(path));
      const claims = Object.fromEntries([...this.#known].slice(-MOST_CLAIMS));
      const text = JSON.stringify({ form: FORM, seen: this.#seen, claims });
      await writeCacheFile(path, text);
    } catch {
      // Without the disk, claims are computed at every start. The catalog reports the problem.
    }
  }
}

/** Everything a suite's claim depends on. */
function keyOf({ origin, command, remote, cwd, expose, rules }: ChildConfig): string {
  const parts: unknown[] = [origin, command?.cmd, command?.args, remote?.url, cwd, expose];
  if (rules) parts.push(rules);
  return shortDigest(JSON.stringify(parts));
}

function parseClaim([name, value]: [string, unknown]): [string, KeyedClaim] {
  const { key, hints, words } = isObject(value) ? value : {};
  const claim = {
    key: typeof key === 'string' ? key : '',
    hints: isObject(hints) ? parseHints(hints) : undefined,
    words: Array.isArray(words) ? words.filter((word) => typeof word === 'string') : [],
  };
  return [name, claim];
}
