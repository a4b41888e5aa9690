// A day with servers that are switched on and off, as hosts live through it: the official SDK's
// clients, which fetch the list again when they are told to, and published servers declared by name
// and command alone.
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, test } from 'vitest';
import { becomes, GATEWAY, type ServerStatus, serversIn } from '../support/gateway.ts';
import { wholeLines } from '../support/lines.ts';
import { childrenOf, eventually, isAlive } from '../support/processes.ts';
import { createProject, PATIENT, type Project } from '../support/project.ts';
import { RawHost } from '../support/raw-host.ts';
import {
  connectHost,
  type RelistingHost,
  SDK_CLIENTS,
  switchboardIn,
} from '../support/relisting-host.ts';
import { MOCK_CHILD, publishedServer, type ServerEntry, testServer } from '../support/servers.ts';

type Servers = Record<string, ServerEntry>;

/** A project whose servers stand in a `servers.json`, each with a command and arguments. */
function createFlipProject(servers: (project: Project) => Servers): [Project, Servers] {
  const project = createProject({
    'files/tea.txt': 'Darjeeling\n',
    'switchboard.config.json': PATIENT,
  });
  const declared = servers(project);
  project.write('.switchboard/servers.json', declared);
  // Handed on to the servers: the memory server would write into its own package otherwise.
  project.env['MEMORY_FILE_PATH'] = join(project.dir, 'memory.jsonl');
  return [project, declared];
}

const published = ({ dir }: Project): Servers => ({
  everything: publishedServer('everything', 'stdio'),
  filesystem: publishedServer('filesystem', join(dir, 'files')),
  memory: publishedServer('memory'),
});

/** A server that does not answer until there is such a file, and refuses then. */
function refusingLater(file: string): ServerEntry {
  const [program = ''] = testServer('refuses-handshake').args;
  const code = `
    const isThere = () => require('node:fs').existsSync(${JSON.stringify(file)});
    const timer = setInterval(() => isThere() && (clearInterval(timer), import(${JSON.stringify(program)})), 20);`;
  return { command: process.execPath, args: ['-e', code] };
}

/**
 * Waits until the host shows so many tools. An answer waits for its fetching them, but not for longer
 * than a second, in which a machine with much else to do may not get to it.
 */
async function shows(host: RelistingHost, count: number): Promise<void> {
  await expect.poll(() => host.shown.length).toBe(count);
}

const namesShown = (host: RelistingHost) => host.shown.map(({ name }) => name);
const activate = (host: RelistingHost, name: string) => host.callTool('gateway_activate', { name });
const deactivate = (host: RelistingHost, name: string) =>
  host.callTool('gateway_deactivate', { name });
const textOf = (result: Record<string, unknown>) =>
  (result['content'] as { text: string }[]).map(({ text }) => text).join('');

async function statusOf(host: RelistingHost, name: string): Promise<ServerStatus | undefined> {
  return serversIn(await host.callTool('gateway_status')).find((server) => server.name === name);
}

async function reaches(host: RelistingHost, name: string, state: string): Promise<ServerStatus> {
  let status: ServerStatus | undefined;
  const isThere = async () => (status = await statusOf(host, name))?.state === state;
  if ((await becomes(isThere)) && status) return status;
  throw new Error(`${name} is ${JSON.stringify(status)}`);
}

/** What a recording server was sent. */
function messagesIn(file: string): { readonly method: string }[] {
  const lines = wholeLines(file).filter((line) => line.startsWith('{'));
  return lines.map((line) => JSON.parse(line) as { method: string });
}

const methodsIn = (file: string): string[] => messagesIn(file).map(({ method }) => method);

/** What a server hears when it is warmed up for the first time, and not once more after that. */
const WARMING_UP = ['server/discover', 'initialize', 'notifications/initialized', 'tools/list'];

/** The everything server puts the time of the answer into some texts. */
function withoutTimes(result: unknown): unknown {
  return JSON.parse(JSON.stringify(result).replaceAll(/\d{1,2}:\d\d:\d\d/g, 'TIME')) as unknown;
}

