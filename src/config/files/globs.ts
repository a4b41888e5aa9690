// Finds child files by pattern. Nearly all patterns contain only plain text and `*`; those are matched here, because
// loading tinyglobby takes 11 ms (measured). It is loaded only for `**`, `?`, braces, character classes and
// exclusions with `!`.
import { type Dirent, readdir, readdirSync } from 'node:fs';
import { isAbsolute, join, normalize, parse, resolve, sep } from 'node:path';

interface FoundFiles {
  /** Absolute and unique, in the order of the patterns, then by path. Some may not exist. */
  readonly files: readonly string[];
  readonly warnings: readonly string[];
}

/** A pattern may match the whole disk, and the host is waiting. */
interface SearchLimits {
  readonly folders: number;
  readonly files: number;
  readonly ms: number;
}

const LIMITS: SearchLimits = { folders: 20_000, files: 2_000, ms: 5_000 };

export async function findFiles(
  patterns: readonly string[],
  folder: string,
  homeFolder: string,
  limits = LIMITS,
): Promise<FoundFiles> {
  const warnings: string[] = [];
  const wanted = patterns.filter((pattern) => !pattern.startsWith('!'));
  const excluded = patterns.filter((pattern) => pattern.startsWith('!'));
  const ignore = excluded.map((pattern) => expandHome(pattern.slice(1), homeFolder));
  const search = new Search(limits);
  for (const written of wanted) {
    const pattern = expandHome(written, homeFolder);
    if (leadsOut(pattern)) {
      warnings.push(
        `discoverGlobs: ${written} points outside the project (ignored). Use an absolute path.`,
      );
      continue;
    }
    const isPlain = ignore.length === 0 && isPlainPattern(pattern);
    const files = isPlain
      ? walk(pattern, folder, search)
      : await searchWithLibrary(pattern, folder, ignore, search);
    // Not locale-aware: the order must be the same on every machine.
    for (const file of files.sort()) search.add(file);
    if (search.reached !== undefined) {
      warnings.push(
        `discoverGlobs: ${written} matches too much. The search stopped after ${search.reached}, so servers may be missing. Use a narrower pattern.`,
      );
      break;
    }
  }
  return { files: [...search.found], warnings };
}

/** Collects files until it reaches a limit. */
class Search {
  readonly found = new Set<string>();
  readonly #limits: SearchLimits;
  readonly #end: number;
  #folders = 0;
  reached: string | undefined;

  constructor(limits: SearchLimits) {
    this.#limits = limits;
    this.#end = uptimeMs() + limits.ms;
  }

  add(file: string): void {
    const { files } = this.#limits;
    if (this.found.size < files) this.found.add(file);
    else if (!this.found.has(file)) this.reached ??= `${files} files`;
  }

  /** Counts one more folder; false once a limit is reached. */
  mayList(): boolean {
    const { folders, ms } = this.#limits;
    if (++this.#folders > folders) this.reached ??= `${folders} folders`;
    else if (uptimeMs() > this.#end) this.reached ??= `${ms / 1_000} seconds`;
    return this.reached === undefined;
  }
}

/** `performance` would do as well, but its first use takes a start 1.5 ms. */
function uptimeMs(): number {
  return process.uptime() * 1_000;
}

/** Whether a relative pattern can reach above its base folder; `**` may match nothing. */
function leadsOut(pattern: string): boolean {
  if (isAbsolute(pattern)) return false;
  // An alternative in braces or parentheses that is or ends with the parent folder.
  if (/[{,(|]\.\.[,}|)\\/]|[\\/]\.\.[,}|)]/.test(pattern)) return true;
  let depth = 0;
  for (const segment of pattern.split(/[\\/]/)) {
    if (segment === '..') depth--;
    else if (segment !== '.' && segment !== '' && segment !== '**') depth++;
    if (depth < 0) return true;
  }
  return false;
}

/** Expands a leading `~` or `~/`. */
export function expandHome(path: string, homeFolder: string): string {
  if (path === '~') return homeFolder;
  return /^~[/\\]/.test(path) ? join(homeFolder, path.slice(2)) : path;
}

function isPlainPattern(pattern: string): boolean {
  return !pattern.includes('**') && !/[?{}[\]|]|[!+@*]\(/.test(pattern);
}

/** Doesn't check whether the path after the last `*` exists: reading the file will. */
function walk(pattern: string, folder: string, search: Search): string[] {
  const { root } = parse(pattern);
  const segments = normalize(pattern.slice(root.length)).split(sep);
  const star = segments.findIndex((segment) => segment.includes('*'));
  const plain = star === -1 ? segments.length : star;
  let paths = [join(root || folder, ...segments.slice(0, plain))];
  for (const [index, segment] of segments.slice(plain).entries()) {
    const isLast = plain + index === segments.length - 1;
    paths = segment.includes('*')
      ? paths.flatMap((path) => entriesMatching(path, segment, isLast, search))
      : paths.map((path) => `${path}${sep}${segment}`);
  }
  return paths;
}

function entriesMatching(
  folder: string,
  segment: string,
  isLast: boolean,
  search: Search,
): string[] {
  if (!search.mayList()) return [];
  const literal = segment.split('*').map((part) => part.replace(/[\\^$.+()]/g, '\\$&'));
  const matcher = new RegExp(`^${literal.join('.*')}$`, 's');
  return listFolder(folder)
    .filter((entry) => matcher.test(entry.name))
    .filter((entry) => entry.isSymbolicLink() || (isLast ? entry.isFile() : entry.isDirectory()))
    .map((entry) => (folder.endsWith(sep) ? folder : folder + sep) + entry.name);
}

function listFolder(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    // The project may not have that folder.
    return [];
  }
}

async function searchWithLibrary(
  pattern: string,
  folder: string,
  ignore: readonly string[],
  search: Search,
): Promise<string[]> {
  const { glob } = await import('tinyglobby');
  const stop = new AbortController();
  const listing = ((path: string, options: object, done: Listed) => {
    if (search.mayList()) return readdir(path, { ...options, withFileTypes: true }, done);
    stop.abort(); // also skips folders it has already listed
    return done(null, []);
  }) as typeof readdir;
  const files = await glob([pattern], {
    cwd: folder,
    ignore: [...ignore],
    absolute: true,
    dot: true,
    expandDirectories: false,
    fs: { readdir: listing },
    signal: stop.signal,
  });
  return files.map((file) => resolve(file));
}

type Listed = (error: NodeJS.ErrnoException | null, entries: Dirent[]) => void;
