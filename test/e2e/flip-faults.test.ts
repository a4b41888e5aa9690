// Servers that fail while they are switched, names that nobody expects, and hosts that do everything
// at once.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  activate,
  becomes,
  deactivate,
  GATEWAY,
  pidOf,
  reaches,
  serversIn,
  statusOf,
} from '../support/gateway.ts';
import { eventually, processesWith } from '../support/processes.ts';
import { createProject, IS_SHARED, PATIENT, type Project } from '../support/project.ts';
import { RawHost, textOf } from '../support/raw-host.ts';
import { testServer } from '../support/servers.ts';

const toolbox = testServer('toolbox');
const BOX = ['complain', 'echo', 'exit', 'fail', 'say', 'wait', 'where_am_i'];
const flip = (server: object, more: object = {}) => ({ ...server, show: 'flip', ...more });
const lists = (...names: string[]) =>
  testServer('lists', JSON.stringify(names.map((name) => ({ name, inputSchema: {} }))));

function projectWith(servers: object, config: object = {}): Project {
  return createProject({
    '.switchboard/servers.json': servers,
    'switchboard.config.json': config,
  });
}

/** A server that is ready when it is told to go on. */
function slowIn({ dir }: Project) {
  const [own, other] = [join(dir, 'slow-begun'), join(dir, 'slow-goes-on')];
  return { slow: testServer('waits-for-file', own, other), goOn: () => writeFileSync(other, '') };
}

async function reload(host: RawHost, says = 'reloaded the configuration'): Promise<void> {
  const before = host.stderr.length;
  host.process.kill('SIGHUP');
  if (!(await eventually(() => host.stderr.slice(before).includes(says)))) {
    throw new Error(`It said: ${host.stderr.slice(before)}`);
  }
}

test.each(['gateway', 'mcpflip', 'gateway_x'])('a server may be called %s', async (name) => {
  const project = projectWith(
    { first: lists('find'), [name]: lists('find', 'activate', 'gateway_status') },
    { mcpServers: { [`${name}_more`]: toolbox } },
  );
  const host = await RawHost.connect(project);
  await reaches(host, 'first', 'ready');
  await reaches(host, name, 'ready');
  await activate(host, 'first');
  expect(textOf(await activate(host, name))).toContain('Activated');
  const names = await host.toolNames();
  expect(names).toContain(`${name}_find`);
  expect(textOf(await host.callTool(`${name}_find`))).toBe('called find');
  expect(textOf(await host.callTool(`${name}_gateway_status`))).toBe('called gateway_status');
  expect(textOf(await host.callTool('gateway_status'))).toContain(`▶ ${name}: active`);
  expect(textOf(await host.call(`${name}_more`, 'echo', { a: 1 }))).toBe('{"a":1}');
});

test('a server that exits while being switched on is not reported as on', async () => {
  const project = createProject();
  const script = project.write(
    'short.mjs',
    `import { serve } from ${JSON.stringify(testServer('server').args[0])};
     serve({
       tools: [{ name: 'one', inputSchema: { type: 'object' } }],
       call: () => ({ content: [] }),
       onMessage: (text) => {
         if (JSON.parse(text).method === 'tools/list') setTimeout(() => process.exit(9), 50);
       },
     });`,
  );
  project.write('switchboard.config.json', {
    mcpServers: { short: flip({ command: 'node', args: [script] }, { start: 'lazy' }) },
  });
  const host = await RawHost.connect(project);
  const answer = await activate(host, 'short');
  expect(answer.result?.isError).toBe(true);
  expect(textOf(answer)).toContain('"short" is not ready');
  expect(textOf(answer)).toContain('exited with code 9');
  expect(await host.toolNames()).toEqual(GATEWAY);
  expect(await statusOf(host, 'short')).toMatchObject({ state: 'error', active: false });
});

test('a switched-on server that cannot start is in error, and its tools leave the list', async () => {
  const project = createProject();
  const marker = join(project.dir, 'marker');
  writeFileSync(marker, '');
  const script = project.write(
    'once.mjs',
    `import { existsSync } from 'node:fs';
     if (!existsSync(${JSON.stringify(marker)})) process.exit(7);
     await import(${JSON.stringify(toolbox.args[0])});`,
  );
  project.write('switchboard.config.json', {
    mcpServers: { once: flip({ command: 'node', args: [script] }, { idleMs: 100 }) },
  });
  const host = await RawHost.connect(project);
  await reaches(host, 'once', 'idle');
  rmSync(marker);
  expect(textOf(await activate(host, 'once'))).toContain('Activated');
  const told = host.listChanges;
  expect(textOf(await host.callTool('echo'))).toContain('exited with code 7');
  expect(await statusOf(host, 'once')).toMatchObject({
    state: 'error',
    ready: false,
    active: false,
    error: expect.stringContaining('exited with code 7') as string,
  });
  expect(await eventually(() => host.listChanges === told + 1)).toBe(true);
  expect(await host.toolNames()).toEqual(GATEWAY);
});