describe.each(SDK_CLIENTS)('$client', ({ connect }) => {
  /** The same client, connected with one of the servers itself. */
  const connectDirectly = (project: Project, { command, args }: ServerEntry) =>
    connectHost(connect, { command, args, cwd: project.dir, env: project.env });

  test('start: every server is warmed up, and only the gateway is listed', async () => {
    const [project] = createFlipProject((project) => ({
      ...published(project),
      recording: testServer('recording', join(project.dir, 'recording.txt')),
      broken: { command: 'no-such-program-anywhere', args: [] },
    }));
    const host = await connectHost(connect, switchboardIn(project));
    expect(namesShown(host)).toEqual(GATEWAY);
    for (const name of ['everything', 'filesystem', 'memory', 'recording']) {
      const { tools } = await reaches(host, name, 'ready');
      expect(tools).toBeGreaterThan(3);
    }
    await reaches(host, 'broken', 'error');
    expect(namesShown(host)).toEqual(GATEWAY);
    expect(host.timesTold).toBe(0);
    expect(methodsIn(join(project.dir, 'recording.txt'))).toEqual(WARMING_UP);
  });

  test('on: the host is notified, fetches the list, and sees the server’s own tools', async () => {
    const [project, servers] = createFlipProject(published);
    const host = await connectHost(connect, switchboardIn(project));
    const gateway = host.shown;
    const own = async (name: string) => {
      const direct = await connectDirectly(project, servers[name] ?? MOCK_CHILD);
      // Nothing is changed, and one thing added: Claude Code would hide them otherwise.
      const _meta = { 'anthropic/alwaysLoad': true };
      const tools = direct.shown.map((tool) => Object.assign({}, tool, { _meta }));
      return tools.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    };
    await reaches(host, 'everything', 'ready');
    expect(textOf(await activate(host, 'everything'))).toContain('Activated "everything"');
    expect(host.timesTold).toBe(1);
    const everything = await own('everything');
    await shows(host, gateway.length + everything.length);
    expect(host.shown).toEqual([...gateway, ...everything]);

    await reaches(host, 'memory', 'ready');
    await activate(host, 'memory');
    expect(host.timesTold).toBe(2);
    const memory = await own('memory');
    await shows(host, gateway.length + everything.length + memory.length);
    expect(host.shown).toEqual([...gateway, ...everything, ...memory]);
    expect(await statusOf(host, 'filesystem')).toMatchObject({ active: false });
  });

  test('calls: every result equals a direct call’s', async () => {
    const [project, servers] = createFlipProject(published);
    const host = await connectHost(connect, switchboardIn(project));
    const tea = join(project.dir, 'files', 'tea.txt');
    const entities = [{ name: 'tea', entityType: 'drink', observations: ['is hot'] }];
    const calls: [server: string, tool: string, args: object, kind: object][] = [
      ['everything', 'echo', { message: 'žluť 🦊' }, { content: [{ type: 'text' }] }],
      ['everything', 'get-tiny-image', {}, { content: [{}, { type: 'image' }, {}] }],
      [
        'everything',
        'get-structured-content',
        { location: 'Chicago' },
        { structuredContent: { temperature: expect.any(Number) as number } },
      ],
      ['everything', 'get-resource-links', { count: 2 }, { content: [{}, {}, {}] }],
      [
        'everything',
        'get-annotated-message',
        { messageType: 'error', includeImage: true },
        { content: [{ annotations: { priority: 1 } }, { type: 'image' }] },
      ],
      ['everything', 'echo', {}, { isError: true }],
      ['filesystem', 'read_text_file', { path: tea }, { structuredContent: {} }],
      ['filesystem', 'read_text_file', { path: '/etc/passwd' }, { isError: true }],
      ['memory', 'create_entities', { entities }, { structuredContent: {} }],
      ['memory', 'read_graph', {}, { structuredContent: { entities: [{ name: 'tea' }] } }],
    ];
    for (const name of Object.keys(servers)) {
      await reaches(host, name, 'ready');
      await activate(host, name);
    }
    for (const [server, tool, args, kind] of calls) {
      const result = await host.callTool(tool, args);
      expect(result).toMatchObject(kind);
      if (tool === 'create_entities') continue; // it would be another result the second time
      const direct = await connectDirectly(project, servers[server] ?? MOCK_CHILD);
      expect(withoutTimes(result)).toEqual(withoutTimes(await direct.callTool(tool, args)));
    }
  });

  test('gateway calls stay here, all others go to the tool’s server', async () => {
    const [project] = createFlipProject((project) => ({
      rec: testServer('recording', join(project.dir, 'rec.txt')),
      box: testServer('toolbox'),
    }));
    const file = join(project.dir, 'rec.txt');
    const host = await connectHost(connect, switchboardIn(project));
    await reaches(host, 'rec', 'ready');
    await reaches(host, 'box', 'ready');
    await activate(host, 'rec');
    await activate(host, 'box');
    await host.callTool('gateway_status');
    await host.callTool('echo', { for: 'the box' });
    expect(methodsIn(file)).toEqual(WARMING_UP);
    await host.callTool('page_open', { url: 'https://example.com/' });
    expect(messagesIn(file).filter(({ method }) => method === 'tools/call')).toMatchObject([
      { params: { name: 'page_open', arguments: { url: 'https://example.com/' } } },
    ]);
  });

  test('off: the tools disappear, the process stays, and on again needs no handshake', async () => {
    const [project] = createFlipProject(({ dir }) => ({
      rec: testServer('recording', join(dir, 'rec.txt')),
    }));
    const file = join(project.dir, 'rec.txt');
    const host = await connectHost(connect, switchboardIn(project));
    await reaches(host, 'rec', 'ready');
    await activate(host, 'rec');
    await shows(host, GATEWAY.length + 7);
    const shown = host.shown;
    const [running] = childrenOf(host.pid);

    expect(textOf(await deactivate(host, 'rec'))).toContain('Deactivated "rec"');
    await shows(host, GATEWAY.length);
    expect(namesShown(host)).toEqual(GATEWAY);
    expect(host.timesTold).toBe(2);
    expect(childrenOf(host.pid)).toEqual([running]);

    await activate(host, 'rec');
    await shows(host, shown.length);
    expect(host.shown).toEqual(shown);
    expect(host.timesTold).toBe(3);
    expect(childrenOf(host.pid)).toEqual([running]);
    expect(methodsIn(file)).toEqual(WARMING_UP);
  });

  test('a crash: the server is in error, and its tools leave the model’s list', async () => {
    const [project] = createFlipProject(published);
    const host = await connectHost(connect, switchboardIn(project));
    await reaches(host, 'memory', 'ready');
    await reaches(host, 'filesystem', 'ready');
    await activate(host, 'memory');
    await activate(host, 'filesystem');
    await expect.poll(() => namesShown(host)).toContain('list_allowed_directories');
    expect(namesShown(host)).toContain('read_graph');
    const told = host.timesTold;
    const memory = childrenOf(host.pid).find(({ command }) => command.includes('server-memory'));
    if (!memory) throw new Error('The memory server is not running.');
    process.kill(memory.pid, 'SIGKILL');

    expect(await eventually(() => !namesShown(host).includes('read_graph'))).toBe(true);
    expect(host.timesTold).toBe(told + 1);
    expect(await statusOf(host, 'memory')).toMatchObject({
      state: 'error',
      ready: false,
      active: false,
      error: expect.stringContaining('SIGKILL') as string,
    });
    expect(namesShown(host)).toContain('list_allowed_directories');
    expect(textOf(await host.callTool('list_allowed_directories'))).toContain('files');
    await activate(host, 'memory');
    await expect.poll(() => namesShown(host)).toContain('read_graph');
  });

  test('the states: warming, ready, active and error, each with its text', async () => {
    const [project] = createFlipProject(({ dir }) => ({
      warming: refusingLater(join(dir, 'goes-on')),
      ready: testServer('toolbox'),
      active: testServer('toolbox'),
      error: { command: 'no-such-program-anywhere', args: [] },
    }));
    const host = await connectHost(connect, switchboardIn(project));
    for (const name of ['ready', 'active']) await reaches(host, name, 'ready');
    await reaches(host, 'error', 'error');
    const waiting = activate(host, 'warming');
    await activate(host, 'active');
    const table = serversIn(await host.callTool('gateway_status'));
    expect(table.map(({ name, ready, active }) => [name, ready, active])).toEqual([
      ['warming', false, false],
      ['ready', true, false],
      ['active', true, true],
      ['error', false, false],
    ]);
    expect(table.map(({ name, state }) => state === name)).not.toContain(false);
    expect(table.map(({ error }) => error !== undefined)).toEqual([false, false, false, true]);
    const text = textOf(await host.callTool('gateway_status'));
    for (const name of ['warming', 'ready', 'active', 'error']) {
      expect(text).toContain(`${name}: ${name}`);
    }
    expect(text).toContain('no-such-program-anywhere was not found');
    project.write('goes-on', '');
    expect((await reaches(host, 'warming', 'error')).error).toContain('refused the handshake');
    expect(textOf(await waiting)).toMatch(/^"warming" is not ready: .* refused the handshake/);
    expect(textOf(await activate(host, 'active'))).toContain('already active');
    expect(textOf(await deactivate(host, 'ready'))).toBe('"ready" is not active.');
    expect(textOf(await activate(host, 'nobody'))).toContain('Unknown server "nobody"');
  });

  test('the cost: three small definitions, plus the active server’s', async () => {
    const [project, servers] = createFlipProject((project) => ({
      ...published(project),
      mock: MOCK_CHILD,
      box: testServer('toolbox'),
    }));
    const host = await connectHost(connect, switchboardIn(project));
    const natively = [];
    for (const server of Object.values(servers)) {
      natively.push(...(await connectDirectly(project, server)).shown);
    }
    const tokens = (tools: readonly object[]) => countTokens(JSON.stringify(tools));
    expect(host.shown).toHaveLength(3);
    expect(natively.length).toBeGreaterThan(40);
    const before = tokens(host.shown);
    expect(before).toBeLessThan(tokens(natively) / 10);

    await reaches(host, 'memory', 'ready');
    await activate(host, 'memory');
    await shows(host, GATEWAY.length + 9);
    const memory = host.shown.slice(3);
    expect(tokens(host.shown)).toBeLessThan(before + tokens(memory) + 10);
  });

  test.each(['SIGTERM', 'SIGINT'] as const)(
    '%s: all servers exit before the program does',
    async (signal) => {
      const [project] = createFlipProject(published);
      const host = await connectHost(connect, switchboardIn(project));
      for (const name of ['everything', 'filesystem', 'memory']) await reaches(host, name, 'ready');
      const children = childrenOf(host.pid).map(({ pid }) => pid);
      expect(children).toHaveLength(3);
      process.kill(host.pid, signal);
      expect(await eventually(() => !isAlive(host.pid))).toBe(true);
      expect(children.filter(isAlive)).toEqual([]);
    },
  );

  test('an mcpflip installation works unchanged', async () => {
    const project = createProject({ 'project/README.md': 'nothing of ours' });
    const home = join(project.dir, 'home');
    const text = JSON.stringify({ memory: publishedServer('memory') }, null, 2);
    const file = project.write('home/.claude/mcpflip/servers.json', text);
    project.write('home/.claude/mcpflip/gateway.js', 'process.exit(1);');
    const skill = project.write('home/.claude/mcpflip/SKILL.md', '# mcpflip');
    mkdirSync(join(home, '.claude/skills/mcpflip'), { recursive: true });
    symlinkSync(skill, join(home, '.claude/skills/mcpflip/SKILL.md'));
    project.env['MEMORY_FILE_PATH'] = join(project.dir, 'memory.jsonl');

    const launch = switchboardIn(project, '--servers', '~/.claude/mcpflip/servers.json');
    const host = await connectHost(connect, { ...launch, cwd: join(project.dir, 'project') });
    expect(namesShown(host)).toEqual(GATEWAY);
    await reaches(host, 'memory', 'ready');
    await host.callTool('mcpflip_activate', { name: 'memory' });
    await expect.poll(() => namesShown(host)).toContain('read_graph');
    expect(await host.callTool('read_graph')).toMatchObject({ structuredContent: {} });
    expect(readFileSync(file, 'utf8')).toBe(text);
  });
});

test('the gateway has only tools: methods with those names are unknown', async () => {
  const [project] = createFlipProject(published);
  const host = await RawHost.connect(project);
  for (const method of ['gateway/activate', 'gateway/status', 'server/discover']) {
    const { error } = await host.request(method);
    expect(error).toEqual({ code: -32601, message: `Method not found: ${method}` });
  }
  expect((await host.request('ping')).result).toEqual({});
});
