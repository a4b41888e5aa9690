// Every test runs in some suite. A file can be split between two with `slow.ts`, but then both have to include it.
import { readFileSync } from 'node:fs';
import { globSync } from 'tinyglobby';
import { expect, test } from 'vitest';
import type { TestProjectInlineConfiguration } from 'vitest/config';
import config from '../../vitest.config.ts';

const projects = (config.test?.projects ?? []) as TestProjectInlineConfiguration[];

function filesOf(name: string): readonly string[] {
  const found = projects.find(({ test: one }) => one?.name === name)?.test;
  return globSync(found?.include ?? [], { ignore: found?.exclude ?? [] });
}

const quick = new Set([...filesOf('unit'), ...filesOf('e2e')]);
const thorough = new Set(filesOf('thorough'));
const others = ['sandbox', 'engine', 'hosts'].flatMap(filesOf);
const isSplit = (file: string): boolean =>
  /support\/slow\.ts'|'\.\/matrix\.ts'/.test(readFileSync(file, 'utf8'));

test('each file belongs to a suite', () => {
  const all = globSync('test/**/*.test.ts');
  expect(all.length).toBeGreaterThan(200);
  const known = new Set([...quick, ...thorough, ...others]);
  expect(all.filter((file) => !known.has(file))).toEqual([]);
});

test('a file that leaves some of its tests to another suite is part of both', () => {
  const split = [...quick, ...thorough].filter(isSplit);
  expect(split.length).toBeGreaterThan(10);
  expect(split.filter((file) => !quick.has(file) || !thorough.has(file))).toEqual([]);
});
