// The places a configuration comes from, and those where another file would become part of it.
import { basename, dirname, join, normalize, parse, resolve, sep } from 'node:path';
import { pathInside } from '../../base/paths.ts';
import type { WatchedTree } from '../../base/watch/survey.ts';
import type { Config } from '../config.ts';
import { descriptionPlaces } from '../server/descriptions.ts';
import { originalFile, WRAPPER_END } from './assistant-folder.ts';
import { CONFIG_NAMES } from './files.ts';
import { expandHome } from './globs.ts';

/** For patterns with `**`. Deeper files are found at the next start or reload. */
const DEEPEST = 6;

export function configTrees(config: Config): WatchedTree[] {
  const { project, home, homeFolder, children, soughtIn } = config;
  const { patterns = [], files = [] } = soughtIn ?? {};
  const tree = treeMaker(config);
  const fixed = [
    ...[project, home].flatMap((folder) => CONFIG_NAMES.map((name) => join(folder, name))),
    ...[join(project, '.switchboard'), home].map((folder) => join(folder, 'servers.json')),
    join(home, 'config.toml'),
    ...descriptionPlaces(config),
    ...files,
  ];
  return [
    ...fileTrees(fixed, tree),
    ...patterns
      .filter((pattern) => !pattern.startsWith('!'))
      .map((pattern) => patternTree(expandHome(pattern, homeFolder), project, tree)),
    ...[...children.values()].flatMap(({ origin }) =>
      basename(origin) === '.mcp.json' && dirname(origin) !== project
        ? assistantTrees(dirname(origin), tree)
        : [],
    ),
  ];
}

type MakeTree = (
  folder: string,
  key: string,
  more: Pick<WatchedTree, 'isFile'> & Partial<WatchedTree>,
) => WatchedTree;

/** Trees start at the innermost folder that the user knows. */
export function treeMaker({
  project,
  home,
  homeFolder,
}: Pick<Config, 'project' | 'home' | 'homeFolder'>): MakeTree {
  const bases = [project, home, homeFolder].sort((a, b) => b.length - a.length);
  return (folder, key, more) => ({
    folder,
    base: bases.find((base) => base === folder || pathInside(base, folder) !== undefined) ?? folder,
    depth: 0,
    key: `${folder} ${key}`,
    ...more,
  });
}

/** One tree for each folder. */
function fileTrees(files: readonly string[], tree: MakeTree): WatchedTree[] {
  const folders = new Map<string, Set<string>>();
  for (const file of files) {
    const names = folders.get(dirname(file)) ?? new Set();
    folders.set(dirname(file), names.add(basename(file)));
  }
  return [...folders].map(([folder, names]) =>
    tree(folder, 'files', { isFile: (name) => names.has(name), names: [...names] }),
  );
}

/** What a server's folder has besides its declaration. */
function assistantTrees(folder: string, tree: MakeTree): WatchedTree[] {
  const isFile = (name: string) => name === 'CLAUDE.md' || name.endsWith(WRAPPER_END);
  return [tree(folder, 'assistant', { isFile }), ...fileTrees([originalFile(folder)], tree)];
}

const MAGIC = /[*?{}[\]|!+@()]/;

/** `mcps/*` + `/.mcp.json` is the file `.mcp.json`, one level below `mcps`. */
function patternTree(pattern: string, project: string, tree: MakeTree): WatchedTree {
  const { root } = parse(pattern);
  const segments = normalize(pattern.slice(root.length)).split(sep);
  const last = segments.pop() ?? '';
  const first = segments.findIndex((segment) => MAGIC.test(segment));
  const plain = first === -1 ? segments : segments.slice(0, first);
  const folders = segments.slice(plain.length).map(matcherOf);
  const isFile = matcherOf(last);
  const isDeep = segments.includes('**');
  return tree(resolve(root || project, ...plain), pattern, {
    depth: isDeep ? DEEPEST : folders.length,
    isFile: (name, level) => (isDeep || level === folders.length) && isFile(name),
    isFolder: (name, level) =>
      isDeep ? name !== 'node_modules' && name !== '.git' : (folders[level]?.(name) ?? false),
  });
}

/** Too many names are better than too few: only those that the search finds count. */
function matcherOf(segment: string): (name: string) => boolean {
  if (!MAGIC.test(segment)) return (name) => name === segment;
  if (/[?{}[\]|!+@()]/.test(segment)) return () => true;
  const parts = segment.split('*').map((part) => part.replace(/[\\^$.]/g, '\\$&'));
  const matcher = new RegExp(`^${parts.join('.*')}$`, 's');
  return (name) => matcher.test(name);
}
