// Which server and which tool words on the command line mean.
import { expect, test } from 'vitest';
import { findTarget } from '../../../src/cli/tools/target.ts';
import type { Config } from '../../../src/config/config.ts';
import { childConfig } from '../../support/child-config.ts';

const children = new Map(
  ['a', 'a.b', 'memory', 'x.y'].map((name) => [name, childConfig({ name })]),
);
const find = (...words: string[]) => {
  const { child, subtool, rest } = findTarget({ children } as unknown as Config, words);
  return [child.name, subtool, ...rest];
};

test.each([
  [
    ['memory', 'search'],
    ['memory', 'search'],
  ],
  [['memory.search'], ['memory', 'search']],
  [
    ['memory', 'search', 'q=1'],
    ['memory', 'search', 'q=1'],
  ],
  [
    ['memory.search', 'q=1', 'r:=2'],
    ['memory', 'search', 'q=1', 'r:=2'],
  ],
  [
    ['memory.search', '{"q": 1}'],
    ['memory', 'search', '{"q": 1}'],
  ],
  [
    ['memory.search', '-'],
    ['memory', 'search', '-'],
  ],
  [
    ['memory', 'a.b.c'],
    ['memory', 'a.b.c'],
  ],
  [['a.b.c'], ['a.b', 'c']],
  [
    ['a.b', 'c'],
    ['a.b', 'c'],
  ],
  [
    ['a.b', 'c=1'],
    ['a', 'b', 'c=1'],
  ],
  [['a.b'], ['a', 'b']],
  [
    ['a', 'b.c'],
    ['a', 'b.c'],
  ],
  [['x.y.tool.with.dots'], ['x.y', 'tool.with.dots']],
  [['memory'], ['memory', undefined]],
  [
    ['x.y', 'q=1'],
    ['x.y', undefined, 'q=1'],
  ],
])('%j is %j', (words, target) => {
  expect(find(...words)).toEqual(target);
});

test.each([
  [['memry.search'], 'No server is named "memry".', 'Did you mean memory?'],
  [['memry', 'search'], 'No server is named "memry".', 'Did you mean memory?'],
  [['x.z', 'search'], 'No server is named "x.z".', 'Did you mean x.y?'],
])('%j names no server', (words, message, hint) => {
  expect(() => find(...words)).toThrow(
    expect.objectContaining({
      code: 'CHILD_UNKNOWN',
      message,
      hint: expect.stringContaining(hint),
    }),
  );
});
