// ARCHITECTURE.md says which folder may import from which: a request passes them from top to bottom, and
// so must imports. It also says who may print, end the program, and know the operating system.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, relative, resolve, sep } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT } from '../support/project.ts';

const LAYERS = [
  'assistant-entry.ts',
  'index.ts',
  'cli',
  'project.ts',
  'switchboard.ts',
  'host',
  'session',
  'surface',
  'agents',
  'assistant',
  'install',
  'calls',
  'pool',
  'child',
  'mcp',
  'net',
  'rpc',
  'config',
  'base',
  'load-start.ts',
];

/** The SDK behind it reads the environment by itself. */
const KNOWS_ENVIRONMENT = new Set(['assistant/providers/anthropic.ts']);

const SOURCE = join(ROOT, 'src');
const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
  .map((file) => file.split(sep).join(posix.sep))
  .filter((file) => file.endsWith('.ts'));

const textOf = (file: string) => readFileSync(join(SOURCE, file), 'utf8');
const layerOf = (file: string) => file.split('/')[0] ?? '';

function importsOf(file: string): string[] {
  const specifiers = [...textOf(file).matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)];
  return specifiers
    .map(([, path = '']) => relative(SOURCE, resolve(SOURCE, dirname(file), path)))
    .map((path) => path.split(sep).join(posix.sep))
    .filter((path) => !path.startsWith('..'));
}

test('every file belongs to a layer', () => {
  expect(files.filter((file) => !LAYERS.includes(layerOf(file)))).toEqual([]);
});

describe.each(files)('%s', (file) => {
  test('imports only from its own layer or a lower one', () => {
    const rank = (path: string) => LAYERS.indexOf(layerOf(path));
    expect(importsOf(file).filter((target) => rank(target) < rank(file))).toEqual([]);
  });

  test('leaves stdout, stderr and the exit status to the command line', () => {
    const edges = ['assistant-entry.ts', 'index.ts', 'cli', 'load-start.ts'];
    const uses =
      textOf(file).match(/console\.|(?<![#.\w])process\.(exit|stdout|stderr|argv)/g) ?? [];
    expect(edges.includes(layerOf(file)) ? [] : uses).toEqual([]);
  });

  test('leaves the folder and the environment of the process to the command line', () => {
    const knows =
      ['cli', 'index.ts', 'base'].includes(layerOf(file)) || KNOWS_ENVIRONMENT.has(file);
    const uses = textOf(file).match(/process\.(cwd|env|chdir)\b|\bhomedir\(/g) ?? [];
    expect(knows ? [] : uses).toEqual([]);
  });

  test('leaves processes, signals and the operating system to the two files that know them', () => {
    const uses = textOf(file).match(/process\.(kill|platform)\b|\bdetached:|\/proc\//g) ?? [];
    const knows = ['base/process.ts', 'base/process-table.ts'].includes(file);
    expect(knows ? [] : uses).toEqual([]);
  });

  test('makes folders in the one way that always returns', () => {
    const uses = textOf(file).match(/\bmkdir(?:Sync)?\b/g) ?? [];
    expect(file === 'base/make-folder.ts' ? [] : uses).toEqual([]);
  });
});
