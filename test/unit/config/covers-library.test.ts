// Which rules may restrict a server's prompts and resources.
import { expect, test } from 'vitest';
import { Permissions, type PermissionsFile } from '../../../src/config/server/permissions.ts';

const covers = (lists: Partial<PermissionsFile>): boolean | undefined => {
  const names = { users: ['box'], all: ['box', 'other'] };
  const file = { file: '/f', isUsers: true, ...lists };
  const places = { usersFile: '/f', home: '/h' };
  return new Permissions([file], names, places).rulesFor({ name: 'box' })?.coversLibrary;
};

test.each<[Partial<PermissionsFile>]>([
  [{ deny: ['box'] }],
  [{ deny: ['*'] }],
  [{ deny: ['box__secret'] }],
  [{ ask: ['box__box://*'] }],
  [{ ask: ['*__delete_*'] }],
  [{ deny: ['@read'] }],
  [{ ask: ['box__@read', '!box__open'] }],
  [{ default: 'deny' }],
  [{ default: 'ask', allow: ['box__look', '@write'] }],
])('%j may', (lists) => {
  expect(covers(lists)).toBe(true);
});

test.each<[Partial<PermissionsFile>]>([
  [{ deny: ['@destructive'] }],
  [{ ask: ['box__@write'], deny: ['@open'] }],
  [{ default: 'deny', allow: ['@read'] }],
  [{ default: 'ask', allow: ['box'] }],
])('%j do not', (lists) => {
  expect(covers(lists)).toBe(false);
});

test('rules for another server do not matter', () => {
  expect(covers({ deny: ['other__x'] })).toBe(undefined);
});
