// What the background process knows about a session: its hello, its environment, its place, and its snapshot.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { SessionEnvironment } from '../../../src/background/environment.ts';
import {
  formatServeArguments,
  ownVariables,
  parseServeArguments,
  valuesOf,
} from '../../../src/background/hello.ts';
import { ownPlace, placeDifference } from '../../../src/background/place.ts';
import { isReplayed, Replay, SessionSnapshot } from '../../../src/background/snapshot.ts';
import { compareVersions } from '../../../src/background/versions.ts';
import { ROOT } from '../../support/project.ts';

describe('arguments', () => {
  test.each([
    [[], {}],
    [['serve'], {}],
    [['--config', 'a.json'], { configFile: 'a.json' }],
    [['serve', '--servers=b.json', '--trust', 'all'], { serversFile: 'b.json', trust: 'all' }],
    [
      ['assistant', 'serve', '--trust', 'all', '--tools', '--shared', '--', 'kid'],
      { trust: 'all', toolsOf: 'kid' },
    ],
  ])('%j can be served in the background', (args, options) => {
    expect(parseServeArguments(args)).toEqual(options);
  });

  test.each([
    {},
    { configFile: '-a=b.json', trust: 'all' },
    { configFile: 'a b.json', serversFile: 'c.json' },
  ])('%j can be written and read', (options) => {
    expect(parseServeArguments(formatServeArguments(options))).toEqual(options);
  });

  test.each([
    [['--alone']],
    [['serve', '--alone']],
    [['serve', '--http']],
    [['--help']],
    [['--config']],
    [['--config', '--json']],
    [['--config=']],
    [['tools']],
    [['--config', 'a.json', 'tools']],
    [['--constructor', 'x']],
    [['assistant', 'serve', 'kid']],
    [['assistant', 'serve', '--tools', '--', 'kid']],
    [['assistant', 'serve', '--shared', '--', 'kid']],
    [['assistant', '--tools', '--shared', '--', 'kid']],
    [['assistant', 'serve', '--json', '--tools', '--shared', '--', 'kid']],
  ])('%j needs the whole program', (args) => {
    expect(parseServeArguments(args)).toBeUndefined();
  });
});

describe('variables', () => {
  test('those that settings are read from come first, without credentials', () => {
    const given = ownVariables({
      HOME: '/h',
      AGENTS_DIRS: 'a',
      RUST_LOG: 'debug',
      SWITCHBOARD_HOME: '/s',
      SWITCHBOARD_HTTP_TOKEN: 'secret',
      GITHUB_TOKEN: 'secret',
      AWS_PROFILE: 'p',
    });
    expect(Object.keys(given)).toEqual(['HOME', 'AGENTS_DIRS', 'RUST_LOG', 'SWITCHBOARD_HOME']);
  });

  test('every setting is among them', () => {
    const folder = join(ROOT, 'src/config');
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    const text = files
      .filter((file) => file.endsWith('.ts'))
      .map((file) => readFileSync(join(folder, file), 'utf8'))
      .join('\n');
    const found = [...text.matchAll(/\bvariable: '([A-Z0-9_]+)'|\benv\['([A-Z0-9_]+)'\]/g)];
    const names = [...new Set(found.map(([, one, other]) => one ?? other ?? ''))];
    expect(names.length).toBeGreaterThan(30);
    const env = Object.fromEntries(names.map((name) => [name, 'x']));
    expect(Object.keys(ownVariables(env))).toEqual(names);
  });

  test('values are given only by name, and nothing is inherited', () => {
    const env = { A: '1', B: '2' };
    expect(valuesOf(['A', 'C', 'toString'], env)).toEqual({ A: '1' });
    expect(valuesOf('all', env)).toEqual(env);
  });

  test('reading one that comes later is noticed', () => {
    const environment = new SessionEnvironment({ HOME: '/h' });
    const { variables } = environment;
    expect(variables['HOME']).toBe('/h');
    expect(variables['LATER']).toBeUndefined();
    expect('NEVER' in variables).toBe(false);
    expect(environment.missed).toEqual(['LATER', 'NEVER']);
    expect(environment.add({ LATER: '1' }, ['LATER', 'NEVER'])).toBe(true);
    expect(variables['LATER']).toBe('1');
    expect(environment.missed).toEqual([]);
    expect(environment.add({ UNREAD: '2' }, ['UNREAD'])).toBe(false);
    expect({ ...variables }).toEqual({ HOME: '/h', LATER: '1', UNREAD: '2' });
    expect(environment.missed).toBe('all');
    expect(environment.add({ MORE: '3' }, 'all')).toBe(true);
    expect(environment.isComplete).toBe(true);
  });
});

