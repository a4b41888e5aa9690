import { expect, test } from 'vitest';
import { isExposed } from '../../../src/config/expose.ts';

const allow = (...patterns: string[]) => ({ allow: patterns, deny: undefined });
const deny = (...patterns: string[]) => ({ allow: undefined, deny: patterns });

test.each([
  ['click', allow('click'), true],
  ['Click', allow('click'), false],
  ['browser_click', allow('browser_*'), true],
  ['browser_', allow('browser_*'), true],
  ['browse', allow('browser_*'), false],
  ['a_mid_b', allow('a*mid*b'), true],
  ['aab', allow('a*ab'), true],
  ['ab', allow('ab*b'), false],
  ['anything', allow('*'), true],
  ['anything', allow(), false],
  ['click', deny('cli*'), false],
  ['type', deny('cli*'), true],
  ['a.c', allow('a?c'), false],
  ['(x)', allow('(x)'), true],
])('%s under %o: %s', (name, expose, expected) => {
  expect(isExposed(name, expose)).toBe(expected);
});

test('deny wins over allow', () => {
  expect(isExposed('browser_run', { allow: ['browser_*'], deny: ['browser_run'] })).toBe(false);
});

test('without any rule everything is exposed', () => {
  expect(isExposed('x', { allow: undefined, deny: undefined })).toBe(true);
});

test('a pattern full of stars takes no more time than it has letters', () => {
  expect(isExposed('a'.repeat(50_000), allow(`${'*a'.repeat(500)}b`))).toBe(false);
});
