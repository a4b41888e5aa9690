// Sign-ins of a user who has a secret store: encrypted on disk, and used like any other.
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Cancellation } from '../../../../src/base/cancellation.ts';
import { openCredentials } from '../../../../src/child/sign-in/open.ts';
import { signIn } from '../../../../src/child/sign-in/sign-in.ts';
import { signOut } from '../../../../src/child/sign-in/sign-out.ts';
import {
  readSignIn,
  type StoredSignIn,
  signInFile,
  writeSignIn,
} from '../../../../src/child/sign-in/token-store.ts';
import { SecretStore } from '../../../../src/trust/secrets/store.ts';
import { startAuthorizationServer } from '../../../support/authorization-server.ts';
import { temporaryFolder } from '../../../support/fake-child.ts';

async function createUser() {
  const issuer = await startAuthorizationServer({});
  onTestFinished(() => issuer[Symbol.asyncDispose]());
  const home = temporaryFolder();
  const store = new SecretStore({ home, env: {}, machine: 'none' });
  const folder = join(home, 'tokens');
  const file = await signInFile(folder, issuer.serverUrl);
  const server = { childName: 'files', url: issuer.serverUrl, folder };
  const openSeal = () => store.sealer();
  const enter = () =>
    signIn({
      ...server,
      cancellation: new Cancellation(),
      visit: async (address) => void (await fetch(address)),
      openSeal,
    });
  return { store, file, server, openSeal, enter };
}

test('without a store, the file stays readable', async () => {
  const { file, enter } = await createUser();
  const signedIn = await enter();
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
    accessToken: signedIn?.accessToken,
  });
});

test('with a store, no token is on disk, and the sign-in is used and renewed', async () => {
  const { store, file, server, openSeal, enter } = await createUser();
  await store.set('any', 'value');
  const signedIn = await enter();
  const tokens = [signedIn?.accessToken ?? '', signedIn?.refreshToken ?? ''];
  for (const token of tokens) expect(readFileSync(file, 'utf8')).not.toContain(token);
  const credentials = openCredentials({ ...server, openSeal });
  const header = await credentials.authorization();
  expect(header).toBe(`Bearer ${signedIn?.accessToken}`);
  const renewed = await credentials.renew(header);
  expect(renewed).toMatch(/^Bearer /);
  expect(renewed).not.toBe(header);
  expect(readFileSync(file, 'utf8')).not.toContain(renewed?.slice('Bearer '.length));
  expect(await openCredentials({ ...server, openSeal }).authorization()).toBe(renewed);
});

test('a sign-in from before the store is used, and encrypted by its next renewal', async () => {
  const { store, file, server, openSeal, enter } = await createUser();
  await enter();
  await store.set('any', 'value');
  const credentials = openCredentials({ ...server, openSeal });
  const header = await credentials.authorization();
  expect(header).toMatch(/^Bearer /);
  const renewed = await credentials.renew(header);
  expect(readFileSync(file, 'utf8')).not.toContain(renewed?.slice('Bearer '.length));
});

test('without the key, or under another name, it can’t be read; signing out works', async () => {
  const { store, file, server, openSeal, enter } = await createUser();
  await store.set('any', 'value');
  const signedIn = await enter();
  expect(await readSignIn(file)).toBe('damaged');
  const other = await signInFile(server.folder, 'https://example.com');
  writeSignIn(other, signedIn as StoredSignIn, await openSeal());
  expect(await readSignIn(other, openSeal)).toMatchObject({ version: 1 });
  copyFileSync(file, other);
  expect(await readSignIn(other, openSeal)).toBe('damaged');
  const locked = () => Promise.reject(new Error('The keychain is locked.'));
  await expect(readSignIn(file, locked)).rejects.toThrow('locked');
  const { wasSignedIn } = await signOut({
    ...server,
    cancellation: new Cancellation(),
    openSeal: locked,
  });
  expect(wasSignedIn).toBe(true);
  expect(await readSignIn(file, openSeal)).toBe('nothing');
});
