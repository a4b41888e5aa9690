// Everything we have learned about each server: its lists, framing and era. Kept in memory and on disk, so that
// tools can be listed without starting the server. Each server has its own file, named after its declaration and
// identity: programs that write at the same time each replace a whole file, and one server never reads what was
// learned about another.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeCacheFile } from '../base/atomic-file.ts';
import { shortDigest } from '../base/digest.ts';
import { makeFolder } from '../base/make-folder.ts';
import { isObject } from '../base/object.ts';
import { toFileName } from '../base/text.ts';
import type { ListKind } from '../child/list-pages.ts';
import { parseCounts, type ScreenCounts } from '../child/screen.ts';
import type { ChildConfig } from '../config/config.ts';
import { type Hints, parseHints } from '../mcp/annotations.ts';
import { parseRefusedTools, type RefusedTool } from '../mcp/clean-lists.ts';
import type { Era } from '../mcp/eras.ts';
import type { Framing } from '../rpc/framing.ts';
import { boundFolderOf, identityOf } from './identity.ts';

/** A server's lists by kind; undefined if it was never asked. */
export type Lists = { readonly [kind in ListKind]?: readonly unknown[] | undefined };

export interface CatalogEntry {
  readonly lists: Lists;
  /** Tools left out of the list because of hidden characters, or held until the user accepts them. */
  readonly refused: readonly RefusedTool[];
  /** The hints in force of tools that claim more than the user has accepted. */
  readonly rights: Readonly<Record<string, Hints>>;
  /** Changes that the user hasn't accepted yet. */
  readonly changes: ScreenCounts | undefined;
  /** When it last listed its tools, as ISO 8601. */
  readonly listedAt: string | undefined;
  /** The framing that worked, if none is configured. */
  readonly framing: Framing | undefined;
  /** The era it speaks, and until when we rely on that. */
  readonly era: { readonly speaks: Era; readonly until: number } | undefined;
  /** It has asked for a host's roots. */
  readonly asksForRoots?: boolean | undefined;
  /** It has asked a question during a call. */
  readonly asksQuestions?: boolean | undefined;
}

const NOTHING: CatalogEntry = {
  lists: {},
  refused: [],
  rights: {},
  changes: undefined,
  listedAt: undefined,
  framing: undefined,
  era: undefined,
};
const KINDS: readonly ListKind[] = ['tools', 'prompts', 'resources', 'templates'];
/** Servers get updated without our noticing, so we probe again after this. */
const ERA_HOLDS_MS = 7 * 24 * 60 * 60 * 1_000;
/** Files in another format are ignored. */
const FORM = 3;

/** Facts about a list. */
export interface ListNotes {
  readonly isSecret?: boolean;
  readonly refused?: readonly RefusedTool[];
  readonly rights?: CatalogEntry['rights'];
  readonly changes?: CatalogEntry['changes'];
}

export class Catalog {
  readonly #folder: string;
  readonly #onProblem: (problem: string) => void;
  readonly #known = new Map<string, CatalogEntry>();
  /** Computing a child's identity reads the disk, so it's done once per child. */
  readonly #files = new WeakMap<ChildConfig, string>();
  /** The lists of each file that must stay in memory. */
  readonly #secret = new Map<string, Set<ListKind>>();
  /** Writes for one declaration run one after the other: each removes older files. */
  readonly #writing = new Map<string, Promise<void>>();
  /** Files whose write is queued. */
  readonly #due = new Set<string>();
  /** The servers that have a file, as written in file names. */
  readonly #names = new Set<string>();
  #hasReadNames = false;
  #hasFailed = false;

  constructor(folder: string, onProblem: (problem: string) => void) {
    this.#folder = folder;
    this.#onProblem = onProblem;
  }

  get(config: ChildConfig): CatalogEntry {
    const file = this.#fileFor(config);
    const known = this.#known.get(file) ?? this.#read(file);
    this.#known.set(file, known);
    return known;
  }

  /** `isSecret`: the list contains a secret and must stay in memory. */
  rememberList(
    config: ChildConfig,
    kind: ListKind,
    items: readonly unknown[],
    { isSecret = false, refused = [], rights = {}, changes }: ListNotes = {},
  ): void {
    const lists = { ...this.get(config).lists, [kind]: items };
    const listedAt = new Date().toISOString();
    const news = { lists, changes, ...(kind === 'tools' && { listedAt, refused, rights }) };
    const file = this.#fileFor(config);
    const secret = this.#secret.get(file) ?? new Set();
    if (isSecret) this.#secret.set(file, secret.add(kind));
    else secret.delete(kind);
    this.#remember(config, news);
  }

  /** Drops its lists, so that they are fetched again. */
  forgetLists(config: ChildConfig): void {
    const { lists, refused, rights, changes, listedAt } = NOTHING;
    this.#remember(config, { lists, refused, rights, changes, listedAt });
  }

