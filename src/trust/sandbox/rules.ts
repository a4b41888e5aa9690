// What a sandboxed server can do where: the settings and the defaults as rules for real paths. A rule applies to
// everything below its path, and a deeper rule takes precedence. Explicit settings take precedence over defaults: a
// default never opens anything below a path that a setting closes.
import { lstatSync, readdirSync, readlinkSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { SwitchboardError } from '../../base/errors.ts';
import type { Sandbox } from '../../config/config.ts';
import { expandHome } from '../../config/files/globs.ts';
import { expandVariables } from '../../config/server/expand.ts';
import {
  hiddenByDefault,
  privateByDefault,
  protectedInProject,
  type SandboxPlaces,
  writableCaches,
} from './defaults.ts';

/** `private`: empty, and changes are lost when the server stops. */
type PathAccess = 'write' | 'read' | 'hidden' | 'private';

export interface PathRule {
  readonly path: string;
  readonly access: PathAccess;
  /** Applies to every path that starts like this. */
  readonly isPrefix?: boolean | undefined;
}

/** The rules, shallow ones first. Throws if a setting can't be used. */
export function createRules(sandbox: Sandbox, places: SandboxPlaces): PathRule[] {
  const links = new Links();
  links.list(places.homeFolder);
  links.list(places.project);
  const read = (key: keyof PathSettings): string[] =>
    sandbox[key].map((written) => readPath(written, key, sandbox, places, links));
  const denyRead = read('denyRead').flatMap((path) => links.both(path));
  const denyWrite = read('denyWrite').map((path) => links.follow(path));
  const allowWrite = read('allowWrite').map((path) => links.follow(path));
  const closed = [...denyRead, ...denyWrite];
  const rules = new RuleSet();
  for (const path of denyRead) rules.add({ path, access: 'hidden' });
  for (const path of allowWrite) {
    if (!denyWrite.includes(path)) rules.add({ path, access: 'write' });
  }
  for (const one of defaultRules(places, links)) {
    const isClosed = closed.some((path) => isAtOrBelow(path, one.path));
    if (!isClosed || one.access !== 'write') rules.add(one);
  }
  // Only where the server could write: it must not show anything that is hidden.
  for (const path of [...denyWrite, ...protectedPaths(places, links)]) {
    const isExplicit = allowWrite.includes(path);
    if (rules.accessAt(path) === 'write' && !isExplicit) rules.set({ path, access: 'read' });
  }
  // Only what is hidden: it must not take away the permission to write.
  for (const path of read('allowRead').map((one) => links.follow(one))) {
    const isShown = ['read', 'write'].includes(rules.accessAt(path));
    if (!isShown && !denyRead.includes(path)) rules.set({ path, access: 'read' });
  }
  return rules.sorted();
}

type PathSettings = Pick<Sandbox, 'allowRead' | 'allowWrite' | 'denyRead' | 'denyWrite'>;

class RuleSet {
  readonly #rules = new Map<string, PathRule>();

  /** Unless the path has a rule. */
  add(rule: PathRule): void {
    if (!this.#rules.has(rule.path)) this.#rules.set(rule.path, rule);
  }

  set(rule: PathRule): void {
    this.#rules.set(rule.path, rule);
  }

  accessAt(path: string): PathAccess {
    return accessAt(path, [...this.#rules.values()]);
  }

  sorted(): PathRule[] {
    return [...this.#rules.values()].sort((one, other) => depthOf(one.path) - depthOf(other.path));
  }
}

/** Highest precedence first. */
function defaultRules(places: SandboxPlaces, links: Links): PathRule[] {
  const project = links.follow(places.project);
  const home = links.follow(places.homeFolder);
  // If the project is the home directory, the server could change everything.
  const isWhole = isAtOrBelow(project, home);
  const cwd = links.follow(places.cwd);
  const open = isWhole ? [] : isAtOrBelow(project, cwd) ? [project, cwd] : [project];
  return [
    ...open.map((path) => ({ path, access: 'write' }) as const),
    ...hiddenByDefault(places).flatMap(({ path, isPrefix }) =>
      links.both(path).map((one) => ({ path: one, access: 'hidden', isPrefix }) as const),
    ),
    // It may be in a temporary folder.
    { path: home, access: 'read' },
    ...writableCaches(places).map(
      (path) => ({ path: links.follow(path), access: 'write' }) as const,
    ),
    ...privateByDefault(places).map(
      (path) => ({ path: links.follow(path), access: 'private' }) as const,
    ),
  ];
}

/** A link that leads out of the project is not followed. */
function protectedPaths(places: SandboxPlaces, links: Links): string[] {
  const project = links.follow(places.project);
  return protectedInProject(project, links.follow(places.cwd))
    .map((path) => links.follow(path))
    .filter((path) => isAtOrBelow(project, path));
}

/** What the rules allow for a real path. */
export function accessAt(path: string, rules: readonly PathRule[]): PathAccess {
  return nearestRule(path, rules)?.access ?? 'read';
}

function nearestRule(path: string, rules: readonly PathRule[]): PathRule | undefined {
  return rules
    .filter((one) => appliesTo(one, path))
    .reduce<PathRule | undefined>(
      (deepest, one) => (deepest && deepest.path.length > one.path.length ? deepest : one),
      undefined,
    );
}

export function appliesTo({ path, isPrefix }: PathRule, to: string): boolean {
  return isPrefix ? to.startsWith(path) : isAtOrBelow(path, to);
}

/** Both are real paths, or at least absolute and normalized. Called for each entry of the home directory. */
export function isAtOrBelow(folder: string, path: string): boolean {
  if (!path.startsWith(folder)) return false;
  return path.length === folder.length || folder === '/' || path[folder.length] === '/';
}

export function depthOf(path: string): number {
  return path === '/' ? 0 : path.split('/').length - 1;
}

/** The system's own limit. */
const MOST_LINKS = 40;

/** Follows links, even if they lead to something that doesn't exist. Remembers what it found for one start. */
class Links {
  readonly #known = new Map<string, string>();
  /** The links in folders in which many paths are looked up. */
  readonly #listed = new Map<string, ReadonlySet<string>>();

  /** Looks up all links of a folder at once. */
  list(folder: string): void {
    const real = this.follow(folder);
    try {
      const entries = readdirSync(real, { withFileTypes: true });
      const links = entries.filter((entry) => entry.isSymbolicLink());
      this.#listed.set(real, new Set(links.map(({ name }) => name)));
    } catch {
      // Missing, or no permission: each path is looked up.
    }
  }

  follow(path: string, count = 0): string {
    const known = this.#known.get(path);
    if (known !== undefined) return known;
    const real = this.#follow(path, count);
    this.#known.set(path, real);
    return real;
  }

  /** To hide a link, both the link and its target are hidden. */
  both(path: string): string[] {
    const link = join(this.follow(dirname(path)), basename(path));
    const real = this.follow(path);
    return link === real ? [link] : [link, real];
  }

  #follow(path: string, count: number): string {
    const parent = dirname(path);
    if (parent === path) return path;
    const folder = this.follow(parent, count);
    const name = basename(path);
    const place = join(folder, name);
    const isFollowed = this.#listed.get(folder)?.has(name) ?? isLink(place);
    if (count === MOST_LINKS || !isFollowed) return place;
    return this.follow(resolve(folder, readlinkSync(place)), count + 1);
  }
}

/** The path with links followed, even if it doesn't exist. */
export function realPlace(path: string): string {
  return new Links().follow(path);
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
  } catch {
    return false; // no permission, or a file in place of a folder
  }
}

const FOLDERS = /\$\{(?:workspaceFolder|project|userHome)\}/g;

function readPath(
  written: string,
  key: keyof PathSettings,
  { origin }: Sandbox,
  places: SandboxPlaces,
  links: Links,
): string {
  const { project, homeFolder, env } = places;
  const filled = written.replace(FOLDERS, (name) =>
    name === '${userHome}' ? homeFolder : project,
  );
  const text = expandHome(expandVariables(filled, env), homeFolder);
  if (/\*|\$\{/.test(text)) {
    throw new SwitchboardError(
      'CONFIG_INVALID',
      `The sandbox path ${JSON.stringify(written)} contains a wildcard or an unknown variable (${key} in ${origin}).`,
      { hint: 'List each file or folder.' },
    );
  }
  const path = resolve(project, text);
  if (key === 'denyRead' || key === 'denyWrite') return path;
  // Whoever can write there could replace it with a link to anywhere.
  const around = [project, ...writableCaches(places)].find((folder) => isAtOrBelow(folder, path));
  if (around === undefined || isAtOrBelow(links.follow(around), links.follow(path))) return path;
  throw new SwitchboardError(
    'CONFIG_INVALID',
    `The sandbox path ${JSON.stringify(written)} is a link that points outside ${around} (${key} in ${origin}).`,
    { hint: 'Use the path it points to.' },
  );
}
