// The whole way of a sign-in, with a real issuer on this machine and a browser that is a fetch.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Cancellation } from '../../../../src/base/cancellation.ts';
import { SwitchboardError } from '../../../../src/base/errors.ts';
import { type SignInOptions, signIn } from '../../../../src/child/sign-in/sign-in.ts';
import { signOut } from '../../../../src/child/sign-in/sign-out.ts';
import { type StoredSignIn, signInFile } from '../../../../src/child/sign-in/token-store.ts';
import {
  type AuthorizationServer,
  type Faults,
  startAuthorizationServer,
} from '../../../support/authorization-server.ts';

interface Attempt {
  readonly issuer: AuthorizationServer;
  readonly folder: string;
  /** Addresses that a browser was sent to. */
  readonly visited: URL[];
  readonly pages: { readonly status: number; readonly text: string }[];
  readonly options: SignInOptions;
  readonly run: (more?: Partial<SignInOptions>) => Promise<StoredSignIn | undefined>;
}

async function prepare(faults: Faults = {}): Promise<Attempt> {
  const issuer = await startAuthorizationServer(faults);
  onTestFinished(() => issuer[Symbol.asyncDispose]());
  const folder = join(mkdtempSync(join(tmpdir(), 'switchboard-sign-in-')), 'tokens');
  onTestFinished(() => rmSync(join(folder, '..'), { recursive: true, force: true }));
  const visited: URL[] = [];
  const pages: { status: number; text: string }[] = [];
  const options: SignInOptions = {
    childName: 'files',
    url: issuer.serverUrl,
    folder,
    cancellation: new Cancellation(),
    visit: async (address) => {
      visited.push(address);
      const page = await fetch(address);
      pages.push({ status: page.status, text: await page.text() });
    },
  };
  const run = async (more: Partial<SignInOptions> = {}) => signIn({ ...options, ...more });
  return { issuer, folder, visited, pages, options, run };
}

/** The text of the failure, after a look for secrets in it. */
async function failureOf({ issuer }: Attempt, promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => expect.fail('did not fail'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof SwitchboardError)) throw error;
  for (const secret of issuer.secrets) expect(error.text).not.toContain(secret);
  return `${error.code} ${error.text}`.replaceAll(/127\.0\.0\.1:\d+/g, 'HOST');
}

test('signs in, and the server accepts the token', async () => {
  const attempt = await prepare();

  const signedIn = await attempt.run();

  expect(attempt.issuer.accepts(`Bearer ${signedIn?.accessToken}`)).toBe(true);
  const { issuer, serverUrl } = attempt.issuer;
  expect(signedIn).toMatchObject({ issuer, resource: serverUrl, serverUrl, scope: 'tools' });
  const [address] = attempt.visited;
  expect(Object.fromEntries(address?.searchParams ?? [])).toEqual({
    response_type: 'code',
    client_id: signedIn?.client.client_id,
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge_method: 'S256',
    redirect_uri: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/callback$/),
    state: expect.stringMatching(/^[\w-]{43}$/),
    scope: 'tools',
    resource: serverUrl,
  });
  expect(attempt.pages).toEqual([
    { status: 200, text: expect.stringContaining('You can close this window.') },
  ]);
});

test('the file is private, and nothing else is left', async () => {
  const attempt = await prepare();

  const signedIn = await attempt.run();

  const file = await signInFile(attempt.folder, attempt.issuer.serverUrl);
  expect(readdirSync(attempt.folder).map((name) => join(attempt.folder, name))).toEqual([file]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(attempt.folder).mode & 0o777).toBe(0o700);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(JSON.parse(JSON.stringify(signedIn)));
});

test('the callback is closed afterwards, and accepted no other path', async () => {
  const attempt = await prepare();
  const others: (number | undefined)[] = [];
  let back = '';
  await attempt.run({
    visit: async (address) => {
      back = address.searchParams.get('redirect_uri') ?? '';
      others.push((await fetch(new URL('/favicon.ico', back))).status);
      others.push((await fetch(new URL('/', back))).status);
      others.push((await fetch(back, { method: 'POST' })).status);
      others.push(await statusOf(new URL(back).port, '//'));
      await fetch(address);
    },
  });
  expect(others).toEqual([404, 404, 404, 404]);
  await expect(fetch(back)).rejects.toThrow('fetch failed');
});

