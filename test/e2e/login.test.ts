// `switchboard login` and `switchboard logout` as a user runs them, with a browser in which the user
// always agrees, and an issuer that checks what it is sent.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import {
  type AuthorizationServer,
  type Faults,
  startAuthorizationServer,
} from '../support/authorization-server.ts';
import { type Outcome, type RunOptions, runSwitchboard } from '../support/command.ts';
import { configWith, createProject, FIXTURES, PROGRAM, type Project } from '../support/project.ts';
import { testServer } from '../support/servers.ts';

const BROWSER = join(FIXTURES, 'programs/browser.mjs');

interface Scene {
  readonly project: Project;
  readonly issuer: AuthorizationServer;
  /** Where sign-ins are kept. */
  readonly folder: string;
  /** Where the browser notes that it was started. */
  readonly notes: string;
  readonly run: (args: readonly string[], options?: RunOptions) => Promise<Outcome>;
}

async function prepare(faults: Faults = {}): Promise<Scene> {
  const issuer = await startAuthorizationServer(faults);
  onTestFinished(() => issuer[Symbol.asyncDispose]());
  const project = createProject(
    configWith({
      files: { url: issuer.serverUrl },
      local: testServer('toolbox'),
      odd: { url: 'nonsense' },
      keyed: { url: issuer.serverUrl, headers: { authorization: 'Bearer of-the-user' } },
    }),
  );
  const notes = join(project.dir, 'browser-notes');
  const run = async (args: readonly string[], { env = {}, ...more }: RunOptions = {}) => {
    const outcome = await runSwitchboard(project, args, {
      env: { BROWSER, BROWSER_NOTES: notes, ...env },
      ...more,
    });
    for (const secret of issuer.secrets) {
      expect(`${outcome.stdout}${outcome.stderr}`).not.toContain(secret);
    }
    return outcome;
  };
  const folder = join(project.dir, 'home/.switchboard/tokens');
  return { project, issuer, folder, notes, run };
}

const hideVarying = (text: string) =>
  text.replaceAll(/127\.0\.0\.1:\d+/g, 'HOST').replaceAll(/\?response_type=\S+/g, '?…');

test('a user signs in and out', async () => {
  const { run, folder, issuer } = await prepare();

  const login = await run(['login', 'files']);

  expect(login).toMatchObject({ status: 0, stderr: '' });
  expect(hideVarying(login.stdout)).toBe(
    [
      `Sign in to server "files" at http://HOST in your browser. If it doesn't open, go to:`,
      '  http://HOST/authorize?…',
      '✓ Signed in to server "files". The token is valid for 60 min and is renewed automatically.',
      '',
    ].join('\n'),
  );
  const [file = ''] = readdirSync(folder);
  const { accessToken } = JSON.parse(readFileSync(join(folder, file), 'utf8'));
  expect(issuer.accepts(`Bearer ${accessToken}`)).toBe(true);
  expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);

  expect(await run(['logout', 'files'])).toEqual({
    status: 0,
    stdout: 'Signed out of server "files".\n',
    stderr: '',
  });
  expect(issuer.accepts(`Bearer ${accessToken}`)).toBe(false);
  expect(readdirSync(folder)).toEqual([]);
  expect(await run(['logout', 'files'])).toMatchObject({
    status: 0,
    stdout: 'You were not signed in to server "files".\n',
  });
});

test('with --json there is one document, and the URL is on stderr', async () => {
  const { run, issuer } = await prepare({ revocation: { status: 500 } });

  const login = await run(['login', 'files', '--json']);

  expect(JSON.parse(login.stdout)).toEqual({
    child: 'files',
    signedIn: true,
    wantsSignIn: true,
    issuer: issuer.issuer,
    scope: 'tools',
    expiresAt: expect.stringMatching(/^20\d\d-/),
    isRenewed: true,
  });
  expect(login.stderr).toContain('/authorize?');
  expect(JSON.parse((await run(['logout', 'files', '--json'])).stdout)).toEqual({
    child: 'files',
    wasSignedIn: true,
    revoked: false,
    note: 'revoking the tokens was refused (HTTP 500): {}',
  });
});

test('a server that needs no sign-in', async () => {
  const { run, notes } = await prepare({ open: true });
  expect(await run(['login', 'files'])).toEqual({
    status: 0,
    stdout: `Server "files" doesn't require signing in.\n`,
    stderr: '',
  });
  expect(existsSync(notes)).toBe(false);
});

test('servers that do not support signing in', async () => {
  const { run } = await prepare();
  expect(await run(['login', 'local'])).toEqual({
    status: 2,
    stdout: '',
    stderr:
      'switchboard: Server "local" runs locally.\nOnly servers with a "url" support signing in.\n',
  });
  expect(await run(['login', 'odd'])).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('The "url" of server "odd" is not an http or https URL.'),
  });
  expect(await run(['login', 'keyed'])).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('has an Authorization header, which takes precedence'),
  });
  expect(await run(['login', 'nobody'])).toMatchObject({ status: 2, stdout: '' });
  expect(await run(['login'])).toMatchObject({ status: 2, stdout: '' });
});

test('a refusal', async () => {
  const { run, folder } = await prepare({ answer: { code: undefined, error: 'access_denied' } });
  const { status, stderr } = await run(['login', 'files']);
  expect([status, hideVarying(stderr)]).toEqual([
    3,
    'switchboard: Signing in to server "files" failed: http://HOST returned access_denied.\n',
  ]);
  expect(existsSync(folder)).toBe(false);
});

test.each([
  ['javascript:', 'javascript:alert(1)'],
  ['file:', 'file:///etc/passwd'],
  ['one with a command', 'http://a$(touch x)'],
  ['an option', '--flag'],
  ['100 KB', `https://host.example/${'a'.repeat(100_000)}`],
])('a hostile URL starts no program: %s', async (_, authorization_endpoint) => {
  const { run, notes, project, folder } = await prepare({ metadata: { authorization_endpoint } });
  const { status, stderr, stdout } = await run(['login', 'files']);
  expect(status).toBe(3);
  expect(stderr).toMatch(/^switchboard: Signing in to server "files" failed: /);
  expect(stderr.length).toBeLessThan(500);
  expect(stdout).toBe('');
  expect([notes, join(project.dir, 'x'), folder].filter(existsSync)).toEqual([]);
});

test('with --no-browser the URL is printed, and Ctrl-C leaves nothing behind', async () => {
  const { project, notes, folder } = await prepare();
  const login = spawn(process.execPath, [PROGRAM, 'login', 'files', '--no-browser'], {
    cwd: project.dir,
    env: { ...project.env, BROWSER, BROWSER_NOTES: notes },
  });
  let printed = '';
  for await (const text of login.stdout.setEncoding('utf8')) {
    printed += text;
    if (printed.includes('code_challenge_method') && printed.endsWith('\n')) break;
  }
  const [, address = ''] = /open:\n {2}(\S+)\n/.exec(printed) ?? [];
  const back = new URL(address).searchParams.get('redirect_uri') ?? '';
  expect((await fetch(new URL('/favicon.ico', back))).status).toBe(404);

  login.kill('SIGINT');
  const [status] = await once(login, 'exit');

  expect(status).toBe(130);
  await expect(fetch(back)).rejects.toThrow('fetch failed');
  expect([notes, folder].filter(existsSync)).toEqual([]);
});
