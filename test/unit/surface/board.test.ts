import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { Cancellation } from '../../../src/base/cancellation.ts';
import { SwitchboardError } from '../../../src/base/errors.ts';
import type { ChildConfig, Config } from '../../../src/config/config.ts';
import type { Tool } from '../../../src/mcp/tools.ts';
import { METHOD_NOT_FOUND, RpcError } from '../../../src/rpc/message.ts';
import { Verbatim } from '../../../src/rpc/verbatim.ts';
import { Board } from '../../../src/surface/board.ts';
import { Claims } from '../../../src/surface/claims.ts';
import type { Surface } from '../../../src/surface/surface.ts';
import { noAgents } from '../../support/agent-settings.ts';
import { childConfig } from '../../support/child-config.ts';
import {
  boardConfig,
  callView,
  createBoard,
  FakeAudience,
  openView,
  say,
} from '../../support/fake-board.ts';
import { createFakePool, FakeChild, temporaryFolder, turn } from '../../support/fake-child.ts';
import { SILENT_LOG } from '../../support/silent-log.ts';

afterEach(() => void vi.useRealTimers());

const flip = (name: string, some: Partial<ChildConfig> = {}) =>
  childConfig({ name, show: 'flip', start: 'eager', idleMs: 0, ...some });

const activate = (view: Surface, name: string) => say(view, 'gateway_activate', { name });
const deactivate = (view: Surface, name: string) => say(view, 'gateway_deactivate', { name });
const namesIn = (view: Surface) => view.listTools().map(({ name }) => name);
const GATEWAY = ['gateway_activate', 'gateway_deactivate', 'gateway_status'];

async function begun(board: Board): Promise<void> {
  board.begin();
  for (let time = 0; time < 5; time++) await turn();
}

test('eager servers are started once, however often it begins', async () => {
  let starts = 0;
  const { board, pool } = createBoard([flip('a'), childConfig({ name: 'b' })], async () => {
    starts++;
    return new FakeChild();
  });
  await Promise.all([begun(board), begun(board)]);
  expect(starts).toBe(1);
  expect(pool.report('a').state).toBe('ready');
  expect(pool.report('b').state).toBe('idle');
});

test('only direct servers with unknown tools are started', async () => {
  const started: string[] = [];
  const [known, unknown] = ['known', 'unknown'].map((name) =>
    childConfig({ name, show: 'direct' }),
  );
  if (!known || !unknown) throw new Error('There are two.');
  const { board, pool } = createBoard([known, unknown], async ({ name }) => {
    started.push(name);
    return new FakeChild(`${name}_tool`);
  });
  pool.remember(known, [{ name: 'known_tool' }]);
  const { view, audience } = openView(board);
  await begun(board);
  expect(started).toEqual(['unknown']);
  expect(namesIn(view)).toEqual(['known_tool', 'unknown_tool']);
  expect(audience.toldSoon).toBe(1);
});

test('each session switches independently', async () => {
  const { board } = createBoard([flip('a'), flip('b')]);
  await begun(board);
  const [one, other] = [openView(board), openView(board)];
  await activate(one.view, 'a');
  expect(namesIn(one.view)).toEqual([...GATEWAY, 'a_tool']);
  expect(namesIn(other.view)).toEqual(GATEWAY);
  expect([one.audience.told, other.audience.told]).toEqual([1, 0]);
  expect(board.isActive('a')).toBe(true);
  expect(await deactivate(other.view, 'a')).toBe('"a" is not active.');
  one.view.close();
  expect(board.isActive('a')).toBe(false);
});

test('a call to a switched-on tool goes to its server; for others the error says how to switch it on', async () => {
  const child = new FakeChild('find');
  const { board } = createBoard([flip('a')], async () => child);
  await begun(board);
  const { view } = openView(board);
  await expect(say(view, 'find')).rejects.toMatchObject({
    code: 'TOOL_UNKNOWN',
    hint: expect.stringContaining('call gateway_activate with {"name": "a"}') as string,
  });
  await activate(view, 'a');
  expect(await say(view, 'find')).toBe('called find');
  expect(child.called).toEqual(['find']);
  await deactivate(view, 'a');
  await expect(say(view, 'find')).rejects.toMatchObject({ code: 'TOOL_UNKNOWN' });
});

