// What may be said about serving over HTTP, and what is refused.
import { expect, test } from 'vitest';
import { SwitchboardError } from '../../../src/base/errors.ts';
import {
  type HttpFlags,
  readHttpSettings,
  refuseHttpFlags,
  wantsHttp,
  withoutHttpSettings,
} from '../../../src/cli/serve/http-options.ts';

test('unless told otherwise it is this machine alone, with a token', () => {
  expect(readHttpSettings({ http: true }, {})).toEqual({
    host: '127.0.0.1',
    port: 8081,
    names: [],
    wantsToken: true,
    token: undefined,
    limits: {},
  });
});

test('flags are stronger than the environment', () => {
  const env = { HOST: 'localhost', PORT: '9000', SWITCHBOARD_NO_AUTH: '1' };
  expect(readHttpSettings({}, env)).toMatchObject({
    host: 'localhost',
    port: 9000,
    wantsToken: false,
  });
  expect(readHttpSettings({ host: '::1', port: '0' }, env)).toMatchObject({ host: '::1', port: 0 });
  expect(readHttpSettings({ host: '[::1]' }, {})).toMatchObject({ host: '::1' });
  expect(readHttpSettings({ auth: true }, { SWITCHBOARD_NO_AUTH: '0' }).wantsToken).toBe(true);
});

test('the environment can ask for it', () => {
  expect(wantsHttp({}, {})).toBe(false);
  expect(wantsHttp({ http: true }, {})).toBe(true);
  expect(wantsHttp({}, { TRANSPORT: 'HTTP' })).toBe(true);
  expect(wantsHttp({}, { TRANSPORT: 'stdio' })).toBe(false);
});

function refusalOf(flags: HttpFlags, env: NodeJS.ProcessEnv = {}): string {
  try {
    return JSON.stringify(readHttpSettings(flags, env));
  } catch (error) {
    return (error as SwitchboardError).text;
  }
}

test.each(['0.0.0.0', '::', '192.168.1.5', 'box.local', '127.0.0.1.evil.example'])(
  '%s is opened only where that is said, and never without a token',
  (host) => {
    expect(refusalOf({ host })).toBe(
      `Other machines could reach ${host}. Set --allow-remote (SWITCHBOARD_ALLOW_REMOTE=1) if that is wanted; hosts must then show the token. Or leave --host out: 127.0.0.1 is for this machine alone.`,
    );
    expect(refusalOf({}, { HOST: host })).toContain('--allow-remote');
    const both = `Without a token nobody else may reach ${host}. Leave out --no-auth (SWITCHBOARD_NO_AUTH), which is for 127.0.0.1 alone.`;
    expect(refusalOf({ host, allowRemote: true, auth: false })).toBe(both);
    expect(refusalOf({ host, allowRemote: true }, { SWITCHBOARD_NO_AUTH: 'true' })).toBe(both);
    expect(readHttpSettings({ host }, { SWITCHBOARD_ALLOW_REMOTE: '1' })).toMatchObject({
      host,
      wantsToken: true,
    });
  },
);

test.each(['x', '-1', '65536', '1e3', '80.5', ' '])('%j is no port', (port) => {
  expect(refusalOf({ port })).toContain('is no port');
});

test('what is said about time replaces the usual limits', () => {
  const limitsOf = (env: NodeJS.ProcessEnv) => readHttpSettings({}, env).limits;
  expect(
    limitsOf({ PING_SECS: '0.5', SWITCHBOARD_HTTP_IDLE_MS: '1000', HTTP_JSON: 'true' }),
  ).toEqual({
    keepAliveMs: 500,
    sessionIdleMs: 1_000,
    slowAnswerMs: undefined,
  });
  expect(Object.keys(limitsOf({ HTTP_JSON: 'yes' }))).toEqual(['slowAnswerMs']);
  expect(limitsOf({ PING_SECS: '', SWITCHBOARD_HTTP_IDLE_MS: '', HTTP_JSON: '' })).toEqual({});
  for (const no of ['false', '0', 'No', 'OFF']) {
    expect(Object.keys(limitsOf({ HTTP_JSON: no }))).toEqual([]);
    expect(readHttpSettings({}, { SWITCHBOARD_NO_AUTH: no }).wantsToken).toBe(true);
  }
});

test.each(['x', '0', '-1', '2147484'])('%j seconds between signs of life are refused', (text) => {
  expect(refusalOf({}, { PING_SECS: text })).toBe(
    'PING_SECS is not a number above 0 and up to 2147483. It is the time in seconds between signs of life on an open stream of events.',
  );
});

test('an address is of no use without HTTP', () => {
  expect(() => refuseHttpFlags({ auth: true })).not.toThrow();
  for (const flags of [{ port: '1' }, { host: 'h' }, { auth: false }, { allowRemote: true }]) {
    expect(() => refuseHttpFlags(flags)).toThrow('not that it is for HTTP');
  }
});

test('names by which hosts reach it come from both places', () => {
  const env = { SWITCHBOARD_ALLOW_HOST: 'a.example, b.example,' };
  expect(readHttpSettings({ allowHost: ['c'] }, env).names).toEqual([
    'c',
    'a.example',
    'b.example',
  ]);
});

test('servers are not told what was meant for us', () => {
  const env = { A: '1', SWITCHBOARD_HTTP_TOKEN: 'secret', PORT: '1', HOST: 'h', PING_SECS: '1' };
  expect(withoutHttpSettings(env)).toEqual({ A: '1', PORT: '1', HOST: 'h', PING_SECS: '1' });
  expect(withoutHttpSettings({ ...env, TRANSPORT: 'http' })).toEqual({ A: '1' });
});
