// The layers of ARCHITECTURE.md. A request passes through them from top to bottom, and so must imports.
// Printing, exiting and operating systems each belong to a few files.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, relative, resolve, sep } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from '../support/project.ts';

const LAYERS = [
  'assistant-entry.ts',
  'index.ts',
  'entry',
  'cli',
  'background',
  'project.ts',
  'switchboard.ts',
  'host',
  'session',
  'surface',
  'agents',
  'assistant',
  'install',
  'calls',
  'trust',
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
const rankOf = (file: string) => LAYERS.indexOf(layerOf(file));

function importsOf(file: string): string[] {
  const specifiers = [...textOf(file).matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)];
  return specifiers
    .map(([, path = '']) => relative(SOURCE, resolve(SOURCE, dirname(file), path)))
    .map((path) => path.split(sep).join(posix.sep))
    .filter((path) => !path.startsWith('..'));
}

/** Each match of a pattern in the source files, as "file: match", except in the files that may have it. */
function findOutside(allowed: readonly string[], pattern: RegExp): string[] {
  return files
    .filter((file) => !allowed.includes(file) && !allowed.includes(layerOf(file)))
    .flatMap((file) => (textOf(file).match(pattern) ?? []).map((use) => `${file}: ${use}`));
}

test('files belong to a layer and import only from their own or a lower one', () => {
  expect(files.filter((file) => !LAYERS.includes(layerOf(file)))).toEqual([]);
  const upward = files.flatMap((file) =>
    importsOf(file)
      .filter((target) => rankOf(target) < rankOf(file))
      .map((target) => `${file} imports ${target}`),
  );
  expect(upward).toEqual([]);
});

test('only the command line touches stdout, stderr and the exit status', () => {
  const edges = ['assistant-entry.ts', 'index.ts', 'entry', 'cli', 'load-start.ts'];
  const uses = /console\.|(?<![#.\w])process\.(exit|stdout|stderr|argv)/g;
  expect(findOutside(edges, uses)).toEqual([]);
});

test('only the command line reads the folder and the environment of the process', () => {
  const knows = ['cli', 'index.ts', 'entry', 'load-start.ts', 'base', ...KNOWS_ENVIRONMENT];
  expect(findOutside(knows, /process\.(cwd|env|chdir)\b|\bhomedir\(/g)).toEqual([]);
});

test('only the files made for it deal with processes, the operating system and new folders', () => {
  const processes = ['base/process.ts', 'base/process-table.ts'];
  const uses = /process\.(kill|platform)\b|\bdetached:|\/proc\//g;
  expect(findOutside(processes, uses)).toEqual([]);
  expect(findOutside(['base/make-folder.ts'], /\bmkdir(?:Sync)?\b/g)).toEqual([]);
});