test('a server that exits is off in every session, and each is notified', async () => {
  const child = new FakeChild('find');
  const { board, pool } = createBoard([flip('a')], async () => child);
  await begun(board);
  const [one, other, third] = [openView(board), openView(board), openView(board)];
  await activate(one.view, 'a');
  await activate(other.view, 'a');
  child.crash();
  await turn();
  expect([one.audience.told, other.audience.told, third.audience.told]).toEqual([2, 2, 0]);
  expect(namesIn(one.view)).toEqual(GATEWAY);
  expect(pool.report('a').state).toBe('error');
  const text = '✗ a: error (1 tool) — It has ended.';
  const status = { name: 'a', state: 'error', ready: false, active: false, tools: 1 };
  // Without structuredContent: hosts that show that alone would hide the text.
  expect((await callView(one.view, 'gateway_status')).value).toEqual({
    content: [{ type: 'text', text }],
    _meta: { 'switchboard/servers': [{ ...status, error: 'It has ended.' }] },
  });
});

test('a tool call that crashes a switched-on server says how to get its tools back', async () => {
  const child = new FakeChild('find');
  child.callTool = () =>
    Promise.reject(
      new SwitchboardError('CHILD_EXITED', 'It crashed.', { hint: 'Why.', data: { child: 'a' } }),
    );
  const { board } = createBoard([flip('a')], async () => child, 'always');
  const { view } = openView(board);
  await activate(view, 'a');
  await expect(say(view, 'find')).rejects.toMatchObject({
    message: 'It crashed.',
    hint: 'It has been deactivated: call gateway_activate to use its tools again, or call it through its suite. Why.',
  });
  const suite = say(view, 'a_suite', { action: 'call', subtool: 'find' });
  await expect(suite).rejects.toMatchObject({ hint: 'Why.' });
});

test('a server that exits while the host fetches the list is reported as not ready', async () => {
  const child = new FakeChild('find');
  const { board } = createBoard([flip('a')], async () => child);
  await begun(board);
  const { view, audience } = openView(board);
  audience.meanwhile = async () => {
    child.crash();
    await turn();
  };
  expect(await activate(view, 'a')).toBe('"a" is not ready: It has ended.');
  expect(view.active).toEqual([]);
});

test('a server that exits once it has listed its tools is reported as not ready', async () => {
  const child = new FakeChild('find');
  const { board, pool } = createBoard([flip('a')], async () => child);
  const { view } = openView(board);
  const crashed = pool.warm('a').then(() => child.crash());
  expect(await activate(view, 'a')).toBe('"a" is not ready: It has ended.');
  expect(view.active).toEqual([]);
  await crashed;
});

test('a server switched off while the host fetches the list is still reported as activated', async () => {
  const { board } = createBoard([flip('a')]);
  await begun(board);
  const { view, audience } = openView(board);
  audience.meanwhile = async () => void (await deactivate(view, 'a'));
  expect(await activate(view, 'a')).toContain('Activated "a" — 1 tool');
  expect(view.active).toEqual([]);
});

test('a server waiting for its warm-up turn is started when requested', async () => {
  const { board, pool } = createBoard([flip('a')]);
  const { view } = openView(board);
  expect(await say(view, 'gateway_status')).toBe('◐ a: warming');
  expect(await activate(view, 'a')).toContain('Activated');
  expect(pool.report('a').state).toBe('ready');
});

test('gateway_activate waits for a starting server within the start limit', async () => {
  vi.useFakeTimers();
  const children = new Map<string, (child: FakeChild) => void>();
  const { board } = createBoard(
    [flip('slow'), flip('stuck')],
    ({ name }) => new Promise((resolve) => void children.set(name, resolve)),
  );
  board.begin();
  const { view } = openView(board);
  const [slow, stuck] = [activate(view, 'slow'), activate(view, 'stuck')];
  await vi.advanceTimersByTimeAsync(7_000);
  children.get('slow')?.(new FakeChild('find'));
  await vi.advanceTimersByTimeAsync(4_000);
  expect(await slow).toContain('Activated "slow" — 1 tool injected into context.');
  expect(await stuck).toBe('"stuck" is not ready: it is still warming up. Try again in a moment.');
  children.get('stuck')?.(new FakeChild());
});

