import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { SecretStore } from '../../../src/trust/secrets/store.ts';
import { temporaryFolder } from '../../support/fake-child.ts';
import { createStandIns } from '../../support/stand-ins.ts';

const VALUE = 'canary-of-the-store';

function openStore(machine = 'linux-x64', more: Record<string, string> = {}) {
  const home = temporaryFolder();
  const standIns = createStandIns(home);
  const open = () => new SecretStore({ home, env: { ...standIns.env, ...more }, machine });
  return { home, standIns, open, store: open() };
}

const textOf = (file: string): string => readFileSync(file, 'utf8');
const modeOf = (file: string): number => statSync(file).mode & 0o777;

describe('with the key in a file', () => {
  test('secrets are kept, listed, replaced and removed', async () => {
    const { store, open } = openStore();
    expect(store.list()).toEqual([]);
    expect(store.keyPlace).toBeUndefined();
    expect(await store.get('a')).toBeUndefined();
    expect(await store.set('b', VALUE)).toEqual({
      isNew: true,
      keyPlace: 'file',
      keychainProblem: undefined,
    });
    await store.set('a', 'line one\nline "two" 🦊');
    expect(await open().get('b')).toBe(VALUE);
    expect(await open().get('a')).toBe('line one\nline "two" 🦊');
    expect(
      open()
        .list()
        .map(({ name }) => name),
    ).toEqual(['a', 'b']);
    expect((await store.set('b', 'another')).isNew).toBe(false);
    expect(await store.get('b')).toBe('another');
    expect([await store.remove('b'), await store.remove('b')]).toEqual([true, false]);
    expect(store.list().map(({ name }) => name)).toEqual(['a']);
  });

  test('only the user can read the files, and neither has the value', async () => {
    const { store } = openStore();
    await store.set('a', VALUE);
    for (const file of [store.file, store.keyFile]) {
      expect(modeOf(file)).toBe(0o600);
      expect(textOf(file)).not.toContain(VALUE);
      expect(textOf(file)).not.toContain(Buffer.from(VALUE).toString('base64').slice(0, 12));
    }
  });

  test('writers at the same time lose nothing', async () => {
    const { open } = openStore();
    const names = Array.from({ length: 10 }, (_none, index) => `n${index}`);
    await Promise.all(names.map((name) => open().set(name, `${VALUE} ${name}`)));
    for (const name of names) expect(await open().get(name)).toBe(`${VALUE} ${name}`);
  });

  test('a store that was deleted and filled again is readable at once', async () => {
    const { store, open } = openStore();
    await store.set('a', VALUE);
    expect(await store.get('a')).toBe(VALUE);
    rmSync(store.file);
    await open().set('a', 'another');
    expect(await store.get('a')).toBe('another');
  });

  test('changed and swapped entries are noticed', async () => {
    const { store, open } = openStore();
    await store.set('a', VALUE);
    await store.set('b', 'something else');
    const stored = JSON.parse(textOf(store.file)) as { secrets: Record<string, { data: string }> };
    const { a, b } = stored.secrets;
    writeFileSync(store.file, JSON.stringify({ ...stored, secrets: { a: b, b: a } }));
    await expect(open().get('a')).rejects.toMatchObject({ code: 'SECRETS_UNAVAILABLE' });
    const data = Buffer.from(a?.data ?? '', 'base64');
    data[0] = (data[0] ?? 0) ^ 1;
    const changed = { ...a, data: data.toString('base64') };
    writeFileSync(store.file, JSON.stringify({ ...stored, secrets: { a: changed } }));
    await expect(open().get('a')).rejects.toThrow(
      'The secret "a" can\'t be decrypted with the stored key.',
    );
  });

  test('damaged files are explained', async () => {
    const { store, open } = openStore();
    await store.set('a', VALUE);
    writeFileSync(store.keyFile, 'short');
    await expect(open().get('a')).rejects.toThrow(/The key to your secrets in .* is damaged/);
    writeFileSync(store.file, '{"version": 1');
    expect(() => open().list()).toThrow(/secrets\.json is damaged/);
  });
});

describe.each([
  ['linux-x64', 'secret-tool'],
  ['darwin-arm64', 'security'],
])('with the key in the keychain (%s, a stand-in for %s)', (machine) => {
  test('nothing in the home can decrypt the secrets, and no argument has the key', async () => {
    const { store, open, standIns } = openStore(machine);
    expect(await store.set('a', VALUE, 'keychain')).toMatchObject({ keyPlace: 'keychain' });
    expect(existsSync(store.keyFile)).toBe(false);
    const [key = ''] = Object.values(standIns.keyring());
    expect(Buffer.from(key, 'base64')).toHaveLength(32);
    expect(textOf(store.file)).not.toContain(key);
    expect(standIns.commands().join()).not.toContain(key);
    expect(await open().get('a')).toBe(VALUE);
  });

  test('the keychain is read once per process', async () => {
    const { store, open, standIns } = openStore(machine);
    await store.set('a', VALUE, 'keychain');
    const before = standIns.commands().length;
    const other = open();
    await Promise.all([other.get('a'), other.get('a')]);
    await other.get('a');
    expect(standIns.commands()).toHaveLength(before + 1);
  });

  test('the key can be moved in and out, and every secret stays readable', async () => {
    const { store, open, standIns } = openStore(machine);
    await store.set('old', VALUE);
    await store.set('new', 'x', 'keychain');
    expect(existsSync(store.keyFile)).toBe(false);
    expect(await open().get('old')).toBe(VALUE);
    expect(await open().set('new', 'y')).toMatchObject({ keyPlace: 'keychain' });
    expect(await open().set('new', 'z', 'file')).toMatchObject({ keyPlace: 'file' });
    expect(standIns.keyring()).toEqual({});
    expect(await open().get('old')).toBe(VALUE);
  });

  test('a lost key is explained', async () => {
    const { store, open, standIns } = openStore(machine);
    await store.set('a', VALUE, 'keychain');
    writeFileSync(standIns.env['STAND_IN_KEYRING'] ?? '', '{}');
    await expect(open().get('a')).rejects.toThrow(/The key to your secrets is missing from/);
    expect(open().list()).toHaveLength(1);
  });
});

describe('without a usable keychain', () => {
  test.each([
    ['a locked keyring', 'linux-x64', { STAND_IN_LOCKED: '1' }, /locked collection/],
    ['no program', 'linux-x64', { PATH: '/nowhere' }, /secret-tool/],
    ['another system', 'win32-x64', {}, /can't use a keychain on this system/],
  ])(
    '%s: the key goes to the file, and the reason is told',
    async (_what, machine, env, reason) => {
      const { store, open } = openStore(machine, env);
      const kept = await store.set('a', VALUE, 'keychain');
      expect(kept.keyPlace).toBe('file');
      expect(kept.keychainProblem).toMatch(reason);
      expect(modeOf(store.keyFile)).toBe(0o600);
      expect(await open().get('a')).toBe(VALUE);
    },
  );
});