test('a host that has not sent anything gets no notifications', async () => {
  const project = createProject({
    'switchboard.config.json': {
      mcpServers: { own: { ...testServer('changes', 'one'), show: 'direct' } },
    },
  });
  const host = new RawHost(project, { framing: 'content-length' });
  const catalog = join(project.dir, 'home/.switchboard/cache/catalog');
  expect(await eventually(() => existsSync(catalog))).toBe(true);
  await new Promise((resolve) => setTimeout(resolve, 300)); // what it would say comes after 50 ms
  const { result } = await host.request('initialize', { protocolVersion: '2025-11-25' });
  expect(result?.['protocolVersion']).toBe('2025-11-25');
  expect(host.impure).toEqual([]);
  expect(await host.toolNames()).toEqual(['ask', 'change', 'one']);
});

test('invalid tool names are replaced with ones every host accepts', async () => {
  const odd = [
    'say "hi"',
    'two\nlines',
    'grüß',
    '検索',
    '搜索',
    '__proto__',
    'x'.repeat(300),
    `${'x'.repeat(299)}y`,
    'with.dot',
    ' ',
  ];
  const host = await RawHost.connect(projectWith({ odd: lists(...odd), __proto__: toolbox }));
  expect(await reaches(host, 'odd', 'ready')).toMatchObject({ tools: odd.length });
  await activate(host, 'odd');
  const names = (await host.toolNames()).slice(3);
  expect(names).toHaveLength(odd.length);
  for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_.-]{1,46}$/);
  const called = await Promise.all(names.map((name) => host.callTool(name)));
  expect(called.map(textOf).toSorted()).toEqual(odd.map((name) => `called ${name}`).toSorted());
});

test('a switched-on server whose declaration changes lists its new tools', async () => {
  const project = createProject();
  const configure = (...tools: string[]) =>
    project.write('switchboard.config.json', {
      mcpServers: { own: flip(testServer('changes', ...tools), { start: 'lazy' }) },
    });
  configure('one');
  const host = await RawHost.connect(project);
  await activate(host, 'own');
  expect(await host.toolNames()).toEqual([...GATEWAY, 'ask', 'change', 'one']);
  configure('two');
  await reload(host);
  const hasNew = async () => (await host.toolNames()).includes('two');
  expect(await becomes(hasNew)).toBe(true);
  expect(await statusOf(host, 'own')).toMatchObject({ state: 'active', tools: 3 });
});

test('a server turned off by a new configuration is stopped', async () => {
  const tag = `off-${Math.random().toString(36).slice(2)}`;
  const project = createProject();
  const configure = (more: object) =>
    project.write('switchboard.config.json', {
      mcpServers: { box: { ...testServer('toolbox', tag), show: 'flip', ...more } },
    });
  configure({});
  const host = await RawHost.connect(project);
  await reaches(host, 'box', 'ready');
  await activate(host, 'box');
  configure({ disabled: true });
  await reload(host);
  expect(await eventually(() => processesWith(tag).length === 0)).toBe(true);
  expect(await host.toolNames()).toEqual([]);
  configure({});
  await reload(host);
  await reaches(host, 'box', 'ready');
});

test('a server that stops being switchable while it is switched on is not on', async () => {
  const project = createProject();
  const { slow, goOn } = slowIn(project);
  const configure = (show: string) =>
    project.write('switchboard.config.json', {
      mcpServers: { slow: { ...slow, show, start: 'lazy' }, box: flip(toolbox) },
      ...PATIENT,
    });
  configure('flip');
  const host = await RawHost.connect(project);
  const switching = activate(host, 'slow');
  await host.request('ping');
  configure('suite');
  await reload(host);
  goOn();
  const answer = await switching;
  expect(answer.result?.isError).toBe(true);
  expect(textOf(answer)).toContain('use it through the tool slow_suite');
  configure('flip');
  await reload(host);
  expect(await statusOf(host, 'slow')).toMatchObject({ active: false });
});

test('a denied tool of a switched-on server does not suggest switching it on', async () => {
  const project = projectWith(
    { box: toolbox },
    { suites: { box: { expose: { deny: ['wait'] } } } },
  );
  const host = await RawHost.connect(project);
  await reaches(host, 'box', 'ready');
  const off = await host.callTool('echo');
  expect(off.error?.message).toContain('which is not active');
  await activate(host, 'box');
  const { error } = await host.callTool('wait');
  expect(error?.message).toContain('Unknown tool: wait');
  expect(error?.message).not.toContain('which is not active');
});