test('texts about flip servers name only what this host can call', async () => {
  const tell = async (some: Partial<FakeAudience>, flipSuites?: Config['flipSuites']) => {
    const { board } = createBoard([flip('a')], undefined, flipSuites);
    await begun(board);
    const { view, audience } = openView(board);
    Object.assign(audience, some);
    const hint = await say(view, 'a_tool').catch(
      (error: unknown) => (error as { hint: string }).hint,
    );
    const on = await activate(view, 'a');
    return { hint, on, again: await activate(view, 'a'), says: view.instructions };
  };
  const usual = await tell({});
  expect(usual.on).toBe('Activated "a" — 1 tool injected into context. They are: a_tool.');
  expect(usual.again).toBe('"a" is already active.');
  expect(usual.hint).toBe(
    'It belongs to server "a", which is not active: call gateway_activate with {"name": "a"}.',
  );
  expect(JSON.stringify(usual)).not.toContain('a_suite');

  const slow = await tell({ fetches: false });
  expect(slow.on).toContain('The host has not refreshed its tool list yet.');

  const both = await tell({}, 'always');
  expect(both.on).toContain('If they are not in your list of tools, call them through a_suite');
  expect(both.hint).toContain('call gateway_activate with {"name": "a"}, or call a_suite with');
  expect(both.says).toContain('- a (a_suite)');

  const codex = await tell({ neverRelists: true, fetches: false });
  expect(codex.on).toMatch(
    /^Activated "a"\. This host does not refresh its tool list: call its tools through a_suite, .* The subtools are: a_tool\.$/,
  );
  expect(codex.hint).toBe(
    'It belongs to server "a", which is not active: call a_suite with {"action": "call", "subtool": "a_tool"}.',
  );
  expect(codex.says).not.toContain('gateway');

  const never = await tell({ neverRelists: true, fetches: false }, 'never');
  expect(never.on).toContain('its tools cannot be called in this session');
  expect(JSON.stringify(never)).not.toContain('a_suite');
});

test('schemas are found by the names tools are listed under', async () => {
  const tool = (title: string) => ({ name: 'search', inputSchema: { type: 'object', title } });
  const direct = (name: string, some: Partial<ChildConfig> = {}) =>
    childConfig({ name, show: 'direct', ...some });
  const hidden = direct('a', { expose: { allow: undefined, deny: ['search'] } });
  const { board } = createBoard([hidden, direct('b'), direct('c')], async ({ name }) => {
    const child = new FakeChild();
    child.tools = [tool(name)];
    return child;
  });
  await begun(board);
  expect(board.schemaOf('search')).toMatchObject({ title: 'b' });
  expect(board.schemaOf('c_search')).toMatchObject({ title: 'c' });
});

test('a direct server is listed as its suite until its tools are known', async () => {
  const direct = childConfig({ name: 'own', show: 'direct' });
  const { board, pool } = createBoard([direct, flip('a')]);
  const { view, audience } = openView(board);
  expect(namesIn(view)).toEqual([...GATEWAY, 'own_suite']);
  expect(view.instructions).toContain('- own (own_suite)');
  expect(await activate(view, 'own')).toBe(
    '"own" cannot be activated or deactivated: use it through the tool own_suite.',
  );
  await pool.warm('own');
  expect(namesIn(view)).toEqual([...GATEWAY, 'own_tool']);
  expect(view.instructions).toContain('- own (its own tools)');
  expect(audience.toldSoon).toBe(1);
  expect(await activate(view, 'own')).toBe(
    '"own" cannot be activated or deactivated: its tools are always listed.',
  );
  expect(await say(view, 'own_suite', { action: 'call', subtool: 'own_tool' })).toBe(
    'called own_tool',
  );
});

test('a reload keeps switchable servers on, and lists their current tools', async () => {
  const { board, update } = createBoard(
    [flip('a'), flip('b'), flip('c')],
    async ({ name, command }) => new FakeChild(`${name}_${command?.args[0] ?? 'tool'}`),
  );
  await begun(board);
  const { view, audience } = openView(board);
  for (const name of ['a', 'b', 'c']) await activate(view, name);
  const changed = { cmd: 'server', args: ['new'], env: {} };
  update([flip('a'), flip('b', { start: 'lazy', command: changed }), flip('c', { show: 'suite' })]);
  expect(view.active).toEqual(['a', 'b']);
  for (let time = 0; time < 5; time++) await turn();
  expect(namesIn(view)).toEqual([...GATEWAY, 'c_suite', 'a_tool', 'b_new']);
  expect(audience.toldSoon).toBeGreaterThan(0);
});

