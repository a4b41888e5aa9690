// Servers that are switched on and off: what the host sees at each step, and how the servers live
// through it.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { activate, deactivate, GATEWAY, pidOf, reaches, statusOf } from '../support/gateway.ts';
import { eventually } from '../support/processes.ts';
import { createProject, type Project } from '../support/project.ts';
import { RawHost, textOf } from '../support/raw-host.ts';
import { MOCK_CHILD, testServer } from '../support/servers.ts';

const BOX = ['complain', 'echo', 'exit', 'fail', 'say', 'wait', 'where_am_i'];
const toolbox = testServer('toolbox');

function projectWith(servers: object, config?: object): Project {
  return createProject({
    '.switchboard/servers.json': servers,
    ...(config ? { 'switchboard.config.json': config } : {}),
  });
}

/** The names of requests, in the order in which they are answered. */
async function orderOf(requests: Record<string, Promise<unknown>>): Promise<string[]> {
  const order: string[] = [];
  const noted = Object.entries(requests).map(([name, answer]) =>
    answer.then(() => order.push(name)),
  );
  await Promise.all(noted);
  return order;
}

test('before anything is switched on, only the gateway’s three tools are listed', async () => {
  const host = await RawHost.connect(projectWith({ box: toolbox, mock: MOCK_CHILD }));
  expect(await host.toolNames()).toEqual(GATEWAY);
  await reaches(host, 'box', 'ready');
  expect(await host.toolNames()).toEqual(GATEWAY);
  expect(host.listChanges).toBe(0);
});

test('there is no gateway without switchable servers', async () => {
  const project = createProject({ 'switchboard.config.json': { mcpServers: { box: toolbox } } });
  const host = await RawHost.connect(project);
  expect(await host.toolNames()).toEqual(['box_suite']);
  const { error } = await host.callTool('gateway_status');
  expect(error?.code).toBe(-32602);
});

test('all servers are warmed up at once, and each lists its tools exactly once', async () => {
  const project = createProject();
  const files = ['a', 'b', 'c'].map((name) => join(project.dir, `${name}.txt`));
  const servers = Object.fromEntries(
    files.map((file, index) => [`s${index}`, testServer('recording', file)]),
  );
  project.write('.switchboard/servers.json', servers);
  const host = await RawHost.connect(project);
  for (const name of Object.keys(servers)) await reaches(host, name, 'ready');
  await activate(host, 's0');
  for (const file of files) {
    const methods = readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => (JSON.parse(line) as { method: string }).method);
    expect(methods).toEqual([
      'server/discover',
      'initialize',
      'notifications/initialized',
      'tools/list',
    ]);
  }
});

test('servers start concurrently: two that depend on each other are both ready', async () => {
  const project = createProject();
  const [one, other] = ['one', 'other'].map((name) => join(project.dir, name));
  project.write('.switchboard/servers.json', {
    one: testServer('waits-for-file', one ?? '', other ?? ''),
    other: testServer('waits-for-file', other ?? '', one ?? ''),
  });
  const host = await RawHost.connect(project);
  expect(await reaches(host, 'one', 'ready')).toMatchObject({ tools: 7 });
  expect(await reaches(host, 'other', 'ready')).toMatchObject({ tools: 7 });
});

test('a server that cannot start is in error, explains why, and delays nothing', async () => {
  const project = projectWith({
    bogus: { command: 'no-such-program-anywhere' },
    mute: testServer('starts-slowly', '600000'),
    box: toolbox,
  });
  const host = await RawHost.connect(project);
  await reaches(host, 'box', 'ready');
  expect(await statusOf(host, 'mute')).toMatchObject({ state: 'warming', ready: false });
  expect(await reaches(host, 'bogus', 'error')).toMatchObject({
    ready: false,
    active: false,
    error: expect.stringContaining('no-such-program-anywhere was not found') as string,
  });
  expect(await reaches(host, 'mute', 'error')).toMatchObject({
    error: expect.stringContaining('did not respond to the handshake') as string,
  });
  expect(textOf(await host.callTool('gateway_status'))).toContain('✗ bogus: error');
});

test('activating a server lists its tools and notifies the host', async () => {
  const project = projectWith({ box: toolbox, mock: MOCK_CHILD });
  const host = await RawHost.connect(project);
  await reaches(host, 'box', 'ready');
  await reaches(host, 'mock', 'ready');

  const text = textOf(await activate(host, 'box'));
  expect(text).toContain('Activated "box" — 7 tools injected into context.');
  expect(text).toContain('complain, echo, exit');
  expect(text).not.toContain('box_suite'); // this host does not list it
  expect(host.listChanges).toBe(1);
  expect(await host.toolNames()).toEqual([...GATEWAY, ...BOX]);
  expect(await statusOf(host, 'box')).toMatchObject({ state: 'active', ready: true, active: true });

  await activate(host, 'mock');
  expect(await host.toolNames()).toEqual([
    ...GATEWAY,
    ...BOX,
    'click',
    'mock_echo',
    'navigate',
    'type_text',
  ]);
  expect(host.listChanges).toBe(2);
});

