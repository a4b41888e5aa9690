// Which server owns which prompt, resource and template. The first to list one owns it for as long as it lists it:
// a server that lists the same later can't take it over, and neither can a greedy template. For lists known at the
// start, the configuration's order decides.
import { isObject } from '../base/object.ts';
import { matchesPattern } from '../config/server/expose.ts';
import type { Lists } from '../pool/catalog.ts';

export interface Lister {
  readonly name: string;
  readonly lists: Lists;
}

export interface Prompt {
  /** The server that has it. */
  readonly child: string;
  /** The server's name for it. */
  readonly own: string;
}

/** Schemes that servers share. */
const COMMON_SCHEMES = new Set(['file:', 'http:', 'https:', 'data:', 'ui:']);

export class Holdings {
  /** By the names they are listed under. */
  readonly prompts = new Map<string, Prompt>();
  readonly listedPrompts: readonly unknown[];
  readonly listedResources: readonly unknown[];
  readonly listedTemplates: readonly unknown[];
  /** One sentence per item that several children list. */
  readonly conflicts: string[] = [];
  /** Owners by URI, oldest first. */
  readonly #resources: ReadonlyMap<string, string>;
  readonly #templates: ReadonlyMap<string, string>;
  /** All users of a scheme, and its owner: the first to use it alone. */
  readonly #users = new Map<string, Set<string>>();
  readonly #schemeOwners = new Map<string, string>();

  constructor(
    listers: readonly Lister[],
    before: Holdings | undefined,
    newcomers: ReadonlySet<string>,
  ) {
    const inTurn = [
      ...listers.filter(({ name }) => !newcomers.has(name)),
      ...listers.filter(({ name }) => newcomers.has(name)),
    ];
    this.listedPrompts = this.#settlePrompts(listers, inTurn, before);
    this.#resources = this.#settleUris(inTurn, 'resources', before && before.#resources);
    this.#templates = this.#settleUris(inTurn, 'templates', before && before.#templates);
    this.#settleSchemes(inTurn, before);
    this.listedResources = listHeld(listers, 'resources', this.#resources);
    this.listedTemplates = listHeld(listers, 'templates', this.#templates);
  }

  /** The child that a resource belongs to. */
  ownerOf(uri: string): string | undefined {
    const exact = this.#resources.get(uri) ?? this.#templates.get(uri);
    if (exact !== undefined) return exact;
    for (const [template, child] of this.#templates) {
      const pattern = template.replaceAll(/\{[^}]*\}/g, '*');
      if (matchesPattern(uri, pattern) && this.#mayMatch(template, child, uri)) return child;
    }
    const scheme = schemeOf(uri);
    return scheme === undefined ? undefined : this.#onlyUserOf(scheme);
  }

  /** A template can't match another server's scheme or, without a scheme of its own, any scheme in use. */
  #mayMatch(template: string, child: string, uri: string): boolean {
    const scheme = schemeOf(uri);
    if (scheme === undefined) return false;
    const owner = this.#schemeOwners.get(scheme);
    if (owner !== undefined) return owner === child;
    if (schemeOf(literalStart(template)) !== undefined) return true;
    const users = this.#users.get(scheme);
    return [...(users ?? [])].every((user) => user === child);
  }

  /** An unlisted URI belongs to the only server that uses its scheme. */
  #onlyUserOf(scheme: string): string | undefined {
    const [user, ...others] = this.#users.get(scheme) ?? [];
    return this.#schemeOwners.get(scheme) ?? (others.length === 0 ? user : undefined);
  }