test('servers that hang delay the others only briefly', async () => {
  const mute = testServer('starts-slowly', '600000');
  const names = Array.from({ length: 60 }, (_, index) => `s${String(index).padStart(2, '0')}`);
  const servers = Object.fromEntries(
    names.map((name, index) => [name, index % 2 === 0 ? mute : toolbox]),
  );
  const host = await RawHost.connect(projectWith(servers, { timeouts: { childSpawnMs: 100_000 } }));
  const areUp = async () => {
    const { result } = await host.callTool('gateway_status');
    return serversIn(result).filter(({ state }) => state === 'ready').length === 30;
  };
  expect(await becomes(areUp)).toBe(true);
});

test('switching 500 times keeps the same server and the same list', async () => {
  const host = await RawHost.connect(projectWith({ box: toolbox }), { client: 'codex-mcp-client' });
  const before = await host.toolNames();
  await reaches(host, 'box', 'ready');
  await activate(host, 'box');
  const pid = await pidOf(host);
  const answers = [];
  for (let time = 0; time < 500; time++) {
    answers.push(deactivate(host, 'box'), activate(host, 'box'));
    if (time % 50 === 0) await host.request('ping');
  }
  const texts = (await Promise.all(answers)).map(textOf);
  expect(texts.filter((text) => text.startsWith('Activated "box". This host'))).toHaveLength(500);
  expect(texts.filter((text) => text.startsWith('Deactivated "box"'))).toHaveLength(500);
  expect(host.listChanges).toBe(1_001);
  expect(await pidOf(host)).toBe(pid);
  expect(await host.toolNames()).toEqual([...before, ...BOX]);
  await deactivate(host, 'box');
  expect(await host.toolNames()).toEqual(before);
});

test('many servers can be switched on at once, and a duplicate request counts once', async () => {
  const names = Array.from({ length: 10 }, (_, index) => `s${index}`);
  const servers = Object.fromEntries(
    names.map((name) => [name, flip(lists(`${name}_tool`), { start: 'lazy' })]),
  );
  const project = createProject({ 'switchboard.config.json': { mcpServers: servers } });
  const host = await RawHost.connect(project);
  const answers = await Promise.all([...names, ...names].map((name) => activate(host, name)));
  const activated = answers.filter((answer) => textOf(answer).startsWith('Activated'));
  expect(activated).toHaveLength(10);
  expect((await host.toolNames()).slice(3)).toEqual(names.map((name) => `${name}_tool`));
});

test('cancelling gateway_activate during a start sends no answer and leaves the server off', async () => {
  const project = createProject();
  const { slow, goOn } = slowIn(project);
  project.write('switchboard.config.json', {
    mcpServers: { slow: flip(slow, { start: 'lazy' }) },
    ...PATIENT,
  });
  const host = await RawHost.connect(project);
  void activate(host, 'slow');
  const id = host.requested.at(-1);
  host.notify('notifications/cancelled', { requestId: id });
  await host.request('ping'); // it has been read
  goOn();
  expect(await reaches(host, 'slow', 'ready')).toMatchObject({ active: false, tools: 7 });
  expect(await host.toolNames()).toEqual(GATEWAY);
  expect(host.messages.some((message) => message['id'] === id)).toBe(false);
  expect(textOf(await activate(host, 'slow'))).toContain('Activated');
});

test('servers that exit during warm-up are in error, each with its own output', async () => {
  const exits = (code: number, when: string) => ({
    command: 'node',
    args: ['-e', when.replace('EXIT', `(console.error('bye ${code}'), process.exit(${code}))`)],
  });
  const host = await RawHost.connect(
    projectWith({
      atOnce: exits(3, 'EXIT'),
      reading: exits(4, "process.stdin.on('data', () => EXIT)"),
      box: toolbox,
    }),
  );
  expect((await reaches(host, 'atOnce', 'error')).error).toContain('exited with code 3');
  expect((await reaches(host, 'reading', 'error')).error).toContain('exited with code 4');
  await reaches(host, 'box', 'ready');
  expect(textOf(await activate(host, 'reading'))).toContain('bye 4');
});

