import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Candidate } from '../../../../src/agents/servers/candidate.ts';
import { Enumerator } from '../../../../src/agents/servers/enumerator.ts';
import { Cancellation } from '../../../../src/base/cancellation.ts';
import { formatDuration } from '../../../../src/base/text.ts';
import { Pool } from '../../../../src/pool/pool.ts';
import { childConfig } from '../../../support/child-config.ts';
import { byName, onBug, temporaryFolder } from '../../../support/fake-child.ts';
import { eventually, processesWith } from '../../../support/processes.ts';
import { publishedServer, testServer } from '../../../support/servers.ts';
import { candidate, openCatalog, program, realServers } from './setup.ts';

const NO_POOL = {
  hintsInForce: () => ({}),
  refusedTools: () => [],
  tools: () => undefined,
  warm: () => Promise.reject(new Error('It is in no pool.')),
};

/** Long enough for any server that answers at all, on any machine. */
const LONG_MS = 30_000;

const NOWHERE = {
  project: '/nowhere',
  homeFolder: '/nowhere',
  env: {},
  environment: {},
  limitMs: LONG_MS,
};

function setUp({ catalog = openCatalog() } = {}) {
  const { start, pids } = realServers();
  const enumerator = new Enumerator({ start, catalog, pool: NO_POOL });
  const project = temporaryFolder();
  const ask = (
    server: Candidate,
    { limitMs = LONG_MS, cancellation = new Cancellation(), isFresh = false } = {},
  ) => {
    const folders = { project, homeFolder: '/nowhere', env: process.env };
    const environment = { SWITCHBOARD_DEPTH: '1' };
    const options = { ...folders, environment, limitMs, cancellation, isFresh };
    return enumerator.tools(server, options);
  };
  return { enumerator, catalog, project, ask, pids };
}

/** A server that misbehaves as it is told, with a word by which it and its relatives are found. */
function faulty(...faults: string[]) {
  const tag = `tag-${Math.random().toString(36).slice(2)}`;
  const journal = join(temporaryFolder(), 'journal');
  const server = program(
    'faulty',
    testServer('faulty', `--tag=${tag}`, `--journal=${journal}`, ...faults),
  );
  const notes = () => (existsSync(journal) ? readFileSync(journal, 'utf8') : '');
  return {
    server,
    running: () => processesWith(tag).length,
    starts: () => notes().split('"start"').length - 1,
  };
}

test.each([
  ['memory', []],
  ['filesystem', [tmpdir()]],
  ['everything', ['stdio']],
])('server-%s is started, listed and stopped', async (name, args) => {
  const { ask, pids } = setUp();
  const tools = await ask(program(name, publishedServer(name, ...args)));
  expect(tools.length).toBeGreaterThan(3);
  expect(pids).toHaveLength(1);
});

test('a server is asked once for all callers, and later answered from the cache', async () => {
  const { ask, pids, catalog } = setUp();
  const server = program('toolbox', testServer('toolbox'));
  const [first, second] = await Promise.all([ask(server), ask({ ...server })]);
  expect(first).toContain('echo');
  expect(second).toEqual(first);
  expect(await ask(server)).toEqual(first);
  expect(await ask(server, { isFresh: true })).toEqual(first);
  expect(pids).toHaveLength(1);

  // Another run of the program begins with what this one has learned.
  await catalog.written();
  const next = setUp({ catalog });
  expect(await next.ask(server)).toEqual(first);
  expect(next.pids).toHaveLength(0);
  expect(await next.ask(server, { isFresh: true })).toEqual(first);
  expect(next.pids).toHaveLength(1);
});

test('it runs in its folder, with its variables and depth', async () => {
  const { ask, project } = setUp();
  const [file, folder] = [join(temporaryFolder(), 'seen.json'), temporaryFolder()];
  const code = `require('fs').writeFileSync(process.argv[1],
    JSON.stringify({ cwd: process.cwd(), depth: process.env.SWITCHBOARD_DEPTH, key: process.env.KEY }))`;
  const server = candidate('a', {
    cmd: process.execPath,
    args: ['-e', code, '${NO_SUCH_VARIABLE:-}' + file],
    env: { KEY: '${NO_SUCH_VARIABLE:-k}' },
  });
  const seen = async (cwd: string | undefined) => {
    await expect(ask({ ...server, cwd })).rejects.toMatchObject({ code: 'CHILD_EXITED' });
    return JSON.parse(readFileSync(file, 'utf8')) as unknown;
  };
  expect(await seen(folder)).toEqual({ cwd: realpathSync(folder), depth: '1', key: 'k' });
  expect(await seen(undefined)).toMatchObject({ cwd: realpathSync(project) });
});

test.each([
  ['start', '--no-handshake', 1_500],
  // Silent about its era as well, which is a part of its start: that must be done in time.
  ['list its tools', '--no-list', 5_000],
])(
  'a server that does not %s times out and is stopped with everything it started',
  async (task, fault, limitMs) => {
    const { ask } = setUp();
    const { server, running, starts } = faulty(fault, '--stubborn', '--stubborn-grandchild');
    await expect(ask(server, { limitMs })).rejects.toMatchObject({
      code: 'CHILD_TIMEOUT',
      message: `Server "faulty" did not ${task} within ${formatDuration(limitMs)}.`,
      hint: 'If it needs longer, raise AGENTS_MCP_ENUM_TIMEOUT_MS.',
    });
    expect(running()).toBe(0);
    // It is not tried again for the next agent.
    const before = starts();
    await expect(ask(server)).rejects.toMatchObject({ code: 'CHILD_TIMEOUT' });
    expect(starts()).toBe(before);
  },
);