test('results and errors of a switched-on tool are the server’s own', async () => {
  const project = createProject();
  const result =
    '{"content":[{"type":"image","data":"aGk=","mimeType":"image/png"}],"isError":true,"structuredContent":{"n":18446744073709551615},"_meta":{"x":1},"own":[1.0]}';
  project.write('.switchboard/servers.json', {
    rec: testServer('recording', join(project.dir, 'log.txt'), result),
    box: toolbox,
  });
  const host = await RawHost.connect(project);
  await reaches(host, 'rec', 'ready');
  await reaches(host, 'box', 'ready');
  await activate(host, 'rec');
  await host.callTool('page_open');
  expect(host.texts).toContainEqual(expect.stringContaining(`"result":${result}`));
  await activate(host, 'box');
  const { error } = await host.callTool('fail', { code: -32123, message: 'no', data: { a: 1 } });
  expect(error).toMatchObject({ code: -32123, data: { a: 1 } });
  expect(textOf(await host.callTool('echo', { deep: [1] }))).toBe('{"deep":[1]}');
});

test('switching off removes the tools and keeps the server running; on again uses the same one', async () => {
  const host = await RawHost.connect(projectWith({ box: toolbox }));
  await reaches(host, 'box', 'ready');
  await activate(host, 'box');
  const pid = await pidOf(host);

  expect(textOf(await deactivate(host, 'box'))).toContain('Deactivated "box" — 7 tools removed');
  expect(host.listChanges).toBe(2);
  expect(await host.toolNames()).toEqual(GATEWAY);
  expect(await statusOf(host, 'box')).toMatchObject({ state: 'ready', active: false });
  const { error } = await host.callTool('where_am_i');
  expect(error?.message).toContain('belongs to server "box", which is not active');

  await activate(host, 'box');
  expect(await pidOf(host)).toBe(pid);
});

test('each name that cannot be switched gets a clear answer', async () => {
  const project = projectWith(
    { box: toolbox, slow: testServer('starts-slowly', '600000') },
    {
      mcpServers: {
        suite: toolbox,
        plain: { ...testServer('changes', 'plain_tool'), show: 'direct' },
      },
      timeouts: { childSpawnMs: 5_000 },
    },
  );
  const host = await RawHost.connect(project);
  await reaches(host, 'box', 'ready');
  await expect.poll(() => host.toolNames(), { timeout: 60_000 }).toContain('plain_tool');
  const unknown = await activate(host, 'bo');
  expect(unknown.result?.isError).toBe(true);
  expect(textOf(unknown)).toBe('Unknown server "bo". Available servers: box, slow.');
  expect(textOf(await deactivate(host, 'nope'))).toContain('Unknown server "nope"');
  expect(textOf(await activate(host, 'slow'))).toContain(
    '"slow" is not ready: Server "slow" did not respond to the handshake',
  );
  expect(textOf(await deactivate(host, 'box'))).toBe('"box" is not active.');
  await activate(host, 'box');
  expect(textOf(await activate(host, 'box'))).toContain('"box" is already active.');
  expect(textOf(await activate(host, 'suite'))).toContain('use it through the tool suite_suite');
  expect(textOf(await activate(host, 'plain'))).toContain('its tools are always listed');
  expect(textOf(await host.callTool('gateway_activate'))).toContain('needs a server name');
  expect(host.listChanges).toBeLessThanOrEqual(3);
});

test('gateway_activate waits for a server that is still starting', async () => {
  const host = await RawHost.connect(projectWith({ slow: testServer('starts-slowly', '1000') }));
  expect((await statusOf(host, 'slow'))?.state).toBe('warming');
  expect(textOf(await activate(host, 'slow'))).toContain('Activated "slow"');
});

test('the gateway’s older names work but are not listed', async () => {
  const host = await RawHost.connect(projectWith({ box: toolbox }));
  await reaches(host, 'box', 'ready');
  expect(textOf(await host.callTool('mcpflip_activate', { name: 'box' }))).toContain('Activated');
  expect(textOf(await host.callTool('mcpflip_status'))).toContain('▶ box: active (7 tools)');
  expect(textOf(await host.callTool('mcpflip_deactivate', { name: 'box' }))).toContain('Deactiv');
  expect(await host.toolNames()).toEqual(GATEWAY);
});

