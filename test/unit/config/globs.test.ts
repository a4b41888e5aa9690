import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findFiles } from '../../../src/config/files/globs.ts';
import { createProject } from './temp-project.ts';

function createTree() {
  const project = createProject(
    Object.fromEntries(
      [
        'a/x.json',
        'a/.hidden.json',
        'a/deep/y.json',
        'b/x.json',
        'b/x.txt',
        'b (2)/x.json',
        '.dot/x.json',
        '../home/h/x.json',
        '../other/x.json',
      ].map((file) => [file, '']),
    ),
  );
  const find = async (...patterns: string[]) =>
    (await findFiles(patterns, project.folder, project.homeFolder)).files.map(project.plain);
  return { ...project, find };
}

test('a star matches any name or part of one, dots included, in a fixed order', async () => {
  const { find } = createTree();
  expect(await find('*/x.*')).toEqual([
    '<project>/.dot/x.json',
    '<project>/a/x.json',
    '<project>/b (2)/x.json',
    '<project>/b/x.json',
    '<project>/b/x.txt',
  ]);
  expect(await find('a/*.json')).toEqual(['<project>/a/.hidden.json', '<project>/a/x.json']);
  expect(await find('b (*)/x.json')).toEqual(['<project>/b (2)/x.json']);
});

test('a range of numbers stays in the project', async () => {
  const { folder, homeFolder, write } = createTree();
  write('7/x.json', '');
  expect((await findFiles(['{1..9}/x.json'], folder, homeFolder)).files).toEqual([
    join(folder, '7/x.json'),
  ]);
});

test('patterns keep their order, and a file is found once', async () => {
  const { find } = createTree();
  expect(await find('b/*.json', 'a/x.json', '[ab]/x.json')).toEqual([
    '<project>/b/x.json',
    '<project>/a/x.json',
  ]);
});

test('absolute patterns and ~ are supported', async () => {
  const { find, folder } = createTree();
  expect(await find(`${folder}/b/*.txt`)).toEqual(['<project>/b/x.txt']);
  expect(await find('~/h/*.json', '~/{h,i}/x.json')).toEqual(['<home>/h/x.json']);
  expect(await find('./a/../b/*.txt')).toEqual(['<project>/b/x.txt']);
});

test('a missing folder is not an error', async () => {
  const { find } = createTree();
  expect(await find('nowhere/*/x.json', 'a/x.json/*/y', 'nowhere/**/x')).toEqual([]);
});

test('links to folders are followed', async () => {
  const { find, folder } = createTree();
  symlinkSync(join(folder, 'a/deep'), join(folder, 'a/link'));
  expect(await find('a/*/y.json')).toEqual(['<project>/a/deep/y.json', '<project>/a/link/y.json']);
});

test('richer patterns also work', async () => {
  const { find } = createTree();
  expect(await find('a/**/*.json')).toEqual([
    '<project>/a/.hidden.json',
    '<project>/a/deep/y.json',
    '<project>/a/x.json',
  ]);
  expect(await find('{b,a}/x.json')).toEqual(['<project>/a/x.json', '<project>/b/x.json']);
  expect(await find('?/x.json')).toEqual(['<project>/a/x.json', '<project>/b/x.json']);
  expect(await find('*/x.json', '!b/*')).toEqual([
    '<project>/.dot/x.json',
    '<project>/a/x.json',
    '<project>/b (2)/x.json',
  ]);
});

test.each([
  '../other/*.json',
  '*/../../other/*.json',
  './../other/**',
  '**/../../other/x.json',
  'a/../../other/{x,y}.json',
  '{..,a}/other/x.json',
  '{a,../..}/other/x.json',
  '{a/../..,b}/other/x.json',
  '@(..|a)/other/x.json',
  '..',
])('%s leads out of the project and is not searched', async (pattern) => {
  const { folder, homeFolder } = createTree();
  expect(await findFiles([pattern, 'a/x.json'], folder, homeFolder)).toEqual({
    files: [join(folder, 'a/x.json')],
    warnings: [
      `discoverGlobs: ${pattern} points outside the project (ignored). Use an absolute path.`,
    ],
  });
});

describe('a search is limited', () => {
  const LARGE = { folders: 1_000, files: 1_000, ms: 600_000 };

  function createMany() {
    const names = Array.from({ length: 40 }, (_, n) => `many/${n}/deep/x.json`);
    return createProject(Object.fromEntries(names.map((name) => [name, ''])));
  }

  test.each(['many/**/x.json', 'many/*/*/x.json', '/**/x.json'])(
    'by folders, with a warning: %s',
    async (pattern) => {
      const { folder, homeFolder } = createMany();
      const limits = { ...LARGE, folders: 30 };
      const { files, warnings } = await findFiles([pattern], folder, homeFolder, limits);
      expect(files.length).toBeLessThan(40);
      expect(warnings).toEqual([
        `discoverGlobs: ${pattern} matches too much. The search stopped after 30 folders, so servers may be missing. Use a narrower pattern.`,
      ]);
    },
  );

  test.each(['many/**', 'many/*/deep/*'])('by files: %s', async (pattern) => {
    const { folder, homeFolder } = createMany();
    const limits = { ...LARGE, files: 10 };
    const { files, warnings } = await findFiles([pattern], folder, homeFolder, limits);
    expect(files).toHaveLength(10);
    expect(warnings).toEqual([expect.stringContaining('stopped after 10 files')]);
  });

  test.each(['many/**/x.json', 'many/*/*/x.json'])('by time: %s', async (pattern) => {
    const { folder, homeFolder } = createMany();
    const limits = { ...LARGE, ms: -1 };
    const { files, warnings } = await findFiles([pattern], folder, homeFolder, limits);
    expect(files).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining('The search stopped after')]);
  });

  test('and finds everything within its limits', async () => {
    const { folder, homeFolder } = createMany();
    for (const pattern of ['many/**/x.json', 'many/*/*/x.json']) {
      const { files, warnings } = await findFiles([pattern], folder, homeFolder, LARGE);
      expect({ found: files.length, warnings }).toEqual({ found: 40, warnings: [] });
    }
  });
});

test('problems of a search are among the configuration’s warnings', async () => {
  const project = createProject({
    'switchboard.config.json': { discoverGlobs: ['../x/.mcp.json'] },
  });
  expect((await project.load()).warnings).toEqual([
    'discoverGlobs: ../x/.mcp.json points outside the project (ignored). Use an absolute path.',
  ]);
});
