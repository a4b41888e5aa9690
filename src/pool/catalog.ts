// What each child was found to have: its tools, and how it wants to be spoken to. Kept in memory and
// on disk, so that tools can be listed without starting the child that has them. Each child has a
// file of its own, named after its declaration and its identity: two programs that write at once
// each put a whole file in place, and what was learned about another server is never found.
import { readdirSync, readFileSync } from 'node:fs';
import { readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { shortDigest } from '../base/digest.ts';
import { makeFolder } from '../base/make-folder.ts';
import { isObject } from '../base/object.ts';
import { fileNamePart } from '../base/text.ts';
import { unfinishedName } from '../base/whole-file.ts';
import type { ListKind } from '../child/child.ts';
import type { ChildConfig } from '../config/config.ts';
import { parseRefusedTools, type RefusedTool } from '../mcp/clean-lists.ts';
import type { Era } from '../mcp/eras.ts';
import type { Framing } from '../rpc/framing.ts';
import { folderOf, identityOf } from './identity.ts';

/** What a child has listed, by kind; undefined where it was never asked. */
export type Lists = { readonly [kind in ListKind]?: readonly unknown[] | undefined };

export interface Known {
  readonly lists: Lists;
  /** Tools left out of the list because of hidden characters. */
  readonly refused: readonly RefusedTool[];
  /** When its tools were listed, as ISO 8601. */
  readonly listedAt: string | undefined;
  /** What was found to work, where it was not set. */
  readonly framing: Framing | undefined;
  /** Which era it was found to speak, and how long that is taken for granted. */
  readonly era: { readonly speaks: Era; readonly until: number } | undefined;
}

const NOTHING: Known = {
  lists: {},
  refused: [],
  listedAt: undefined,
  framing: undefined,
  era: undefined,
};
const KINDS: readonly ListKind[] = ['tools', 'prompts', 'resources', 'templates'];
/** A server may be brought up to date without our noticing: after this it is asked again. */
const ERA_HOLDS_MS = 7 * 24 * 60 * 60 * 1_000;
/** Files of another form than this are not read. */
const FORM = 3;

/** Facts about a list. */
export interface ListNotes {
  readonly isSecret?: boolean;
  readonly refused?: readonly RefusedTool[];
}

export class Catalog {
  readonly #folder: string;
  readonly #onProblem: (problem: string) => void;
  readonly #known = new Map<string, Known>();
  /** Finding out the identity of a child looks at the disk, so it is done once for each. */
  readonly #files = new WeakMap<ChildConfig, string>();
  /** The lists of each file that are known and must not be written. */
  readonly #secret = new Map<string, Set<ListKind>>();
  /** The writes for one declaration follow each other: each removes what came before it. */
  readonly #writing = new Map<string, Promise<void>>();
  /** The servers that have a file, by the part of its name that says so. */
  readonly #names = new Set<string>();
  #hasReadNames = false;
  #hasFailed = false;

  constructor(folder: string, onProblem: (problem: string) => void) {
    this.#folder = folder;
    this.#onProblem = onProblem;
  }

  get(config: ChildConfig): Known {
    const file = this.#fileFor(config);
    const known = this.#known.get(file) ?? this.#read(file);
    this.#known.set(file, known);
    return known;
  }

  /** `isSecret`: it holds what must not be written down, and is kept in memory alone. */
  rememberList(
    config: ChildConfig,
    kind: ListKind,
    items: readonly unknown[],
    { isSecret = false, refused = [] }: ListNotes = {},
  ): void {
    const lists = { ...this.get(config).lists, [kind]: items };
    const listedAt = new Date().toISOString();
    const news = { lists, ...(kind === 'tools' && { listedAt, refused }) };
    const file = this.#fileFor(config);
    const secret = this.#secret.get(file) ?? new Set();
    if (isSecret) this.#secret.set(file, secret.add(kind));
    else secret.delete(kind);
    this.#remember(config, news);
  }

  /** Whether anything may be known of it: quick, for the many servers that were never used. */
  mayKnow({ name }: ChildConfig): boolean {
    if (!this.#hasReadNames) this.#readNames();
    return this.#names.has(fileNamePart(name));
  }

  /** Whether its list of tools contains a secret and is kept in memory only. */
  areToolsSecret(config: ChildConfig): boolean {
    return this.#secret.get(this.#fileFor(config))?.has('tools') ?? false;
  }

  rememberFraming(config: ChildConfig, framing: Framing): void {
    if (this.get(config).framing !== framing) this.#remember(config, { framing });
  }

  rememberEra(config: ChildConfig, era: Era): void {
    if (this.eraOf(config) === era) return;
    this.#remember(config, { era: { speaks: era, until: Date.now() + ERA_HOLDS_MS } });
  }

  eraOf(config: ChildConfig): Era | undefined {
    const { era } = this.get(config);
    return era && Date.now() < era.until ? era.speaks : undefined;
  }

  /** Resolves when all that was remembered is on disk. */
  async written(): Promise<void> {
    await Promise.all(this.#writing.values());
  }

  #remember(config: ChildConfig, news: Partial<Known>): void {
    const known = { ...this.get(config), ...news };
    const file = this.#fileFor(config);
    this.#known.set(file, known);
    this.#names.add(fileNamePart(config.name));
    const declaration = declarationIn(file);
    const before = this.#writing.get(declaration) ?? Promise.resolve();
    this.#writing.set(
      declaration,
      before.then(() => this.#write(config, file, known)),
    );
  }

  #fileFor(config: ChildConfig): string {
    const found = this.#files.get(config) ?? `${declarationOf(config)}-${identityOf(config)}.json`;
    this.#files.set(config, found);
    return found;
  }

  #readNames(): void {
    this.#hasReadNames = true;
    try {
      for (const file of readdirSync(this.#folder)) {
        this.#names.add(declarationIn(declarationIn(file)));
      }
    } catch {
      // nothing was ever written
    }
  }

  #read(file: string): Known {
    try {
      const content: unknown = JSON.parse(readFileSync(join(this.#folder, file), 'utf8'));
      if (!isObject(content) || content['form'] !== FORM) return NOTHING;
      const { listedAt, framing } = content;
      return {
        lists: parseLists(content['lists']),
        refused: parseRefusedTools(content['refused']),
        listedAt: typeof listedAt === 'string' ? listedAt : undefined,
        framing: framing === 'content-length' || framing === 'newline' ? framing : undefined,
        era: parseEra(content['era']),
      };
    } catch {
      return NOTHING; // never written, or damaged: what it said is found out again
    }
  }

  async #write(config: ChildConfig, file: string, known: Known): Promise<void> {
    const path = join(this.#folder, file);
    const unfinished = unfinishedName(path);
    try {
      makeFolder(this.#folder);
      const secret = this.#secret.get(file);
      const lists = Object.fromEntries(
        Object.entries(known.lists).filter(([kind]) => !secret?.has(kind as ListKind)),
      );
      const refused = secret?.has('tools') ? [] : known.refused;
      const text = JSON.stringify({ form: FORM, name: config.name, ...known, lists, refused });
      await writeFile(unfinished, text, { mode: 0o600, flag: 'wx' });
      await rename(unfinished, path);
      await this.#removeOutdated(file);
    } catch (error) {
      await rm(unfinished, { force: true }).catch(() => {}); // where nothing can be written
      // Everything works without the disk; once is enough to say so.
      if (!this.#hasFailed) this.#onProblem(`the catalog cannot be kept on disk: ${String(error)}`);
      this.#hasFailed = true;
    }
  }

  /** What was known about the same declaration when it meant another server. */
  async #removeOutdated(file: string): Promise<void> {
    const prefix = `${declarationIn(file)}-`;
    const outdated = (await readdir(this.#folder)).filter(
      (other) => other.startsWith(prefix) && other.endsWith('.json') && other !== file,
    );
    await Promise.all(
      outdated.map((other) => rm(join(this.#folder, other), { force: true, recursive: true })),
    );
  }
}

function parseEra(value: unknown): Known['era'] {
  const { speaks, until } = isObject(value) ? value : {};
  if (typeof until !== 'number') return undefined;
  return speaks === 'handshake' || speaks === 'modern' ? { speaks, until } : undefined;
}

function parseLists(value: unknown): Lists {
  if (!isObject(value)) return {};
  const found = KINDS.map((kind) => [kind, value[kind]] as const);
  return Object.fromEntries(found.filter(([, items]) => Array.isArray(items)));
}

/** The declaration part of a file name, which in turn begins with the server's name. */
function declarationIn(file: string): string {
  return file.slice(0, file.lastIndexOf('-'));
}

function declarationOf(config: ChildConfig): string {
  const { name, origin } = config;
  return `${fileNamePart(name)}-${shortDigest([origin, folderOf(config), name].join('\0'))}`;
}