test('a server that cannot start after a reload is off', async () => {
  let isBroken = false;
  const { board, update } = createBoard([flip('a')], async () => {
    if (isBroken) throw new Error('no luck');
    return new FakeChild('find');
  });
  await begun(board);
  const { view } = openView(board);
  await activate(view, 'a');
  isBroken = true;
  update([flip('a', { command: { cmd: 'other', args: [], env: {} } })]);
  for (let time = 0; time < 5; time++) await turn();
  expect(view.active).toEqual([]);
  expect(await say(view, 'gateway_status')).toBe('✗ a: error — no luck');
});

test('a server removed from the configuration while it starts is not on', async () => {
  let finish = (_child: FakeChild): void => {};
  const lazy = flip('a', { start: 'lazy' });
  const { board, update } = createBoard(
    [lazy, flip('b', { start: 'lazy' })],
    () =>
      new Promise((resolve) => {
        finish = resolve;
      }),
  );
  const { view } = openView(board);
  const answer = activate(view, 'a');
  await turn();
  update([{ ...lazy, show: 'direct' }, flip('b', { start: 'lazy' })]);
  finish(new FakeChild('find'));
  expect(await answer).toContain('its tools are always listed');
  expect(view.active).toEqual([]);
});

test.each([
  ['auto', false, false],
  ['auto', true, true],
  ['always', false, true],
  ['never', true, false],
] as const)(
  'suites of servers that can be switched: %s, deaf host: %s',
  (said, isDeaf, isListed) => {
    const { board } = createBoard([flip('a')], undefined, said);
    const { view, audience } = openView(board);
    audience.neverRelists = isDeaf;
    expect(namesIn(view).includes('a_suite')).toBe(isListed);
  },
);

test('servers that are off appear nowhere', async () => {
  const { board } = createBoard([flip('a', { show: 'off' }), childConfig({ name: 'b' })]);
  await begun(board);
  const { view } = openView(board);
  expect(namesIn(view)).toEqual(['b_suite']);
  await expect(say(view, 'a_suite', { action: 'introspect' })).rejects.toThrow('Unknown tool');
  await expect(say(view, 'gateway_status')).rejects.toThrow('Unknown tool');
});

test('without servers, gateway_status is not listed but answers', async () => {
  const { board } = createBoard([]);
  const { view } = openView(board);
  expect(namesIn(view)).toEqual([]);
  expect(await say(view, 'gateway_status')).toBe('No servers configured.');
  expect(await activate(view, 'a')).toBe('Unknown server "a". No servers configured.');
});

test('prompts and resources are announced to every session, tools only if they are listed', async () => {
  const child = new FakeChild('find');
  child.greeting = { ...child.greeting, capabilities: { prompts: {}, resources: {} } };
  child.others = { prompts: [{ name: 'p' }], resources: [{ uri: 'a:1' }] };
  const { board, pool } = createBoard([childConfig({ name: 'a' })], async () => child);
  const { view, audience } = openView(board);
  await pool.warm('a');
  expect(view.listPrompts()).toEqual([{ name: 'p' }]);
  expect(view.listResources()).toEqual([{ uri: 'a:1' }]);
  expect(audience.others.toSorted()).toEqual(['prompts', 'resources', 'resources']);
  expect(audience.toldSoon).toBe(0);
});

test('a session with a static list gets suites, and activation names their tools', async () => {
  const expose = { allow: undefined, deny: ['hidden'] };
  const start = async () => new FakeChild('find', 'hidden');
  const { board } = createBoard([flip('a', { start: 'lazy', expose })], start);
  await begun(board);
  const audience = new FakeAudience();
  audience.isStatic = true;
  const view = board.open(audience);
  expect(namesIn(view)).toEqual([...GATEWAY, 'a_suite']);
  expect(await activate(view, 'a')).toBe(
    '"a" is ready: its 1 tool can be called through a_suite. Subtools: find. ' +
      'Run one with {"action": "call", "subtool": "<name>", "args": {...}}; ' +
      '{"action": "introspect"} shows their parameters.',
  );
  expect(view.active).toEqual([]);
  expect(namesIn(view)).toEqual([...GATEWAY, 'a_suite']);
  expect(audience.told).toBe(0);
});

