import { expect, test } from 'vitest';
import { isExposed } from '../../../src/config/server/expose.ts';

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

test.each([
  'delete_file',
  'Delete_File',
  'DELETE_FILE',
  'delete-file',
  'Delete File',
  'delete\tfile',
  ' delete_file ',
  'delete_file\n',
  'delete\u200b_file',
  'delete_\u00adfile',
  '\uff44\uff45lete_file', // fullwidth letters
  'delete\uff3ffile',
  'dele\u0074e_ﬁle', // a ligature
  '\u001b[1mdelete_file',
])('names a server may treat as a denied name are denied: %j', (name) => {
  expect(isExposed(name, deny('delete_file'))).toBe(false);
  expect(isExposed(name, deny('delete_*'))).toBe(false);
  expect(isExposed(name, deny('Delete-File'))).toBe(false);
  expect(isExposed(name, { allow: ['*'], deny: ['x', 'DELETE file'] })).toBe(false);
  expect(isExposed(name, { ...allow('*'), within: deny('delete_file') })).toBe(false);
});

test.each(['deletefile', 'deleted_file', 'undelete_file', 'delete__file', 'delete_files'])(
  'another name is not: %s',
  (name) => {
    expect(isExposed(name, deny('delete_file'))).toBe(true);
  },
);

test('allowed names are compared exactly', () => {
  for (const name of ['Read_File', 'read-file', 'read file', 'read_file\u200b']) {
    expect(isExposed(name, allow('read_file'))).toBe(false);
  }
});

test('deny overrides allow', () => {
  expect(isExposed('browser_run', { allow: ['browser_*'], deny: ['browser_run'] })).toBe(false);
});

test('a name that is too long to compare is not exposed if there are rules', () => {
  const name = 'a-'.repeat(5_000_000);
  expect(isExposed(name, { allow: undefined, deny: ['b'] })).toBe(false);
  expect(isExposed(name, allow('*'))).toBe(false);
});

test('without rules everything is exposed', () => {
  expect(isExposed('x', { allow: undefined, deny: undefined })).toBe(true);
});

test('a pattern full of stars takes linear time', () => {
  expect(isExposed('a'.repeat(50_000), allow(`${'*a'.repeat(500)}b`))).toBe(false);
});