test('a server that crashes explains why, without its secrets', async () => {
  const { ask } = setUp();
  const { server } = faulty('--exit=3');
  const secret = { ...server, env: { SECRET: 'a-key-of-mine' } };
  const error: unknown = await ask(secret).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'CHILD_EXITED' });
  expect(JSON.stringify(error) + String(error)).not.toContain('a-key-of-mine');
});

test('work continues until the last caller leaves', async () => {
  const { ask } = setUp();
  const { server, running } = faulty('--no-list', '--grandchild');
  const [first, second] = [new Cancellation(), new Cancellation()];
  const waiting = [ask(server, { cancellation: first }), ask(server, { cancellation: second })];
  const settled = Promise.allSettled(waiting);
  expect(await eventually(() => running() === 2)).toBe(true);

  first.cancel(new Error('enough'));
  await expect(waiting[0]).rejects.toThrow('enough');
  expect(running()).toBe(2);
  second.cancel(new Error('enough, too'));
  await expect(waiting[1]).rejects.toThrow('enough, too');
  expect(running()).toBe(0);
  await settled;
});

test('closing cancels work in progress', async () => {
  const { ask, enumerator } = setUp();
  const { server, running } = faulty('--no-list');
  const waiting = ask(server).catch((error: unknown) => error);
  expect(await eventually(() => running() === 1)).toBe(true);
  await enumerator[Symbol.asyncDispose]();
  expect(running()).toBe(0);
  expect(await waiting).toMatchObject({ code: 'CANCELLED' });
});

test('many are asked, but not all at once; a waiting caller may leave', async () => {
  const { ask } = setUp();
  const many = Array.from({ length: 10 }, () => faulty('--no-list'));
  const cancellation = new Cancellation();
  const last = new Cancellation();
  const asks = many.map(({ server }, index) =>
    ask(server, { cancellation: index === 9 ? last : cancellation }),
  );
  const settled = Promise.allSettled(asks);
  const started = () => many.filter(({ starts }) => starts() > 0).length;
  expect(await eventually(() => started() === 8)).toBe(true);
  last.cancel(new Error('gone'));
  await expect(asks[9]).rejects.toThrow('gone');
  expect(started()).toBe(8);
  cancellation.cancel(new Error('over'));
  await settled;
  expect(started()).toBe(8);
  expect(many.reduce((sum, { running }) => sum + running(), 0)).toBe(0);
});

test('a list with a secret is cached but not written to disk', async () => {
  const folder = temporaryFolder();
  const catalog = openCatalog(folder);
  const { ask } = setUp({ catalog });
  const tools = JSON.stringify([{ name: 'a', description: 'with a-key-of-mine' }]);
  const entry = testServer('lists', tools);
  const server = { ...program('lists', entry), env: { KEY: 'a-key-of-mine' } };
  expect(await ask(server)).toEqual(['a']);
  await catalog.written();
  const written = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'));
  expect(written.join()).toContain('"lists"');
  expect(written.join()).not.toContain('a-key');
});

test('this Switchboard’s own server is asked through the pool, and keeps running', async () => {
  const { start, pids } = realServers();
  const catalog = openCatalog();
  const { command: cmd, args } = testServer('toolbox');
  const config = childConfig({
    name: 'own',
    command: { cmd, args, env: {} },
    cwd: temporaryFolder(),
  });
  const events = { onListChanged: () => {}, onResourceUpdated: () => {}, onLost: () => {} };
  const pool = new Pool(byName([config]), { start, catalog, events, onBug });
  const enumerator = new Enumerator({ start, catalog, pool });
  const options = { ...NOWHERE, cancellation: new Cancellation() };
  try {
    const own = candidate('own', { isOwn: true });
    expect(await enumerator.tools(own, options)).toContain('echo');
    expect(await enumerator.tools(own, options)).toContain('echo');
    expect(pool.report('own')).toMatchObject({ state: 'ready', pid: pids[0] });
    expect(pids).toHaveLength(1);
  } finally {
    await pool[Symbol.asyncDispose]();
  }
});

test('an own server that a reload has changed is asked again', async () => {
  let warmed = 0;
  const pool = {
    tools: () => [{ name: 'known' }],
    refusedTools: () => [],
    hintsInForce: () => ({}),
    warm: async () => void warmed++,
  };
  const enumerator = new Enumerator({ start: realServers().start, catalog: openCatalog(), pool });
  const ask = (cmd: string) =>
    enumerator.tools(candidate('own', { isOwn: true, cmd, cwd: '${UNSET}' }), {
      ...NOWHERE,
      cancellation: new Cancellation(),
      isFresh: true,
    });
  await ask('first');
  await ask('first');
  expect(warmed).toBe(1);
  await ask('second');
  expect(warmed).toBe(2);
});
