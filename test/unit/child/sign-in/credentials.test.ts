// Credentials that are kept, used and renewed: once for all who ask, also from several programs, and
// never so that a refresh token is used twice or goes to a stranger.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { Cancellation } from '../../../../src/base/cancellation.ts';
import { SwitchboardError } from '../../../../src/base/errors.ts';
import { processPlace } from '../../../../src/base/process-table.ts';
import type { Credentials } from '../../../../src/child/credentials.ts';
import { withLock } from '../../../../src/child/sign-in/lock.ts';
import { openCredentials } from '../../../../src/child/sign-in/open.ts';
import { signIn } from '../../../../src/child/sign-in/sign-in.ts';
import {
  type StoredSignIn,
  signInFile,
  writeSignIn,
} from '../../../../src/child/sign-in/token-store.ts';
import {
  type AuthorizationServer,
  type Faults,
  startAuthorizationServer,
} from '../../../support/authorization-server.ts';
import { FIXTURES } from '../../../support/project.ts';

interface Kept {
  readonly issuer: AuthorizationServer;
  readonly folder: string;
  readonly file: string;
  readonly credentials: Credentials;
  /** The header of the sign-in that was kept at the beginning. */
  readonly first: string;
  readonly read: () => StoredSignIn;
  readonly change: (change: Partial<StoredSignIn>) => void;
}

/** Somebody has signed in, and then the token has expired unless said otherwise. */
async function signedIn(life: 'expired' | 'fresh', faults: Faults = {}): Promise<Kept> {
  const issuer = await startAuthorizationServer(faults);
  onTestFinished(() => issuer[Symbol.asyncDispose]());
  const folder = join(mkdtempSync(join(tmpdir(), 'switchboard-tokens-')), 'tokens');
  onTestFinished(() => rmSync(join(folder, '..'), { recursive: true, force: true }));
  const file = await signInFile(folder, issuer.serverUrl);
  const server = { childName: 'files', url: issuer.serverUrl, folder };
  const visit = async (address: URL) => void (await fetch(address));
  await signIn({ ...server, cancellation: new Cancellation(), visit });
  const read = () => JSON.parse(readFileSync(file, 'utf8')) as StoredSignIn;
  const change = (some: Partial<StoredSignIn>): void => writeSignIn(file, { ...read(), ...some });
  if (life === 'expired') change({ expiresAt: Date.now() - 1 });
  const first = `Bearer ${read().accessToken}`;
  return { issuer, folder, file, credentials: openCredentials(server), first, read, change };
}

async function failureOf({ issuer, folder }: Kept, promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => expect.fail('did not fail'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof SwitchboardError)) throw error;
  for (const secret of issuer.secrets) expect(error.text).not.toContain(secret);
  return `${error.code} ${error.text}`
    .replaceAll(issuer.issuer, 'ISSUER')
    .replaceAll(folder, 'FOLDER');
}

test('without a sign-in there is nothing to send or renew', async () => {
  const folder = join(tmpdir(), 'switchboard-no-such-folder');
  const credentials = openCredentials({ childName: 'files', url: 'https://a.example/', folder });
  expect(await credentials.authorization()).toBeUndefined();
  expect(await credentials.renew(undefined)).toBeUndefined();
});

test('a valid token is sent without any request', async () => {
  const { credentials, issuer, first } = await signedIn('fresh');
  const asked = issuer.received.length;
  expect(await credentials.authorization()).toBe(first);
  expect(issuer.accepts(first)).toBe(true);
  expect(issuer.received.length).toBe(asked);
});