test('activating a server that has to start first reports that it is starting', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const { board } = createBoard([flip('a', { start: 'lazy' })], async () => {
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    return new FakeChild();
  });
  const { view } = openView(board);
  const told: unknown[] = [];
  const answered = view.callTool('gateway_activate', Verbatim.of({ name: 'a' }), {
    cancellation: new Cancellation(),
    onProgress: ({ value }) => void told.push(value),
  });
  await vi.advanceTimersByTimeAsync(2_000);
  await answered;
  expect(told).toEqual([{ progress: -1, message: 'Starting server "a"' }]);
});

test('a server that cannot start is reported in a session with a static list', async () => {
  const { board } = createBoard([flip('a')], async () => {
    throw new Error('It is broken.');
  });
  await begun(board);
  const audience = new FakeAudience();
  audience.isStatic = true;
  expect(await activate(board.open(audience), 'a')).toBe('"a" is not ready: It is broken.');
});

test('a server is subscribed to resources as long as any session watches them', async () => {
  const child = new FakeChild();
  child.greeting = { ...child.greeting, capabilities: { resources: {} } };
  child.others = { resources: [{ uri: 'a:1' }, { uri: 'a:2' }] };
  const { board, pool } = createBoard([childConfig({ name: 'a' })], async () => child);
  await pool.warm('a');
  child.watched.splice(0);
  const [one, other] = [openView(board), openView(board)];
  await one.view.watch(new Set(['a:1', 'nobody:1']));
  await other.view.watch(new Set(['a:1', 'a:2']));
  other.view.close();
  await turn();
  one.view.close();
  await turn();
  expect(child.watched).toEqual([['a:1'], ['a:1', 'a:2'], ['a:1'], []]);
});

test('a session keeps watching when its server changes, or is known only later', async () => {
  const children: FakeChild[] = [];
  const { board, pool, update } = createBoard([childConfig({ name: 'a' })], async () => {
    const child = new FakeChild();
    child.greeting = { ...child.greeting, capabilities: { resources: {} } };
    child.others = { resources: [{ uri: 'a:1' }] };
    children.push(child);
    return child;
  });
  const { view } = openView(board);
  await view.watch(new Set(['a:1'])); // nobody knows yet whose it is
  await pool.warm('a');
  update([childConfig({ name: 'a', cwd: '/elsewhere' })]);
  await pool.warm('a');
  await turn();
  expect(children.map(({ watched }) => watched)).toEqual([
    [[], ['a:1']],
    [[], ['a:1']],
  ]);
});

test('a server that refuses to unsubscribe affects no one else', async () => {
  const child = new FakeChild();
  child.greeting = { ...child.greeting, capabilities: { resources: {} } };
  child.others = { resources: [{ uri: 'a:1' }] };
  child.watch = async (uris) => {
    if (uris.size === 0) throw new RpcError(METHOD_NOT_FOUND, 'Method not found');
  };
  const { board, pool } = createBoard([childConfig({ name: 'a' })], async () => child);
  const uncaught = vi.fn();
  process.once('unhandledRejection', uncaught);
  onTestFinished(() => void process.off('unhandledRejection', uncaught));
  await pool.warm('a');
  const { view } = openView(board);
  await view.watch(new Set(['a:1']));
  view.close();
  await turn();
  expect(uncaught).not.toHaveBeenCalled();
});

test('resource updates reach their subscribers, from the owning server', async () => {
  const { board, pool } = createBoard(
    [childConfig({ name: 'a' }), childConfig({ name: 'b' })],
    async ({ name }) => {
      const child = new FakeChild();
      child.greeting = { ...child.greeting, capabilities: { resources: {} } };
      if (name === 'a') child.others = { resources: [{ uri: 'a:1' }] };
      return child;
    },
  );
  await pool.warm('a');
  const [one, other] = [openView(board), openView(board)];
  await one.view.watch(new Set(['a:1']));
  board.resourceUpdated('a', Verbatim.of({ uri: 'a:1' }));
  board.resourceUpdated('b', Verbatim.of({ uri: 'a:1' }));
  board.resourceUpdated('a', Verbatim.of({ uri: 'a:2' }));
  expect(one.audience.updated).toEqual(['{"uri":"a:1"}']);
  expect(other.audience.updated).toEqual([]);
});