/** The answer to a path that no URL can have. */
function statusOf(port: string, path: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const request = get({ host: '127.0.0.1', port, path }, ({ statusCode }) => resolve(statusCode));
    request.once('error', reject);
  });
}

test('a registered client uses its own id and secret', async () => {
  const attempt = await prepare({ metadata: { registration_endpoint: undefined } });

  const signedIn = await attempt.run({
    oauth: { clientId: 'configured', clientSecret: 'configured-secret-value', scopes: ['a', 'b'] },
  });

  expect(attempt.issuer.accepts(`Bearer ${signedIn?.accessToken}`)).toBe(true);
  expect(attempt.visited[0]?.searchParams.get('scope')).toBe('a b');
});

test('the callback port can be fixed', async () => {
  const probe = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => probe.once('listening', resolve));
  const { port } = probe.address() as AddressInfo;
  const attempt = await prepare();

  const failure = await failureOf(attempt, attempt.run({ oauth: { callbackPort: port } }));
  expect(failure).toBe(
    `SIGN_IN_FAILED Signing in to server "files" failed: port ${port} on this machine can't be used (EADDRINUSE). The browser returns to this port. Stop the program that uses it, or set another "callbackPort".`,
  );

  await new Promise((resolve) => probe.close(resolve));
  await attempt.run({ oauth: { callbackPort: port } });
  expect(attempt.visited[0]?.searchParams.get('redirect_uri')).toBe(
    `http://127.0.0.1:${port}/callback`,
  );
});

test('an open server needs no sign-in', async () => {
  const attempt = await prepare({ open: true });
  expect(await attempt.run()).toBeUndefined();
  expect(attempt.visited).toEqual([]);
});

test('an older server without metadata is its own issuer', async () => {
  const attempt = await prepare({ hideResourceMetadata: true });
  const signedIn = await attempt.run();
  expect(signedIn?.issuer).toBe(attempt.issuer.issuer);
  expect(attempt.visited[0]?.searchParams.get('resource')).toBe(attempt.issuer.serverUrl);
});

const OTHER_ISSUER = 'the authorization response came from a different authorization server';

test.each<[string, Record<string, string | undefined>, string]>([
  ['another issuer', { iss: 'https://evil.example' }, OTHER_ISSUER],
  ['no issuer, though one was promised', { iss: undefined }, OTHER_ISSUER],
  [
    'another issuer and a text of its own',
    { code: undefined, iss: 'https://evil.example', error: 'call 555' },
    OTHER_ISSUER,
  ],
  [
    'a refusal',
    { code: undefined, error: 'access_denied', error_description: 'Not today.' },
    'http://HOST returned access_denied: Not today',
  ],
  ['no code', { code: undefined }, 'the authorization response has no code'],
  ['a wrong code', { code: 'wrong' }, 'the code that came back was refused (invalid_grant)'],
])('an answer with %s fails the sign-in', async (_, answer, reason) => {
  const attempt = await prepare({ answer });
  expect(await failureOf(attempt, attempt.run())).toBe(
    `SIGN_IN_FAILED Signing in to server "files" failed: ${reason}.`,
  );
  expect(readdirSync(join(attempt.folder, '..'))).toEqual([]);
});

test.each([
  ['a wrong state', 'A'.repeat(43)],
  ['no state', undefined],
])('an answer with %s is rejected, and the right one is awaited', async (_, state) => {
  const attempt = await prepare();
  const turnedAway: number[] = [];
  const signedIn = await attempt.run({
    visit: async (address) => {
      const foreign = new URL(address.searchParams.get('redirect_uri') ?? '');
      foreign.search = new URLSearchParams({ code: 'foreign', ...(state && { state }) }).toString();
      turnedAway.push((await fetch(foreign)).status, (await fetch(foreign)).status);
      await attempt.options.visit(address, '');
    },
  });
  expect(turnedAway).toEqual([400, 400]);
  expect(attempt.issuer.accepts(`Bearer ${signedIn?.accessToken}`)).toBe(true);
});

test('an issuer that does not promise `iss` need not send it', async () => {
  const attempt = await prepare({
    metadata: { authorization_response_iss_parameter_supported: undefined },
    answer: { iss: undefined },
  });
  expect(await attempt.run()).toBeDefined();
});

const NOT_USABLE =
  'the metadata of its authorization server cannot be used (authorization_endpoint).';
