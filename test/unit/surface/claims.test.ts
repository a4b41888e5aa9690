import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Claims } from '../../../src/surface/claims.ts';
import { childConfig } from '../../support/child-config.ts';
import { temporaryFolder } from '../../support/fake-child.ts';

const kid = childConfig({ name: 'kid' });
const CLAIM = { hints: { readOnlyHint: true }, words: ['read'] };

function openClaims(folder = temporaryFolder()) {
  const path = join(folder, 'claims/one.json');
  const catalog = join(folder, 'catalog');
  return { folder, path, catalog, claims: new Claims({ path, catalog }) };
}

test('claims are kept for the same server and the same rules', async () => {
  const { claims, folder, path } = openClaims();
  expect(claims.get(kid)).toBeUndefined();
  claims.set(kid, CLAIM);
  claims.set(childConfig({ name: 'unknown' }), { hints: undefined, words: [] });
  await claims.written();
  expect(statSync(path).mode & 0o077).toBe(0);
  expect(readdirSync(join(folder, 'claims'))).toHaveLength(1);
  const next = openClaims(folder).claims;
  expect(next.get(kid)).toMatchObject(CLAIM);
  expect(next.get(childConfig({ name: 'unknown' }))).toMatchObject({ hints: undefined, words: [] });
  const expose = { allow: ['a'], deny: undefined };
  const command = { cmd: 'other', args: [], env: {} };
  for (const other of [{ expose }, { command }, { cwd: '/elsewhere' }, { origin: '/x.json' }]) {
    expect(next.get({ ...kid, ...other })).toBeUndefined();
  }
});

test('the file is written only when a claim changes', async () => {
  const { claims, folder, path } = openClaims();
  claims.get(kid);
  await claims.written();
  expect(existsSync(path)).toBe(false);
  claims.set(kid, CLAIM);
  await claims.written();
  const { mtimeMs } = statSync(path);
  const next = openClaims(folder).claims;
  next.set(kid, { ...CLAIM });
  await next.written();
  expect(statSync(path).mtimeMs).toBe(mtimeMs);
});

test('a changed catalog makes the claims outdated', async () => {
  const { claims, folder, catalog } = openClaims();
  claims.set(kid, CLAIM);
  expect(claims.becomeCurrent()).toBe(false);
  await claims.written();
  expect(openClaims(folder).claims.becomeCurrent()).toBe(false);
  mkdirSync(catalog);
  const second = openClaims(folder).claims;
  expect(second.becomeCurrent()).toBe(true);
  expect(second.becomeCurrent()).toBe(false);
  await second.written();
  expect(openClaims(folder).claims.becomeCurrent()).toBe(false);
  utimesSync(catalog, 1, 1);
  expect(openClaims(folder).claims.becomeCurrent()).toBe(true);
});

test.each(['', '{', '[]', '{"form":2,"claims":{"kid":{}}}', '{"form":1,"claims":[]}'])(
  'a file with %j in it is ignored',
  (text) => {
    const { claims, folder, path } = openClaims();
    mkdirSync(join(folder, 'claims'));
    writeFileSync(path, text);
    expect(claims.get(kid)).toBeUndefined();
  },
);

test('claims work in memory if the file cannot be written', async () => {
  const { claims, folder } = openClaims();
  writeFileSync(join(folder, 'claims'), 'a file');
  for (const some of [claims, new Claims()]) {
    some.set(kid, CLAIM);
    await some.written();
    expect(some.get(kid)).toMatchObject(CLAIM);
  }
  expect(readFileSync(join(folder, 'claims'), 'utf8')).toBe('a file');
});