  #settlePrompts(
    listers: readonly Lister[],
    inTurn: readonly Lister[],
    before: Holdings | undefined,
  ): unknown[] {
    const items = new Map(listers.map((lister) => [lister.name, itemsOf(lister, 'prompts')]));
    const given = new Map<string, string>();
    const give = (name: string, prompt: Prompt): void => {
      this.prompts.set(name, prompt);
      given.set(keyOf(prompt.child, prompt.own), name);
    };
    for (const [name, prompt] of before?.prompts ?? []) {
      if (items.get(prompt.child)?.has(prompt.own)) give(name, prompt);
    }
    for (const { name: child } of inTurn) {
      for (const own of items.get(child)?.keys() ?? []) {
        if (given.has(keyOf(child, own))) continue;
        const holder = this.prompts.get(own)?.child;
        const name = holder === undefined ? own : `${child}_${own}`;
        const isLost = this.prompts.has(name);
        if (holder !== undefined) this.#notePrompt(child, own, holder, isLost ? undefined : name);
        if (!isLost) give(name, { child, own });
      }
    }
    return listers.flatMap(({ name: child }) =>
      [...(items.get(child) ?? [])].flatMap(([own, item]) => {
        const name = given.get(keyOf(child, own));
        if (name === undefined) return [];
        return [name === own ? item : { ...item, name }];
      }),
    );
  }

  #settleUris(
    inTurn: readonly Lister[],
    kind: 'resources' | 'templates',
    before: ReadonlyMap<string, string> | undefined,
  ): Map<string, string> {
    const items = new Map(inTurn.map((lister) => [lister.name, itemsOf(lister, kind)]));
    const held = new Map<string, string>();
    for (const [uri, child] of before ?? []) if (items.get(child)?.has(uri)) held.set(uri, child);
    const wanted = inTurn.flatMap(({ name }) =>
      [...(items.get(name)?.keys() ?? [])].map((uri) => ({ uri, name })),
    );
    // The most specific template first.
    if (kind === 'templates') wanted.sort((a, b) => lengthOf(b.uri) - lengthOf(a.uri));
    for (const { uri, name } of wanted) {
      const holder = held.get(uri);
      if (holder === undefined) held.set(uri, name);
      else if (holder !== name) this.#noteUri(kind, uri, name, holder);
    }
    return held;
  }

  #settleSchemes(inTurn: readonly Lister[], before: Holdings | undefined): void {
    for (const lister of inTurn) {
      const uris = [...itemsOf(lister, 'resources').keys()];
      const templates = [...itemsOf(lister, 'templates').keys()].map(literalStart);
      for (const scheme of new Set([...uris, ...templates].map(schemeOf))) {
        if (scheme === undefined) continue;
        const users = this.#users.get(scheme) ?? new Set();
        this.#users.set(scheme, users.add(lister.name));
      }
    }
    for (const [scheme, users] of this.#users) {
      if (COMMON_SCHEMES.has(scheme)) continue;
      const [first, ...others] = users;
      const owner = before && before.#schemeOwners.get(scheme);
      const kept = owner !== undefined && users.has(owner) ? owner : undefined;
      const held = kept ?? (others.length === 0 ? first : undefined);
      if (held === undefined) continue;
      this.#schemeOwners.set(scheme, held);
      for (const other of users) if (other !== held) this.#noteScheme(scheme, other, held);
    }
  }

  #notePrompt(child: string, own: string, holder: string, name: string | undefined): void {
    const how = name === undefined ? 'left out' : `listed as "${name}"`;
    this.conflicts.push(
      `prompt "${own}" of server "${child}" is ${how}: server "${holder}" already has a prompt with that name.`,
    );
  }

  #noteUri(kind: 'resources' | 'templates', uri: string, child: string, holder: string): void {
    const what = kind === 'resources' ? 'resource' : 'resource template';
    this.conflicts.push(
      `server "${child}" also lists the ${what} ${uri}. Server "${holder}" listed it first and keeps it.`,
    );
  }

  #noteScheme(scheme: string, child: string, holder: string): void {
    this.conflicts.push(
      `server "${child}" also uses ${scheme} URIs. Server "${holder}" used the scheme first, so templates of "${child}" cannot match it.`,
    );
  }
}

/** A child's items of one kind by name; duplicates are ignored. */
function itemsOf(
  { lists }: Lister,
  kind: 'prompts' | 'resources' | 'templates',
): Map<string, Record<string, unknown>> {
  const items = new Map<string, Record<string, unknown>>();
  for (const item of lists[kind] ?? []) {
    const name = isObject(item) ? item[NAMED_BY[kind]] : undefined;
    if (isObject(item) && typeof name === 'string' && !items.has(name)) items.set(name, item);
  }
  return items;
}

const NAMED_BY = { prompts: 'name', resources: 'uri', templates: 'uriTemplate' } as const;

function listHeld(
  listers: readonly Lister[],
  kind: 'resources' | 'templates',
  held: ReadonlyMap<string, string>,
): unknown[] {
  return listers.flatMap((lister) =>
    [...itemsOf(lister, kind)].flatMap(([uri, item]) =>
      held.get(uri) === lister.name ? [item] : [],
    ),
  );
}

function keyOf(child: string, own: string): string {
  return JSON.stringify([child, own]);
}

/** The fixed beginning of a template. */
function literalStart(template: string): string {
  return /^[^{*]*/.exec(template)?.[0] ?? '';
}

function lengthOf(template: string): number {
  return literalStart(template).length;
}

function schemeOf(uri: string): string | undefined {
  return /^[a-z][a-z0-9+.-]*:/i.exec(uri)?.[0].toLowerCase();
}