const notOpened = (why: string, beginning: string) =>
  `Switchboard won't open the sign-in page because its URL ${why}. It starts with: ${beginning}`;

test.each([
  ['javascript:', 'javascript:alert(1)', NOT_USABLE],
  ['data:', 'data:text/html,hello', NOT_USABLE],
  ['an option', '--flag', NOT_USABLE],
  ['one with a command', 'http://a$(touch x)', NOT_USABLE],
  ['file:', 'file:///etc/passwd', notOpened('is not https', 'file:///etc/passwd')],
  ["a program's own", 'vscode://open', notOpened('is not https', 'vscode://open')],
  ['http', 'http://host.example/a', notOpened('is not https', 'http://host.example/a')],
  [
    'two hosts',
    'https://accounts.example@evil.example/',
    notOpened('contains a user name', 'https://accounts.example@evil.example/'),
  ],
  [
    '100 KB',
    `https://host.example/${'a'.repeat(100_000)}`,
    notOpened('is longer than 8000 characters', `https://host.example/${'a'.repeat(79)}`),
  ],
])('no user is sent to a hostile URL: %s', async (_, authorization_endpoint, reason) => {
  const attempt = await prepare({ metadata: { authorization_endpoint } });
  expect(await failureOf(attempt, attempt.run())).toBe(
    `SIGN_IN_FAILED Signing in to server "files" failed: ${reason}`,
  );
  expect(attempt.visited).toEqual([]);
  expect(attempt.issuer.received.map(({ path }) => path)).not.toContain('/register');
});

test('shell characters arrive as part of the URL', async () => {
  const authorization_endpoint = 'https://host.example/`touch x`;"$(touch x)';
  const attempt = await prepare({ metadata: { authorization_endpoint } });
  const visit = async (address: URL): Promise<void> => {
    attempt.visited.push(address);
    throw new SwitchboardError('CANCELLED', 'Seen.');
  };
  await expect(attempt.run({ visit })).rejects.toThrow('Seen.');
  expect(attempt.visited[0]?.href).toContain(
    'https://host.example/%60touch%20x%60;%22$(touch%20x)?',
  );
});

test.each<[string, Faults, string]>([
  [
    'an issuer of another name',
    { metadata: { issuer: 'https://other.example' } },
    'the authorization server at http://HOST calls itself https://other.example.',
  ],
  [
    'metadata without an endpoint',
    { metadata: { token_endpoint: undefined } },
    'the metadata of its authorization server cannot be used (token_endpoint).',
  ],
  [
    'an issuer without S256',
    { metadata: { code_challenge_methods_supported: ['plain'] } },
    'the metadata of http://HOST cannot be used (Incompatible auth server: does not support code challenge method S256).',
  ],
  [
    'an issuer that registers nobody',
    { metadata: { registration_endpoint: undefined } },
    'http://HOST does not support automatic registration. Register Switchboard there yourself, with the redirect URL http://127.0.0.1:<port>/callback, and add to the server: "oauth": {"clientId": "…", "callbackPort": <port>}.',
  ],
  [
    'a registration that is refused',
    { registration: { status: 403, body: '{"error":"no"}' } },
    'registering at http://HOST was refused (HTTP 403): {"error":"no"}.',
  ],
  [
    'another resource',
    { resourceMetadata: { resource: 'https://bank.example/mcp' } },
    'it identifies itself as https://bank.example/mcp, which is a different server.',
  ],
  [
    'an issuer in the private network',
    { resourceMetadata: { authorization_servers: ['https://10.0.0.1'] } },
    'it points to https://10.0.0.1, which is in a private network. A server may only point to the internet or to the kind of network it is in itself.',
  ],
  [
    'an issuer that is no address',
    { resourceMetadata: { authorization_servers: ['nonsense'] } },
    'its resource metadata cannot be used (authorization_servers.0).',
  ],
  [
    'a token of another kind',
    { token: { status: 200, body: '{"access_token":"abc","token_type":"mac"}' } },
    'the token type is mac, and only Bearer is supported.',
  ],
  [
    'a token with a line break',
    { token: { status: 200, body: '{"access_token":"a\\r\\nb","token_type":"bearer"}' } },
    'the access token contains invalid characters.',
  ],
])('%s is a failure with a message', async (_, faults, text) => {
  const attempt = await prepare(faults);
  expect(await failureOf(attempt, attempt.run())).toBe(
    `SIGN_IN_FAILED Signing in to server "files" failed: ${text}`,
  );
  expect(readdirSync(join(attempt.folder, '..'))).toEqual([]);
});