test('a running server gets a log level when it changes, not for every session', async () => {
  const child = new FakeChild();
  const { board, pool } = createBoard([childConfig({ name: 'a' })], async () => child);
  await pool.warm('a');
  for (const level of ['info', 'info', 'info', 'error', 'error'] as const) {
    const { view } = openView(board); // as each modern request over HTTP is one
    view.setLogLevel(level);
    view.close();
  }
  expect(child.logLevels).toEqual(['info', 'error']);

  const [one, other] = [openView(board), openView(board)];
  one.view.setLogLevel('warning');
  other.view.setLogLevel('debug');
  one.view.close();
  expect(child.logLevels).toEqual(['info', 'error', 'warning', 'debug']);
});

test('a session that throws does not keep events from the others', async () => {
  const { board, pool } = createBoard([childConfig({ name: 'a', show: 'direct' })]);
  const [one, other] = [openView(board), openView(board)];
  one.audience.announceSoon = () => {
    throw new Error('injected');
  };
  await pool.warm('a');
  expect(other.audience.toldSoon).toBe(1);
});

test('a question outside any call goes to the only host, and to none if there are two', async () => {
  const { board } = createBoard([]);
  const cancellation = new Cancellation();
  const question = { method: 'roots/list', params: undefined, cancellation } as const;
  await expect(board.askOutside(question)).rejects.toMatchObject({ code: -32601 });
  const one = openView(board);
  one.audience.ask = async () => Verbatim.of({ roots: [] });
  openView(board); // one that cannot be asked so does not count
  expect((await board.askOutside(question)).value).toEqual({ roots: [] });
  const other = openView(board);
  other.audience.ask = async () => Verbatim.of({ roots: [] });
  await expect(board.askOutside(question)).rejects.toMatchObject({ code: -32601 });
});

test('the error for a vanished direct tool does not mention introspect', async () => {
  const child = new FakeChild('other');
  child.callTool = () => Promise.reject(new RpcError(METHOD_NOT_FOUND, 'No such tool'));
  const config = childConfig({ name: 'own', show: 'direct' });
  const { board, pool } = createBoard([config], async () => child);
  pool.remember(config, [{ name: 'gone' }]);
  const { view } = openView(board);
  const explain = (name: string, args?: object) =>
    say(view, name, args).catch((error: unknown) => (error as Error).message);
  expect(await explain('gone')).toBe(
    'Server "own" has no subtool "gone". The server\'s error: No such tool.',
  );
  expect(await explain('own_suite', { action: 'call', subtool: 'gone' })).toContain('"introspect"');
});

const reads = { readOnlyHint: true };
const writes = { readOnlyHint: false, destructiveHint: false };
const tool = (name: string, annotations?: object) => ({
  name,
  ...(annotations && { annotations }),
});

/** A server of which these tools are known, and the child that it is when it runs. */
function createKnown(tools: readonly Tool[], some: Partial<ChildConfig> = {}) {
  const child = new FakeChild();
  child.tools = [...tools];
  const config = childConfig({ name: 'a', ...some });
  const { board, pool } = createBoard([config], async () => child);
  pool.remember(config, tools);
  return { board, pool, child, config, ...openView(board) };
}

const annotationsIn = (view: Surface) =>
  Object.fromEntries(view.listTools().map(({ name, annotations }) => [name, annotations]));

test.each([
  ['nothing is known', [], undefined],
  ['no tool says anything', [tool('x')], undefined],
  ['all read', [tool('x', reads)], { ...reads, destructiveHint: false, idempotentHint: true }],
  ['one writes', [tool('x', reads), tool('y', writes)], writes],
  [
    'one that writes is not exposed',
    [tool('x', reads), tool('hidden', writes)],
    { ...reads, destructiveHint: false, idempotentHint: true },
  ],
])('a suite is as safe as its least safe subtool: %s', (_, tools, annotations) => {
  const { view } = createKnown(tools, { expose: { allow: undefined, deny: ['hid*'] } });
  expect(annotationsIn(view)).toEqual({ a_suite: annotations });
});

test('gateway tools are annotated', () => {
  const { board } = createBoard([flip('a')]);
  const harmless = { destructiveHint: false, idempotentHint: true, openWorldHint: false };
  expect(annotationsIn(openView(board).view)).toEqual({
    gateway_activate: { readOnlyHint: false, ...harmless },
    gateway_deactivate: { readOnlyHint: false, ...harmless },
    gateway_status: { readOnlyHint: true, ...harmless },
  });
});