test('five thousand tools are listed, partly named, and removed again', async () => {
  const project = createProject();
  const script = project.write(
    'many.mjs',
    `import { serve } from ${JSON.stringify(testServer('server').args[0])};
     const names = Array.from({ length: 5_000 }, (_, index) => 'tool_' + index);
     serve({
       tools: names.map((name) => ({ name, description: 'x'.repeat(200), inputSchema: {} })),
       call: (name) => ({ content: [{ type: 'text', text: name }] }),
     });`,
  );
  project.write('.switchboard/servers.json', { many: { command: 'node', args: [script] } });
  const host = await RawHost.connect(project);
  expect(await reaches(host, 'many', 'ready')).toMatchObject({ tools: 5_000 });
  const text = textOf(await activate(host, 'many'));
  expect(text).toContain('5000 tools');
  expect(text).toContain('and 4940 more');
  expect(await host.toolNames()).toHaveLength(5_003);
  expect(textOf(await host.callTool('tool_4999'))).toBe('tool_4999');
  await deactivate(host, 'many');
  expect(await host.toolNames()).toEqual(GATEWAY);
});

test('a flood of changes during a switch causes few lists and notifications', async () => {
  const host = await RawHost.connect(projectWith({ own: testServer('changes', 'one') }));
  await reaches(host, 'own', 'ready');
  const storm = host.call('own', 'change', { tools: ['one', 'two'], times: 20_000 });
  await Promise.all([storm, activate(host, 'own')]);
  const hasNew = async () => (await host.toolNames()).includes('two');
  expect(await becomes(hasNew)).toBe(true);
  expect(host.listChanges).toBeLessThan(20);
  const [, count = ''] = /listed (\d+) times/.exec(textOf(await host.callTool('ask'))) ?? [];
  expect(Number(count)).toBeLessThan(50);
});

test.each(['SIGTERM', 'SIGINT', 'end of input'])(
  '%s during warm-up leaves no process',
  async (how) => {
    const tag = `warm-${Math.random().toString(36).slice(2)}`;
    const servers = Object.fromEntries(
      Array.from({ length: 12 }, (_, index) => [
        `s${index}`,
        index % 2 === 0 ? testServer('starts-slowly', '600000', tag) : testServer('toolbox', tag),
      ]),
    );
    const host = await RawHost.connect(projectWith(servers));
    expect(await eventually(() => processesWith(tag).length > 2)).toBe(true);
    if (how === 'end of input') host.process.stdin?.end();
    else host.process.kill(how as NodeJS.Signals);
    expect(await host.exited).toMatchObject({ code: 0 });
    expect(processesWith(tag)).toEqual([]);
  },
);

// A background process has files there.
test.skipIf(IS_SHARED)(
  'a catalog that is a file, or full of other files, is not a problem',
  async () => {
    const project = projectWith({ box: toolbox });
    project.write('home/.switchboard/cache/catalog', 'not a folder');
    const first = await RawHost.connect(project);
    await reaches(first, 'box', 'ready');
    expect(textOf(await activate(first, 'box'))).toContain('Activated');
    expect(await first.lastWords()).toContain('cannot write the catalog to disk');

    rmSync(join(project.dir, 'home/.switchboard/cache/catalog'));
    for (const junk of [
      '.json',
      'box-.json',
      'x/y.json',
      'box.json/deeper',
      '../run/1-a-b',
      '../../logs',
    ])
      project.write(
        join('home/.switchboard/cache/catalog', junk),
        '\u0000{"form":1,"tools":[null,{}]}',
      );
    const second = await RawHost.connect(project);
    await reaches(second, 'box', 'ready');
    expect(textOf(await activate(second, 'box'))).toContain('7 tools');
    expect(await second.lastWords()).not.toContain('catalog');
  },
);

// The two would share the server.
test.skipIf(IS_SHARED)(
  'two programs share a home: each has its own servers and switches, and the catalog stays intact',
  async () => {
    const project = projectWith({ own: testServer('changes', 'one') });
    const hosts = await Promise.all([RawHost.connect(project), RawHost.connect(project)]);
    const [first, second] = hosts;
    for (const host of hosts) await reaches(host, 'own', 'ready');
    await activate(first, 'own');
    expect(await second.toolNames()).toEqual(GATEWAY);
    const pid = async (host: RawHost) =>
      textOf(await host.call('own', 'ask')).replace(/.*pid /, '');
    expect(await pid(first)).not.toBe(await pid(second));
    await Promise.all(hosts.map((host) => host.call('own', 'change', { tools: ['two'] })));
    await Promise.all(
      hosts.map((host) => becomes(async () => (await statusOf(host, 'own'))?.tools === 3)),
    );
    await Promise.all(hosts.map((host) => host.close()));
    const folder = join(project.dir, 'home/.switchboard/cache/catalog');
    const files = readdirSync(folder);
    expect(files).toHaveLength(1);
    expect(JSON.parse(readFileSync(join(folder, files[0] ?? ''), 'utf8'))).toMatchObject({
      name: 'own',
    });
  },
);