test('a token endpoint without https gets nothing', async () => {
  const attempt = await prepare({ metadata: { token_endpoint: 'http://host.example/token' } });
  expect(await failureOf(attempt, attempt.run())).toContain('non-https token endpoint');
});

test('a web page instead of tokens is quoted briefly', async () => {
  const body = `<html>${'x'.repeat(10_000)}</html>`;
  const attempt = await prepare({ token: { status: 500, body } });
  const failure = await failureOf(attempt, attempt.run());
  expect(failure).toContain('HTTP 500');
  expect(failure.length).toBeLessThan(600);
});

test('secrets echoed by an issuer are not repeated', async () => {
  const attempt = await prepare();
  attempt.issuer.faults.onToken = (form) => {
    attempt.issuer.faults.token = {
      status: 400,
      body: JSON.stringify({ error: 'invalid_grant', error_description: `Got ${form.toString()}` }),
    };
  };
  const failure = await failureOf(attempt, attempt.run());
  expect(failure).toContain('Got grant_type=authorization_code&code=***');
});

test('a user who never returns is also a failure', async () => {
  const attempt = await prepare();
  let back = '';
  const visit = async (address: URL): Promise<void> => {
    back = address.searchParams.get('redirect_uri') ?? '';
  };
  expect(await failureOf(attempt, attempt.run({ visit, limitMs: 50 }))).toBe(
    'SIGN_IN_FAILED Signing in to server "files" failed: the sign-in was not completed in the browser within 50 ms. Run again: switchboard login files',
  );
  await expect(fetch(back)).rejects.toThrow('fetch failed');
});

test('a cancelled sign-in leaves nothing behind', async () => {
  const attempt = await prepare();
  let back = '';
  const visit = async (address: URL): Promise<void> => {
    back = address.searchParams.get('redirect_uri') ?? '';
    setImmediate(() =>
      attempt.options.cancellation.cancel(new SwitchboardError('CANCELLED', 'Interrupted.')),
    );
  };
  await expect(attempt.run({ visit })).rejects.toMatchObject({ code: 'CANCELLED' });
  await expect(fetch(back)).rejects.toThrow('fetch failed');
  expect(readdirSync(join(attempt.folder, '..'))).toEqual([]);
});

test('an unwritable folder is reported', async () => {
  const attempt = await prepare();
  writeFileSync(attempt.folder, '');
  const failure = await failureOf(attempt, attempt.run());
  expect(failure).toMatch(/^SIGN_IN_FAILED .* it could not be saved in .*EEXIST/);
});

test('signing out removes tokens locally and at the issuer', async () => {
  const attempt = await prepare();
  const signedIn = await attempt.run();

  expect(await signOut(attempt.options)).toEqual({
    wasSignedIn: true,
    revoked: true,
    note: undefined,
  });

  expect(attempt.issuer.accepts(`Bearer ${signedIn?.accessToken}`)).toBe(false);
  expect(readdirSync(attempt.folder)).toEqual([]);
  expect(await signOut(attempt.options)).toEqual({
    wasSignedIn: false,
    revoked: false,
    note: undefined,
  });
});

test.each<[string, Faults, string]>([
  [
    'has no way',
    { metadata: { revocation_endpoint: undefined } },
    'http://HOST does not support revoking tokens',
  ],
  ['refuses', { revocation: { status: 503 } }, 'revoking the tokens was refused (HTTP 503): {}'],
  [
    'sends us into the private network',
    { metadata: { revocation_endpoint: 'https://10.0.0.1/' } },
    'it points to https://10.0.0.1, which is in a private network',
  ],
])('signing out removes tokens locally, even if the issuer %s', async (_, faults, reason) => {
  const attempt = await prepare(faults);
  await attempt.run();
  const { note, ...rest } = await signOut(attempt.options);
  expect(rest).toEqual({ wasSignedIn: true, revoked: false });
  expect(note?.replaceAll(/127\.0\.0\.1:\d+/g, 'HOST')).toBe(reason);
  expect(readdirSync(attempt.folder)).toEqual([]);
});
