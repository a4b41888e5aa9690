import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { expandCommand, expandRemote } from '../../../src/config/server/expand.ts';
import { SecretLookup, type SecretLookupOptions } from '../../../src/trust/secrets/lookup.ts';
import { splitCommand } from '../../../src/trust/secrets/words.ts';
import { childConfig } from '../../support/child-config.ts';
import { temporaryFolder } from '../../support/fake-child.ts';
import { eventually, isAlive } from '../../support/processes.ts';
import { createStandIns } from '../../support/stand-ins.ts';

const CANARY = 'canary-value-4711';

function openLookup(some: Partial<SecretLookupOptions> = {}) {
  const homeFolder = temporaryFolder();
  const home = join(homeFolder, '.switchboard');
  const standIns = createStandIns(homeFolder);
  const env = { ...standIns.env, STAND_IN_VAULT: JSON.stringify({ 'op://v/i/f': CANARY }) };
  const store = { get: async (name: string) => (name === 'known' ? CANARY : undefined) };
  const folders = { project: '/project', home, homeFolder };
  const lookup = new SecretLookup({ folders, env, store, ...some });
  const origin = join(home, 'switchboard.config.json');
  const serverWith = (value: string, where = origin) =>
    childConfig({ name: 'box', origin: where, command: { cmd: 'x', args: [], env: { A: value } } });
  /** The value after expanding. */
  const valueOf = async (value: string, where = origin) => {
    const server = serverWith(value, where);
    return expandCommand(server, await lookup.variablesFor(server)).env['A'];
  };
  return { lookup, standIns, valueOf, env, homeFolder, origin };
}