test('an exit removes the tools and is reported; switching on tries again', async () => {
  const host = await RawHost.connect(projectWith({ box: toolbox }));
  await reaches(host, 'box', 'ready');
  await activate(host, 'box');
  const before = host.listChanges;
  const pid = await pidOf(host);
  process.kill(pid, 'SIGKILL');

  expect(await reaches(host, 'box', 'error')).toMatchObject({
    error: expect.stringContaining('was killed (SIGKILL)') as string,
  });
  expect(await eventually(() => host.listChanges === before + 1)).toBe(true);
  expect(await host.toolNames()).toEqual(GATEWAY);

  expect(textOf(await activate(host, 'box'))).toContain('Activated "box"');
  expect(await pidOf(host)).not.toBe(pid);
});

test('a server that cannot restart explains why, and stays in error', async () => {
  const project = createProject();
  const marker = join(project.dir, 'marker');
  writeFileSync(marker, '');
  const script = project.write(
    'once.mjs',
    `import { existsSync } from 'node:fs';
     if (!existsSync(${JSON.stringify(marker)})) { console.error('the marker is gone'); process.exit(7); }
     await import(${JSON.stringify(toolbox.args[0])});`,
  );
  project.write('.switchboard/servers.json', { once: { command: 'node', args: [script] } });
  const host = await RawHost.connect(project);
  await reaches(host, 'once', 'ready');
  await activate(host, 'once');
  rmSync(marker);
  await host.callTool('exit', { code: 3 });
  await reaches(host, 'once', 'error');

  const answer = await activate(host, 'once');
  expect(answer.result?.isError).toBe(true);
  expect(textOf(answer)).toContain('exited with code 7');
  expect(textOf(answer)).toContain('the marker is gone');
  expect(await statusOf(host, 'once')).toMatchObject({ state: 'error' });
});

test('a taken name becomes <server>_<tool>, and a name is never reused', async () => {
  const lists = (...names: string[]) =>
    testServer('lists', JSON.stringify(names.map((name) => ({ name, inputSchema: {} }))));
  const project = projectWith({
    first: lists('find', 'gateway_activate'),
    second: lists('find', 'second_suite', 'other'),
  });
  const host = await RawHost.connect(project);
  await reaches(host, 'first', 'ready');
  await reaches(host, 'second', 'ready');
  await activate(host, 'second');
  expect(await host.toolNames()).toEqual([...GATEWAY, 'find', 'other', 'second_second_suite']);
  await activate(host, 'first');
  expect(await host.toolNames()).toEqual([
    ...GATEWAY,
    'first_find',
    'first_gateway_activate',
    'find',
    'other',
    'second_second_suite',
  ]);
  expect(textOf(await host.callTool('first_gateway_activate'))).toBe('called gateway_activate');
  await deactivate(host, 'second');
  await deactivate(host, 'first');
  await activate(host, 'first');
  // It is listed by one name, and called through the suite by the other.
  expect(textOf(await activate(host, 'second'))).toContain('second_find (subtool find)');
  expect(textOf(await host.call('second', 'find'))).toBe('called find');
  expect(await host.toolNames()).toEqual([
    ...GATEWAY,
    'find',
    'first_gateway_activate',
    'second_find',
    'other',
    'second_second_suite',
  ]);
  await deactivate(host, 'second');
  const { error } = await host.callTool('second_find');
  expect(error?.message).toContain('belongs to server "second"');
});

test('denied tools are not listed', async () => {
  const project = projectWith(
    { box: toolbox },
    { suites: { box: { expose: { deny: ['exit', 'w*'] } } } },
  );
  const host = await RawHost.connect(project);
  await reaches(host, 'box', 'ready');
  expect(textOf(await activate(host, 'box'))).toContain('— 4 tools');
  expect(await host.toolNames()).toEqual([...GATEWAY, 'complain', 'echo', 'fail', 'say']);
  expect((await host.callTool('wait')).error?.code).toBe(-32602);
});

test('suites, switched-on and direct tools are listed in a fixed order', async () => {
  const project = projectWith(
    { box: toolbox },
    {
      mcpServers: {
        always: { ...testServer('changes', 'zebra'), show: 'direct' },
        memory: toolbox,
        hidden: { ...toolbox, show: 'off' },
      },
    },
  );
  const host = await RawHost.connect(project);
  await reaches(host, 'box', 'ready');
  expect(await eventually(() => host.listChanges > 0)).toBe(true);
  await activate(host, 'box');
  expect(await host.toolNames()).toEqual([
    ...GATEWAY,
    'memory_suite',
    'ask',
    'change',
    'zebra',
    ...BOX,
  ]);
  expect((await host.call('hidden', 'echo')).error?.message).toContain('Unknown tool');
});