describe('places', () => {
  const here = ownPlace({ SSL_CERT_FILE: '/a' });

  test('a process is in its own place', () => {
    expect(placeDifference(here, ownPlace({ SSL_CERT_FILE: '/a', OTHER: 'x' }))).toBeUndefined();
  });

  test.each([
    [{ ...here, uid: 12_345 }, 'it belongs to another user'],
    [
      { ...here, namespaces: { ...here.namespaces, mnt: 'mnt:[1]' } },
      'it runs in another container or sandbox',
    ],
    [{ ...here, confinement: 'NoNewPrivs: 1' }, 'it runs in another sandbox'],
    [{ ...here, process: {} }, 'it trusts other TLS certificates'],
  ])('and nowhere else', (there, difference) => {
    expect(placeDifference(here, there)).toBe(difference);
    expect(placeDifference(there, here)).toBe(difference);
  });
});

test.each([
  ['1.0.0', '1.0.0', 0],
  ['1.10.0', '1.9.9', 1],
  ['2.0.0', '10.0.0', -1],
  ['1.0.0', '1.0.0-beta.2', 1],
  ['1.0.0-beta.10', '1.0.0-beta.9', 1],
  ['1.0.0+build', '1.0.0', 0],
])('version %s compared with %s', (one, other, expected) => {
  expect(Math.sign(compareVersions(one, other))).toBe(expected);
});

describe('a snapshot', () => {
  const note = (snapshot: SessionSnapshot, value: object) =>
    snapshot.note({ text: JSON.stringify(value), value, framing: 'newline' });

  test('replays what matters, and nobody is told', () => {
    const snapshot = new SessionSnapshot();
    expect(snapshot.takeChanged()).toBeUndefined();
    note(snapshot, { id: 1, method: 'initialize', params: { protocolVersion: 'x' } });
    note(snapshot, { method: 'notifications/initialized' });
    note(snapshot, { id: 2, method: 'tools/call', params: {} });
    note(snapshot, { id: 3, method: 'logging/setLevel', params: { level: 'debug' } });
    note(snapshot, { id: 4, method: 'logging/setLevel', params: { level: 'error' } });
    note(snapshot, { id: 5, method: 'resources/subscribe', params: { uri: 'a' } });
    note(snapshot, { id: 6, method: 'resources/subscribe', params: { uri: 'b' } });
    note(snapshot, { id: 7, method: 'resources/unsubscribe', params: { uri: 'a' } });
    snapshot.setActive(['box']);
    const text = snapshot.takeChanged();
    expect(snapshot.takeChanged()).toBeUndefined();
    const { messages } = new Replay(text);
    expect(messages.map(({ value }) => value)).toEqual([
      { id: 'switchboard-replayed-0', method: 'initialize', params: { protocolVersion: 'x' } },
      { method: 'notifications/initialized' },
      { id: 'switchboard-replayed-2', method: 'logging/setLevel', params: { level: 'error' } },
      { id: 'switchboard-replayed-3', method: 'resources/subscribe', params: { uri: 'b' } },
      {
        jsonrpc: '2.0',
        id: 'switchboard-replayed-4',
        method: 'tools/call',
        params: { name: 'gateway_activate', arguments: { name: 'box' } },
      },
    ]);
    expect(isReplayed('switchboard-replayed-4')).toBe(true);
    expect(isReplayed(4)).toBe(false);
  });

  test('is restored when all servers are on, or nothing more can come', async () => {
    const snapshot = new SessionSnapshot();
    note(snapshot, { id: 1, method: 'initialize', params: {} });
    snapshot.setActive(['a', 'b']);
    const text = snapshot.takeChanged();
    const one = new Replay(text);
    one.noteActive(['a']);
    one.noteActive(['b', 'a']);
    await expect(one.done).resolves.toBeUndefined();
    const other = new Replay(text);
    for (let count = 0; count < 3; count++) other.noteAnswered();
    await expect(other.done).resolves.toBeUndefined();
  });
});
