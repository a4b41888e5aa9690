// Finds child files by pattern. Patterns made of plain text and `*`, which nearly all are, are
// walked here: tinyglobby does everything, but costs 11 ms of every start (measured), and a start
// with 500 child files has only a few. It is loaded for what is beyond that: `**`, `?`, braces,
// character classes and exclusions with `!`.
import { type Dirent, readdirSync } from 'node:fs';
import { join, normalize, parse, resolve, sep } from 'node:path';

/** Absolute paths, in the order of the patterns, then by path; each once. Some may not exist. */
export async function findFiles(
  patterns: readonly string[],
  folder: string,
  homeFolder: string,
): Promise<string[]> {
  const wanted = patterns.filter((pattern) => !pattern.startsWith('!'));
  const excluded = patterns.filter((pattern) => pattern.startsWith('!'));
  const ignore = excluded.map((pattern) => expandHome(pattern.slice(1), homeFolder));
  const found = new Set<string>();
  for (const pattern of wanted.map((one) => expandHome(one, homeFolder))) {
    const isPlain = ignore.length === 0 && isPlainPattern(pattern);
    const files = isPlain
      ? walk(pattern, folder)
      : await searchWithLibrary(pattern, folder, ignore);
    // Not by locale: the order must be the same on every machine.
    for (const file of files.sort()) found.add(file);
  }
  return [...found];
}

/** A path with `~` or `~/` at its beginning made whole. */
export function expandHome(path: string, homeFolder: string): string {
  if (path === '~') return homeFolder;
  return /^~[/\\]/.test(path) ? join(homeFolder, path.slice(2)) : path;
}

function isPlainPattern(pattern: string): boolean {
  return !pattern.includes('**') && !/[?{}[\]|]|[!+@*]\(/.test(pattern);
}

/** What follows the last `*` is not looked for here: reading the file will tell. */
function walk(pattern: string, folder: string): string[] {
  const { root } = parse(pattern);
  const segments = normalize(pattern.slice(root.length)).split(sep);
  const star = segments.findIndex((segment) => segment.includes('*'));
  const plain = star === -1 ? segments.length : star;
  let paths = [join(root || folder, ...segments.slice(0, plain))];
  for (const [index, segment] of segments.slice(plain).entries()) {
    const isLast = plain + index === segments.length - 1;
    paths = segment.includes('*')
      ? paths.flatMap((path) => entriesMatching(path, segment, isLast))
      : paths.map((path) => `${path}${sep}${segment}`);
  }
  return paths;
}

function entriesMatching(folder: string, segment: string, isLast: boolean): string[] {
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
    // A pattern may well lead to a folder that this project does not have.
    return [];
  }
}

async function searchWithLibrary(
  pattern: string,
  folder: string,
  ignore: readonly string[],
): Promise<string[]> {
  const { glob } = await import('tinyglobby');
  const files = await glob([pattern], {
    cwd: folder,
    ignore: [...ignore],
    absolute: true,
    dot: true,
    expandDirectories: false,
  });
  return files.map((file) => resolve(file));
}