  /** A cheap check whether anything may be known, for the many servers that were never used. */
  mayKnow({ name }: ChildConfig): boolean {
    if (!this.#hasReadNames) this.#readNames();
    return this.#names.has(toFileName(name));
  }

  /** Whether its tool list contains a secret and stays in memory. */
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

  rememberRoots(config: ChildConfig): void {
    if (!this.get(config).asksForRoots) this.#remember(config, { asksForRoots: true });
  }

  rememberQuestions(config: ChildConfig): void {
    if (!this.get(config).asksQuestions) this.#remember(config, { asksQuestions: true });
  }

  eraOf(config: ChildConfig): Era | undefined {
    const { era } = this.get(config);
    return era && Date.now() < era.until ? era.speaks : undefined;
  }

  /** Resolves when everything is on disk. */
  async written(): Promise<void> {
    await Promise.all(this.#writing.values());
  }

  #remember(config: ChildConfig, news: Partial<CatalogEntry>): void {
    const known = { ...this.get(config), ...news };
    const file = this.#fileFor(config);
    this.#known.set(file, known);
    this.#names.add(toFileName(config.name));
    if (this.#due.has(file)) return; // the write that is queued includes this
    this.#due.add(file);
    const declaration = declarationIn(file);
    const before = this.#writing.get(declaration) ?? Promise.resolve();
    this.#writing.set(
      declaration,
      before.then(() => this.#write(config, file)),
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
      // no folder yet
    }
  }

  #read(file: string): CatalogEntry {
    try {
      const content: unknown = JSON.parse(readFileSync(join(this.#folder, file), 'utf8'));
      if (!isObject(content) || content['form'] !== FORM) return NOTHING;
      const { listedAt, framing } = content;
      return {
        lists: parseLists(content['lists']),
        refused: parseRefusedTools(content['refused']),
        rights: parseRights(content['rights']),
        changes: parseCounts(content['changes']),
        listedAt: typeof listedAt === 'string' ? listedAt : undefined,
        framing: framing === 'content-length' || framing === 'newline' ? framing : undefined,
        era: parseEra(content['era']),
        ...(content['asksForRoots'] === true && { asksForRoots: true }),
        ...(content['asksQuestions'] === true && { asksQuestions: true }),
      };
    } catch {
      return NOTHING; // missing or damaged: we learn it again
    }
  }

  async #write(config: ChildConfig, file: string): Promise<void> {
    this.#due.delete(file);
    const known = this.get(config);
    try {
      makeFolder(this.#folder);
      const secret = this.#secret.get(file);
      const lists = Object.fromEntries(
        Object.entries(known.lists).filter(([kind]) => !secret?.has(kind as ListKind)),
      );
      const refused = secret?.has('tools') ? [] : known.refused;
      // A tool's name can be the secret.
      const rights = secret?.has('tools') ? {} : known.rights;
      const text = JSON.stringify({
        form: FORM,
        name: config.name,
        ...known,
        lists,
        refused,
        rights,
      });
      await writeCacheFile(join(this.#folder, file), text);
      await this.#removeOutdated(file);
    } catch (error) {
      // Everything works without the disk, so one warning is enough.
      if (!this.#hasFailed) this.#onProblem(`cannot write the catalog to disk: ${String(error)}`);
      this.#hasFailed = true;
    }
  }

  /** Removes files from when the same declaration meant another server. */
  async #removeOutdated(file: string): Promise<void> {
    const { readdir, rm } = process.getBuiltinModule('node:fs/promises'); // lazy
    const prefix = `${declarationIn(file)}-`;
    const outdated = (await readdir(this.#folder)).filter(
      (other) => other.startsWith(prefix) && other.endsWith('.json') && other !== file,
    );
    await Promise.all(
      outdated.map((other) => rm(join(this.#folder, other), { force: true, recursive: true })),
    );
  }
}

function parseEra(value: unknown): CatalogEntry['era'] {
  const { speaks, until } = isObject(value) ? value : {};
  if (typeof until !== 'number') return undefined;
  return speaks === 'handshake' || speaks === 'modern' ? { speaks, until } : undefined;
}

function parseRights(value: unknown): CatalogEntry['rights'] {
  const entries = Object.entries(isObject(value) ? value : {});
  return Object.fromEntries(entries.map(([name, hints]) => [name, parseHints(hints)]));
}

function parseLists(value: unknown): Lists {
  if (!isObject(value)) return {};
  const found = KINDS.map((kind) => [kind, value[kind]] as const);
  return Object.fromEntries(found.filter(([, items]) => Array.isArray(items)));
}

/** The declaration part of a file name, which starts with the server's name. */
function declarationIn(file: string): string {
  return file.slice(0, file.lastIndexOf('-'));
}

function declarationOf(config: ChildConfig): string {
  const { name, origin } = config;
  return `${toFileName(name)}-${shortDigest([origin, boundFolderOf(config), name].join('\0'))}`;
}