test('changed annotations are announced, and only become weaker', async () => {
  const { view, audience, pool, child, config } = createKnown([]);
  const list = (...tools: Tool[]) => {
    pool.remember(config, tools);
    return annotationsIn(view)['a_suite'];
  };
  expect(annotationsIn(view)['a_suite']).toBeUndefined();
  expect(list(tool('x', reads))).toMatchObject({ readOnlyHint: true });
  expect(audience.toldSoon).toBe(1);
  list(tool('y', reads));
  expect(audience.toldSoon).toBe(1);
  expect(list(tool('x', reads), tool('y', writes))).toMatchObject({ readOnlyHint: false });
  expect(audience.toldSoon).toBe(2);
  expect(list(tool('x', reads))).toMatchObject({ readOnlyHint: false });
  expect(audience.toldSoon).toBe(2);
  expect(child.calls).toBe(0);
});

test('a suite listed as read-only stays read-only for that host until it lists again', async () => {
  const { view, pool, child, config } = createKnown([tool('x', reads)]);
  view.listTools();
  const callIt = (subtool: string) => say(view, 'a_suite', { action: 'call', subtool });
  expect(await callIt('x')).toBe('called x');
  child.tools = [tool('x', reads), tool('y', writes)];
  await expect(callIt('y')).rejects.toMatchObject({
    code: 'TOOL_NOT_ALLOWED',
    message: 'Subtool "y" of server "a" is not marked as read-only, so a_suite cannot call it.',
  });
  expect(child.called).toEqual(['x']);
  expect(pool.hints('a')?.get('y')).toEqual(writes);
  view.listTools();
  expect(await callIt('y')).toBe('called y');
  expect(config.readOnlyTool).toBe(false);
});

test('catalog changes by other programs are picked up after the first list', async () => {
  const folder = temporaryFolder();
  const file = { path: join(folder, 'claims.json'), catalog: join(folder, 'catalog') };
  const config = childConfig({ name: 'a' });
  const open = () => {
    const { pool } = createFakePool([config], async () => new FakeChild());
    const claims = new Claims(file);
    const board = new Board(boardConfig([config]), pool, SILENT_LOG, noAgents, claims);
    return { pool, board, claims, ...openView(board) };
  };
  const first = open();
  first.pool.remember(config, [tool('x', reads)]);
  expect(annotationsIn(first.view)).toMatchObject({ a_suite: reads });
  await first.claims.written();

  const second = open();
  // Without a word to the board, as by another program.
  second.pool.remember(config, [tool('x', reads), tool('y', writes)]);
  expect(annotationsIn(second.view)).toMatchObject({ a_suite: reads });
  mkdirSync(file.catalog);
  second.board.begin();
  expect(annotationsIn(second.view)).toMatchObject({ a_suite: writes });
  expect(second.audience.toldSoon).toBe(1);
  await second.claims.written();
  expect(annotationsIn(open().view)).toMatchObject({ a_suite: writes });
});

test('tool names that contain a secret are not written to the claims file', async () => {
  const folder = temporaryFolder();
  const file = { path: join(folder, 'claims.json'), catalog: folder };
  const config = childConfig({ name: 'a' });
  const child = new FakeChild('tell-s3cr3t');
  child.secret = 's3cr3t';
  const { pool } = createFakePool([config], async () => child);
  const claims = new Claims(file);
  const board = new Board(boardConfig([config]), pool, SILENT_LOG, noAgents, claims);
  await pool.warm('a');
  board.listChanged('a', 'tools');
  openView(board).view.listTools();
  await claims.written();
  expect(existsSync(file.path)).toBe(false);
});