test('50 concurrent calls with an expired token: one renewal', async () => {
  const { credentials, issuer, first, read, file, folder } = await signedIn('expired');

  const values = await Promise.all(Array.from({ length: 50 }, () => credentials.authorization()));

  expect(new Set(values).size).toBe(1);
  expect(values[0]).not.toBe(first);
  expect(issuer.accepts(values[0])).toBe(true);
  expect(issuer.refreshes()).toBe(1);
  expect(`Bearer ${read().accessToken}`).toBe(values[0]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toHaveLength(1);
});

test('50 calls with a refused token: one renewal, and none for late ones', async () => {
  const { credentials, issuer, first } = await signedIn('fresh');

  const values = await Promise.all(Array.from({ length: 50 }, () => credentials.renew(first)));
  const late = await credentials.renew(first);

  expect(new Set([...values, late]).size).toBe(1);
  expect(issuer.accepts(late)).toBe(true);
  expect(issuer.refreshes()).toBe(1);
});

test('a renewal in progress for an older token does not serve a newer one', async () => {
  const { credentials, issuer, first, read } = await signedIn('fresh');
  const second = await credentials.renew(first);
  const [late, third] = await Promise.all([credentials.renew(first), credentials.renew(second)]);
  expect(late).toBe(second);
  expect(third).toBe(`Bearer ${read().accessToken}`);
  expect(third).not.toBe(second);
  expect(issuer.wasReused).toBe(false);
});

test('each renewal uses the newest refresh token', async () => {
  const { credentials, issuer, first } = await signedIn('fresh');
  let value: string | undefined = first;
  for (let round = 1; round <= 5; round++) {
    value = await credentials.renew(value);
    expect(issuer.accepts(value)).toBe(true);
    expect(issuer.refreshes()).toBe(round);
  }
  expect(issuer.wasReused).toBe(false);
});

test('two concurrent programs with an expired token: one renewal', async () => {
  // Slow enough for the other to come while the first is at it.
  const onToken = () => new Promise<void>((resolve) => setTimeout(resolve, 300));
  const { issuer, folder } = await signedIn('expired');
  issuer.faults.onToken = onToken;
  const programs = [startProgram(issuer.serverUrl, folder), startProgram(issuer.serverUrl, folder)];
  for (const { next } of programs) expect(await next()).toBe('ready');

  for (const { ask } of programs) ask();
  const values = await Promise.all(programs.map(({ next }) => next()));

  expect(new Set(values).size).toBe(1);
  expect(issuer.accepts(values[0])).toBe(true);
  expect(issuer.refreshes()).toBe(1);
});

test('a program that crashes during a renewal does not lock out the others', async () => {
  const { issuer, folder, file, credentials } = await signedIn('expired');
  let reached: () => void = () => {};
  const isReached = new Promise<void>((resolve) => {
    reached = resolve;
  });
  // Killed while it holds the lock and waits for the issuer.
  const first = startProgram(issuer.serverUrl, folder);
  expect(await first.next()).toBe('ready');
  issuer.faults.onToken = () => {
    reached();
    return new Promise(() => {});
  };
  first.ask();
  await isReached;
  expect(readdirSync(folder)).toContain(`${file.slice(folder.length + 1)}.lock`);
  first.process.kill('SIGKILL');
  await once(first.process, 'exit');
  delete issuer.faults.onToken;

  const value = await credentials.authorization();

  expect(issuer.accepts(value)).toBe(true);
  expect(readdirSync(folder)).toHaveLength(1);
});

test('a program waiting for another uses its renewed token', async () => {
  const { issuer, file, credentials, change } = await signedIn('expired');
  let waiting: Promise<string | undefined> = Promise.resolve(undefined);
  await withLock(file, async () => {
    waiting = credentials.authorization();
    change({ accessToken: 'from-another-program', expiresAt: Date.now() + 60_000 });
  });
  expect(await waiting).toBe('Bearer from-another-program');
  expect(issuer.refreshes()).toBe(0);
});

test('a stale lock is taken over', async () => {
  const { issuer, file, credentials } = await signedIn('expired');
  const owner = { pid: process.pid, place: processPlace(), id: 'x' };
  writeFileSync(`${file}.lock`, JSON.stringify(owner));
  const longAgo = new Date(Date.now() - 120_000);
  utimesSync(`${file}.lock`, longAgo, longAgo);
  expect(issuer.accepts(await credentials.authorization())).toBe(true);
});

test('a sign-in by another program applies at once', async () => {
  const { credentials, change } = await signedIn('fresh');
  change({ accessToken: 'new-one' });
  expect(await credentials.authorization()).toBe('Bearer new-one');
});

test('a final refusal: signed out', async () => {
  const kept = await signedIn('expired');
  kept.change({ refreshToken: 'refresh-that-nobody-gave' });
  expect(await failureOf(kept, kept.credentials.authorization())).toBe(
    'CHILD_SIGN_IN Server "files" requires you to sign in: the last sign-in is no longer valid (invalid_grant). Run: switchboard login files',
  );
  expect(await kept.credentials.authorization()).toBeUndefined();
  expect(kept.issuer.refreshes()).toBe(1);
  expect(readdirSync(kept.folder)).toEqual([]);
});

test('an issuer failure does not end a sign-in', async () => {
  const kept = await signedIn('expired');
  kept.issuer.faults.token = { status: 503, body: '{"error":"temporarily_unavailable"}' };
  expect(await failureOf(kept, kept.credentials.authorization())).toBe(
    'SIGN_IN_FAILED Signing in to server "files" failed: renewing the sign-in was refused (temporarily_unavailable).',
  );
  delete kept.issuer.faults.token;
  expect(kept.issuer.accepts(await kept.credentials.authorization())).toBe(true);
});

test('50 concurrent calls ask a failing issuer once', async () => {
  const { credentials, issuer } = await signedIn('expired');
  issuer.faults.token = { status: 503, body: '{"error":"temporarily_unavailable"}' };
  const outcomes = await Promise.allSettled(
    Array.from({ length: 50 }, () => credentials.authorization()),
  );
  expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(['rejected']));
  expect(issuer.refreshes()).toBe(1);
});

