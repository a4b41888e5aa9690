// What may be said about serving over HTTP, and what is refused.
import { expect, test } from 'vitest';
import type { HttpFlags } from '../../../src/background/hello.ts';
import { SwitchboardError } from '../../../src/base/errors.ts';
import {
  readHttpSettings,
  refuseHttpFlags,
  wantsHttp,
  withoutHttpSettings,
} from '../../../src/cli/serve/http-options.ts';

test('defaults to this machine only, with a token', () => {
  expect(readHttpSettings({ http: true }, {})).toEqual({
    host: '127.0.0.1',
    port: 8081,
    names: [],
    wantsToken: true,
    token: undefined,
    limits: {},
  });
});

test('flags override the environment', () => {
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

test('the environment can enable it', () => {
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
  '%s needs --allow-remote, and always a token',
  (host) => {
    expect(refusalOf({ host })).toBe(
      `Refusing to listen on ${host}: other machines can reach it. To allow it, add --allow-remote (SWITCHBOARD_ALLOW_REMOTE=1); hosts must send the token. Without --host, Switchboard listens on 127.0.0.1, which only this machine can reach.`,
    );
    expect(refusalOf({}, { HOST: host })).toContain('--allow-remote');
    const both = `Refusing to listen on ${host} without authentication. Remove --no-auth (SWITCHBOARD_NO_AUTH). It is only allowed on 127.0.0.1.`;
    expect(refusalOf({ host, allowRemote: true, auth: false })).toBe(both);
    expect(refusalOf({ host, allowRemote: true }, { SWITCHBOARD_NO_AUTH: 'true' })).toBe(both);
    expect(readHttpSettings({ host }, { SWITCHBOARD_ALLOW_REMOTE: '1' })).toMatchObject({
      host,
      wantsToken: true,
    });
  },
);

test.each(['x', '-1', '65536', '1e3', '80.5', ' '])('%j is not a valid port', (port) => {
  expect(refusalOf({ port })).toContain('is not a valid port');
});

test('variables replace the default limits', () => {
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

test.each(['x', '0', '-1', '2147484'])(
  '%j is not a valid number of seconds between keep-alives',
  (text) => {
    expect(refusalOf({}, { PING_SECS: text })).toBe(
      'PING_SECS must be a number above 0 and up to 2147483. It is the seconds between keep-alives on an open event stream.',
    );
  },
);

test('a host or port requires --http', () => {
  expect(() => refuseHttpFlags({ auth: true })).not.toThrow();
  for (const flags of [{ port: '1' }, { host: 'h' }, { auth: false }, { allowRemote: true }]) {
    expect(() => refuseHttpFlags(flags)).toThrow('require --http');
  }
});

test('allowed host names come from both places', () => {
  const env = { SWITCHBOARD_ALLOW_HOST: 'a.example, b.example,' };
  expect(readHttpSettings({ allowHost: ['c'] }, env).names).toEqual([
    'c',
    'a.example',
    'b.example',
  ]);
});

test('servers do not get our own settings', () => {
  const env = { A: '1', SWITCHBOARD_HTTP_TOKEN: 'secret', PORT: '1', HOST: 'h', PING_SECS: '1' };
  expect(withoutHttpSettings(env)).toEqual({ A: '1', PORT: '1', HOST: 'h', PING_SECS: '1' });
  expect(withoutHttpSettings({ ...env, TRANSPORT: 'http' })).toEqual({ A: '1' });
});