describe('with readOnlyTool', () => {
  const TOOLS = [tool('x', reads), tool('y', writes), tool('z')];

  test('lists a companion that is read-only from the start', () => {
    const known = createKnown(TOOLS, { readOnlyTool: true, suiteName: 'files' });
    const unknown = createBoard([childConfig({ name: 'a', readOnlyTool: true })]);
    const readOnly = { readOnlyHint: true, destructiveHint: false };
    expect(annotationsIn(known.view)).toEqual({
      files: { readOnlyHint: false },
      files_read: readOnly,
    });
    expect(annotationsIn(openView(unknown.board).view)).toEqual({
      a_suite: undefined,
      a_suite_read: readOnly,
    });
  });

  test('the companion shows and calls only read-only subtools', async () => {
    const { view, child } = createKnown(TOOLS, { readOnlyTool: true });
    const { value } = await callView(view, 'a_suite_read', { action: 'introspect' });
    expect(value).toMatchObject({ structuredContent: { tools: [{ name: 'x' }] } });
    const read = (subtool: string) => say(view, 'a_suite_read', { action: 'call', subtool });
    expect(await read('x')).toBe('called x');
    for (const subtool of ['y', 'z', 'nope', 'x ', '__proto__']) {
      await expect(read(subtool)).rejects.toMatchObject({
        code: 'TOOL_NOT_ALLOWED',
        hint: 'Call it through a_suite.',
      });
    }
    expect(await say(view, 'a_suite', { action: 'call', subtool: 'y' })).toBe('called y');
    expect(child.called).toEqual(['x', 'y']);
  });

  test('the companion lists unknown tools before it calls one', async () => {
    const child = new FakeChild();
    child.tools = TOOLS;
    const config = childConfig({ name: 'a', readOnlyTool: true });
    const { board } = createBoard([config], async () => child);
    const { view } = openView(board);
    const read = (subtool: string) => say(view, 'a_suite_read', { action: 'call', subtool });
    await expect(read('y')).rejects.toMatchObject({ code: 'TOOL_NOT_ALLOWED' });
    expect(await read('x')).toBe('called x');
    expect(child.called).toEqual(['x']);
  });

  test('the companion respects expose', async () => {
    const expose = { allow: undefined, deny: ['x'] };
    const { view, child } = createKnown(TOOLS, { readOnlyTool: true, expose });
    const args = { action: 'call', subtool: 'x' };
    await expect(say(view, 'a_suite_read', args)).rejects.toThrow("Subtool 'x' not allowed");
    expect(child.called).toEqual([]);
  });
});

describe('loaded by Claude Code at once', () => {
  const LOADED = { 'anthropic/alwaysLoad': true };
  const metasIn = (view: Surface) =>
    Object.fromEntries(view.listTools().map(({ name, _meta }) => [name, _meta]));
  const suites = (count: number) =>
    Array.from({ length: count }, (_, index) => childConfig({ name: `s${index}` }));

  test('activated tools, unless they say otherwise', async () => {
    const child = new FakeChild();
    child.tools = [{ name: 'x' }, { name: 'y', _meta: { own: 1, 'anthropic/alwaysLoad': false } }];
    const { board } = createBoard([flip('a')], async () => child);
    await begun(board);
    const { view } = openView(board);
    await activate(view, 'a');
    expect(metasIn(view)).toMatchObject({ x: LOADED });
    expect(metasIn(view)['y']).toEqual({ own: 1, 'anthropic/alwaysLoad': false });
  });

  test('not direct tools', async () => {
    const { view } = createKnown([{ name: 'x' }], { show: 'direct' });
    expect(view.listTools()).toEqual([{ name: 'x', inputSchema: { type: 'object' } }]);
  });

  test('up to a dozen suites; beyond that, search hints name their subtools', () => {
    const dozen = openView(createBoard(suites(12)).board).view;
    expect(new Set(dozen.listTools().map(({ _meta }) => JSON.stringify(_meta)))).toEqual(
      new Set([JSON.stringify(LOADED)]),
    );
    const children = [
      ...suites(11),
      childConfig({
        name: 'known',
        keywords: ['tea'],
        expose: { allow: undefined, deny: ['no*'] },
      }),
      childConfig({ name: 'said', keywords: ['cup'] }),
    ];
    const { board, pool } = createBoard(children);
    const known = children[11];
    if (known) pool.remember(known, [{ name: 'boil_water' }, { name: 'not_this' }]);
    const { view } = openView(board);
    const before = JSON.stringify(view.listTools());
    expect(metasIn(view)).toMatchObject({
      s0_suite: {},
      known_suite: { 'anthropic/searchHint': 'tea boil_water' },
      said_suite: { 'anthropic/searchHint': 'cup' },
    });
    expect(before).not.toContain('alwaysLoad');
    if (known) pool.remember(known, [{ name: 'other' }]);
    expect(JSON.stringify(view.listTools())).toBe(before);
  });

  test('stand-ins for direct servers do not count as suites', async () => {
    const children = [...suites(12), childConfig({ name: 'own', show: 'direct' }), flip('on')];
    const { board, pool } = createBoard(children);
    const { view } = openView(board);
    expect(metasIn(view)).toMatchObject({ s0_suite: LOADED, own_suite: LOADED });
    await pool.warm('own');
    expect(metasIn(view)).toMatchObject({ s0_suite: LOADED, own_tool: undefined });
  });
});
