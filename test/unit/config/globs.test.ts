import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findFiles } from '../../../src/config/globs.ts';
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
    (await findFiles(patterns, project.folder, project.homeFolder)).map(project.plain);
  return { ...project, find };
}

test('a star stands for any name or part of one, dots included, and the order is fixed', async () => {
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

test('patterns keep their order, and a file is found once', async () => {
  const { find } = createTree();
  expect(await find('b/*.json', 'a/x.json', '[ab]/x.json')).toEqual([
    '<project>/b/x.json',
    '<project>/a/x.json',
  ]);
});

test('absolute patterns, home and parents are possible', async () => {
  const { find, folder } = createTree();
  expect(await find(`${folder}/b/*.txt`)).toEqual(['<project>/b/x.txt']);
  expect(await find('~/h/*.json', '~/{h,i}/x.json')).toEqual(['<home>/h/x.json']);
  expect(await find('./a/../b/*.txt')).toEqual(['<project>/b/x.txt']);
  expect(await find('../other/*.json')).toEqual([join(folder, '../other/x.json')]);
});

test('a folder that does not exist is no error', async () => {
  const { find } = createTree();
  expect(await find('nowhere/*/x.json', 'a/x.json/*/y', 'nowhere/**/x')).toEqual([]);
});

test('links to folders are followed', async () => {
  const { find, folder } = createTree();
  symlinkSync(join(folder, 'a/deep'), join(folder, 'a/link'));
  expect(await find('a/*/y.json')).toEqual(['<project>/a/deep/y.json', '<project>/a/link/y.json']);
});

test('richer patterns work too', async () => {
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