test('secrets echoed by an issuer are not repeated', async () => {
  const kept = await signedIn('expired');
  kept.issuer.faults.onToken = (form) => {
    const error_description = `Got ${form.get('refresh_token')}.`;
    kept.issuer.faults.token = {
      status: 400,
      body: JSON.stringify({ error: 'x', error_description }),
    };
  };
  expect(await failureOf(kept, kept.credentials.authorization())).toMatch(/\(x\): Got \*\*\*\.$/);
});

test('a renewed token that cannot be saved is reported, and the old one is not reused', async () => {
  const kept = await signedIn('expired');
  const { issuer, folder, credentials } = kept;
  const copy = `${folder}-copy`;
  cpSync(folder, copy, { recursive: true });
  issuer.faults.onToken = () => {
    rmSync(folder, { recursive: true });
    writeFileSync(folder, ''); // a file in the place of the folder
  };
  expect(await failureOf(kept, credentials.authorization())).toMatch(
    /^CHILD_SIGN_IN Server "files" requires you to sign in: the renewed sign-in could not be saved in FOLDER \(EEXIST.*\)\. Run: switchboard login files$/,
  );

  // Even where the old file comes back.
  delete issuer.faults.onToken;
  rmSync(folder);
  cpSync(copy, folder, { recursive: true });
  expect(await failureOf(kept, credentials.authorization())).toMatch(
    /could not be saved in FOLDER\. /,
  );
  expect(issuer.refreshes()).toBe(1);
  expect(issuer.wasReused).toBe(false);
});

test('nothing from a sign-in goes to another issuer', async () => {
  const kept = await signedIn('expired');
  const other = await startAuthorizationServer();
  onTestFinished(() => other[Symbol.asyncDispose]());
  kept.issuer.faults.resourceMetadata = { authorization_servers: [other.issuer] };

  const failure = await failureOf(kept, kept.credentials.authorization());

  expect(failure.replace(other.issuer, 'OTHER')).toBe(
    'CHILD_SIGN_IN Server "files" requires you to sign in: you signed in at ISSUER, but its authorization server is now OTHER; your tokens were not sent there. Run: switchboard login files',
  );
  const sent = other.received.map(
    ({ form, headers }) => `${form.toString()} ${JSON.stringify(headers)}`,
  );
  for (const secret of kept.issuer.secrets) expect(sent.join('\n')).not.toContain(secret);
  expect(other.received.map(({ method }) => method)).not.toContain('POST');
  expect(kept.issuer.refreshes()).toBe(0);

  // And when the old issuer is named again, all is well.
  delete kept.issuer.faults.resourceMetadata;
  expect(kept.issuer.accepts(await kept.credentials.authorization())).toBe(true);
});

test('a server with another resource name needs a new sign-in', async () => {
  const kept = await signedIn('expired');
  kept.issuer.faults.resourceMetadata = { resource: kept.issuer.issuer };
  expect(await failureOf(kept, kept.credentials.authorization())).toBe(
    'CHILD_SIGN_IN Server "files" requires you to sign in: you signed in to ISSUER/mcp, but it now calls itself ISSUER. Run: switchboard login files',
  );
  expect(kept.issuer.refreshes()).toBe(0);
});

test.each(['', '{', '[]', '{"version": 1}', '{"version": 2}', 'null'])(
  'a damaged file counts as signed out, and is reported: %s',
  async (text) => {
    const kept = await signedIn('fresh');
    writeFileSync(kept.file, text);
    expect(await failureOf(kept, kept.credentials.authorization())).toMatch(
      /^CHILD_SIGN_IN Server "files" requires you to sign in: the saved sign-in is damaged \(FOLDER.*\)\. Run: switchboard login files$/,
    );
    await expect(kept.credentials.renew('Bearer x')).rejects.toMatchObject({
      code: 'CHILD_SIGN_IN',
    });
  },
);

test('without a refresh token, only a new sign-in helps', async () => {
  const { credentials, issuer, first } = await signedIn('expired', { withoutRefresh: true });
  expect(await credentials.authorization()).toBeUndefined();
  expect(await credentials.renew(first)).toBeUndefined();
  expect(issuer.refreshes()).toBe(0);
});

interface Program {
  readonly process: ChildProcess;
  readonly ask: () => void;
  /** Its next line. */
  readonly next: () => Promise<string>;
}

/** Another program of the same user, with credentials for the same server. */
function startProgram(url: string, folder: string): Program {
  const program = join(FIXTURES, 'programs/renew.mjs');
  const child = spawn(process.execPath, ['--import', 'tsx', program, url, folder], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill());
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    process: child,
    ask: () => void child.stdin.write('\n'),
    next: async () => String((await lines.next()).value),
  };
}