test('each server tool can be called through its suite, switched on or not', async () => {
  const host = await RawHost.connect(projectWith({ box: toolbox }));
  expect(textOf(await host.call('box', 'echo', { a: 1 }))).toBe('{"a":1}');
  expect(await host.toolNames()).toEqual(GATEWAY);
});

test('the answer waits for the host to fetch the list', async () => {
  const host = await RawHost.connect(projectWith({ box: toolbox }));
  await reaches(host, 'box', 'ready');
  // Read one after the other: by the time of the second the host has been told.
  const activated = activate(host, 'box');
  const fetched = host.request('tools/list');
  const { id } = await activated;
  const at = (found: (message: Record<string, unknown>) => boolean) =>
    host.messages.findIndex((message) => found(message));
  const told = at(({ method }) => method === 'notifications/tools/list_changed');
  const listed = at(({ result }) => JSON.stringify(result ?? {}).includes('"where_am_i"'));
  const answered = at((message) => message['id'] === id);
  expect([told, listed, answered].toSorted((a, b) => a - b)).toEqual([told, listed, answered]);
  expect(told).toBeGreaterThan(-1);
  expect(host.messages[listed]?.['id']).toBe((await fetched).id);
});

test('a host that does not refresh its tool list is waited for only once', async () => {
  const servers = { box: toolbox, mock: MOCK_CHILD };
  const host = await RawHost.connect(projectWith(servers, { mcpServers: { other: toolbox } }));
  await reaches(host, 'box', 'ready');
  await reaches(host, 'mock', 'ready');
  await host.call('other', 'echo');
  const begin = performance.now();
  await activate(host, 'box');
  expect(performance.now() - begin).toBeGreaterThan(900);
  const wait = host.call('other', 'wait', { ms: 500 });
  expect(await orderOf({ on: activate(host, 'mock'), wait })).toEqual(['on', 'wait']);
});

test('a host known not to refresh its tool list is not waited for, and has suites from the start', async () => {
  const project = projectWith({ box: toolbox });
  const host = await RawHost.connect(project, { client: 'codex-mcp-client' });
  const first = await host.toolNames();
  expect(first).toEqual([...GATEWAY, 'box_suite']);
  await reaches(host, 'box', 'ready');
  const wait = host.call('box', 'wait', { ms: 500 });
  expect(await orderOf({ on: activate(host, 'box'), wait })).toEqual(['on', 'wait']);
  expect(textOf(await host.call('box', 'echo', { x: 1 }))).toBe('{"x":1}');
});

test.each([
  ['always', 'test', true],
  ['never', 'codex-mcp-client', false],
  ['auto', 'test', false],
])('flip.suites: %s, for the host %s', async (suites, client, isListed) => {
  const project = projectWith({ box: toolbox }, { flip: { suites } });
  const host = await RawHost.connect(project, { client });
  expect((await host.toolNames()).includes('box_suite')).toBe(isListed);
});

test('a lazy server starts when switched on, unless its tools are known', async () => {
  const project = createProject({
    'switchboard.config.json': { mcpServers: { box: { ...toolbox, show: 'flip', start: 'lazy' } } },
  });
  const first = await RawHost.connect(project);
  expect(await statusOf(first, 'box')).toMatchObject({ state: 'idle' });
  await activate(first, 'box');
  expect(await first.toolNames()).toEqual([...GATEWAY, ...BOX]);
  await first.close();

  const second = await RawHost.connect(project);
  expect(await statusOf(second, 'box')).toMatchObject({ state: 'idle', tools: 7 });
  await activate(second, 'box');
  expect(await second.toolNames()).toEqual([...GATEWAY, ...BOX]);
  expect(textOf(await second.callTool('echo', { b: 2 }))).toBe('{"b":2}');
});

test('a servers.json named on the command line replaces all others', async () => {
  const project = projectWith({ box: toolbox });
  project.write('old/servers.json', { mock: MOCK_CHILD });
  const host = await RawHost.connect(project, { args: ['--servers', 'old/servers.json'] });
  await reaches(host, 'mock', 'ready');
  expect(await statusOf(host, 'box')).toBeUndefined();
});

test('variables in a servers.json are expanded with and without braces', async () => {
  const project = projectWith({
    box: { ...toolbox, args: [...toolbox.args, '$FLAVOUR', '${FLAVOUR}-2', '$NOT_SET', 'a$'] },
  });
  const host = await RawHost.connect(project, { env: { FLAVOUR: 'sweet' } });
  await reaches(host, 'box', 'ready');
  await activate(host, 'box');
  const { args } = JSON.parse(textOf(await host.callTool('where_am_i'))) as { args: string[] };
  expect(args).toEqual(['sweet', 'sweet-2', '$NOT_SET', 'a$']);
});