describe('where a secret comes from', () => {
  test('from the store', async () => {
    const { valueOf } = openLookup();
    expect(await valueOf('Bearer ${secret:known}!')).toBe(`Bearer ${CANARY}!`);
    await expect(valueOf('${secret:unknown}')).rejects.toMatchObject({
      code: 'CHILD_NOT_CONFIGURED',
      message: expect.stringMatching(/needs the secret "unknown", which isn't stored \(env\.A in /),
      hint: 'Run: switchboard secret set unknown',
    });
  });

  test('from 1Password (a stand-in for op)', async () => {
    const { valueOf, standIns } = openLookup();
    expect(await valueOf('op://v/i/f')).toBe(CANARY);
    expect(await valueOf('key ${op://v/i/f}')).toBe(`key ${CANARY}`);
    expect(standIns.commands()).toEqual(['["op","read","--no-newline","op://v/i/f"]']);
    await expect(valueOf('op://v/i/other')).rejects.toMatchObject({
      code: 'SECRETS_UNAVAILABLE',
      message: expect.stringContaining('item not found'),
    });
  });

  test('from programs that don’t get the credentials of Switchboard and the host', async () => {
    const { env, standIns } = openLookup();
    const secrets = { SWITCHBOARD_HTTP_TOKEN: 'ours', CLAUDE_CODE_OAUTH_TOKEN: 'the-hosts' };
    const { valueOf } = openLookup({ env: { ...env, ...secrets } });
    standIns.add('helper', 'console.log(Object.keys(process.env).join());');
    const names = (await valueOf('${cmd:helper}'))?.split(',');
    expect(names).toContain('PATH');
    expect(names).not.toContain('SWITCHBOARD_HTTP_TOKEN');
    expect(names).not.toContain('CLAUDE_CODE_OAUTH_TOKEN');
  });

  test('from a command, as arguments, without a shell', async () => {
    const { valueOf, standIns, homeFolder } = openLookup();
    standIns.add('helper', `console.log('${CANARY} in ' + process.cwd() + '\\n');`);
    const file = join(homeFolder, 'touched');
    const line = `helper "two words" 'it''s' $HOME; touch ${file} | a\\ b`;
    expect(await valueOf(`\${cmd:${line}}`)).toBe(`${CANARY} in ${homeFolder}`);
    expect(standIns.commands()).toEqual([
      JSON.stringify(['helper', 'two words', 'its', '$HOME;', 'touch', file, '|', 'a b']),
    ]);
    expect(existsSync(file)).toBe(false);
  });

  test('in headers and OAuth settings, but op:// in an argument is an argument', async () => {
    const { lookup, origin } = openLookup();
    const headers = { Authorization: 'Bearer ${secret:known}', 'X-Key': 'op://v/i/f' };
    const oauth = { clientId: 'id', clientSecret: 'op://v/i/f' };
    const remote = { type: 'http', url: 'https://example.com', headers, oauth } as const;
    const server = childConfig({ name: 'box', origin, command: undefined, remote });
    const expanded = expandRemote(server, await lookup.variablesFor(server));
    expect(expanded.headers).toEqual({ Authorization: `Bearer ${CANARY}`, 'X-Key': CANARY });
    expect(expanded.oauth?.clientSecret).toBe(CANARY);
    const command = { cmd: 'x', args: ['op://v/i/f'], env: {} };
    const plain = childConfig({ name: 'box', origin, command });
    expect(expandCommand(plain, await lookup.variablesFor(plain)).args).toEqual(['op://v/i/f']);
  });
});

test('a server without secrets gets the environment itself', async () => {
  const { lookup, env } = openLookup();
  const server = childConfig({ name: 'box' });
  expect(await lookup.variablesFor(server)).toBe(env);
});

test('a command in a project’s file never runs', async () => {
  const { valueOf, standIns } = openLookup();
  standIns.add('helper', 'console.log("ran")');
  for (const file of ['/project/switchboard.config.json', '/project/mcps/a/.mcp.json']) {
    await expect(valueOf('${cmd:helper} ${secret:known}', file)).rejects.toMatchObject({
      code: 'CHILD_NOT_CONFIGURED',
      message: `Server "box" uses \${cmd:…}, which only works in your own configuration files (env.A in ${file}).`,
    });
  }
  expect(standIns.commands()).toEqual([]);
});

test('if the project is the home directory, its main file is the user’s', async () => {
  const homeFolder = temporaryFolder();
  const folders = { project: homeFolder, home: join(homeFolder, '.switchboard'), homeFolder };
  const { valueOf, standIns } = openLookup({ folders });
  standIns.add('helper', `console.log('${CANARY}')`);
  expect(await valueOf('${cmd:helper}', join(homeFolder, 'switchboard.config.json'))).toBe(CANARY);
  await expect(valueOf('${cmd:helper}', join(homeFolder, 'clone/.mcp.json'))).rejects.toThrow(
    'only works in your own configuration files',
  );
});

describe('programs', () => {
  test('run once for servers that start together, and again when the answer is old', async () => {
    const fresh = openLookup();
    fresh.standIns.add('helper', `console.log('${CANARY}')`);
    await Promise.all([fresh.valueOf('${cmd:helper}'), fresh.valueOf('${cmd:helper}')]);
    await fresh.valueOf('x ${cmd:helper}');
    expect(fresh.standIns.commands()).toHaveLength(1);
    const old = openLookup({ freshMs: 0 });
    old.standIns.add('helper', `console.log('${CANARY}')`);
    await old.valueOf('${cmd:helper}');
    await old.valueOf('${cmd:helper}');
    expect(old.standIns.commands()).toHaveLength(2);
  });

  test('that hang are stopped', async () => {
    const { valueOf, standIns, homeFolder } = openLookup({ limitMs: 300 });
    const pid = join(homeFolder, 'pid');
    standIns.add(
      'helper',
      `require('node:fs').writeFileSync(${JSON.stringify(pid)}, String(process.pid)); setInterval(() => {}, 1000);`,
    );
    await expect(valueOf('${cmd:helper}')).rejects.toMatchObject({
      code: 'SECRETS_UNAVAILABLE',
      message: expect.stringContaining('helper did not finish within 300 ms'),
    });
    // A busy machine may not even have started it.
    const isGone = () => !existsSync(pid) || !isAlive(Number(readFileSync(pid, 'utf8')));
    expect(await eventually(isGone)).toBe(true);
  });

  test.each([
    [
      'fails',
      'console.error("no such entry"); process.exit(3)',
      /failed \(status 3\): no such entry/,
    ],
    ['prints nothing', '', /printed nothing/],
    ['prints too much', 'process.stdout.write("x".repeat(100000))', /printed too much/],
  ])('one that %s is explained, and tried again', async (_what, source, reason) => {
    const { valueOf, standIns } = openLookup();
    standIns.add('helper', source);
    await expect(valueOf('${cmd:helper --password hunter2}')).rejects.toThrow(reason);
    await expect(valueOf('${cmd:helper --password hunter2}')).rejects.not.toThrow(/hunter2/);
    expect(standIns.commands()).toHaveLength(2);
  });

  test('one that doesn’t exist, and a command with an unclosed quote', async () => {
    const { valueOf } = openLookup();
    await expect(valueOf('${cmd:no-such-helper}')).rejects.toThrow(/could not be started/);
    await expect(valueOf("${cmd:helper 'open}")).rejects.toThrow(/has an unclosed quote/);
    await expect(valueOf('${cmd:}')).rejects.toThrow(/the command is empty/);
  });
});

test.each([
  ['a b  c', ['a', 'b', 'c']],
  [' a ', ['a']],
  [`a 'b c' "d \\"e" f\\ g`, ['a', 'b c', 'd "e', 'f g']],
  [`''`, ['']],
  [`a'b'"c"`, ['abc']],
  [`'a`, undefined],
  [`"a`, undefined],
  ['', []],
])('%s is split into %j', (text, words) => {
  expect(splitCommand(text)).toEqual(words);
});
