import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Agent } from '../../../../src/agents/agent.ts';
import { AgentServers } from '../../../../src/agents/servers/agent-servers.ts';
import type { Relaunch } from '../../../../src/agents/servers/guard.ts';
import { Cancellation } from '../../../../src/base/cancellation.ts';
import { signInFile, writeSignIn } from '../../../../src/child/sign-in/token-store.ts';
import type { AgentSettings, Config } from '../../../../src/config/config.ts';
import { Pool } from '../../../../src/pool/pool.ts';
import { onBug } from '../../../support/fake-child.ts';
import { OddServer } from '../../../support/odd-http-server.ts';
import { eventually, processesWith } from '../../../support/processes.ts';
import { startEverything } from '../../../support/published-http.ts';
import { publishedServer, testServer } from '../../../support/servers.ts';
import { createProject } from '../../config/temp-project.ts';
import { AGENT_FILE, agentWith, candidate, openCatalog, realServers } from './setup.ts';

/** A whole Switchboard's knowledge of servers, over real files and with real servers. */
async function setUp(
  files: Record<string, string | object>,
  said: Partial<AgentSettings> = {},
  canRelaunch = true,
) {
  const project = createProject(files);
  const loaded = await project.load();
  const limits = { mcpEnumTimeoutMs: 30_000 };
  const config: Config = { ...loaded, agents: { ...loaded.agents, ...limits, ...said } };
  const env = { PATH: process.env['PATH'], TOKEN: 's3cr3t', KEY: 'value-of-a-key' };
  const { start, pids } = realServers(env);
  const catalog = openCatalog();
  const events = { onListChanged: () => {}, onResourceUpdated: () => {}, onLost: () => {} };
  const pool = new Pool(config.children, { start, catalog, events, onBug });
  const { homeFolder } = project;
  const program = undefined;
  const engine = { variables: () => ({ ENGINE_BIN: '/bin/engine' }) };
  const secretLookup = async () => ({
    variablesFor: async () => ({ ...env, '${secret:key}': 'value-of-a-secret' }),
  });
  const known = { config: () => config, homeFolder, env, program, engine, secretLookup };
  const relaunch: Relaunch = (words) => ({ cmd: 'switchboard', args: [...words] });
  const parts = { ...known, pool, catalog, start, ...(canRelaunch && { relaunch }) };
  const servers = new AgentServers(parts);
  onTestFinished(async () => {
    await servers[Symbol.asyncDispose]();
    await pool[Symbol.asyncDispose]();
  });
  const serversFor = async (agent: Agent, cancellation = new Cancellation()) => {
    const given = await servers.serversFor(agent, cancellation);
    const plain = (text: string) => project.plain(text).replace(`${AGENT_FILE}: `, '');
    return {
      ...given,
      warnings: given.warnings.map(plain),
      lacks: given.lacks.map(plain),
      keys: given.servers.map(({ key }) => key),
    };
  };
  return { project, config, servers, serversFor, pids };
}

const lists = (...names: string[]) =>
  testServer(
    'lists',
    JSON.stringify(names.map((name) => ({ name, inputSchema: { type: 'object' } }))),
  );

test('an agent gets the servers it names, ready to start', async () => {
  const { project, serversFor, pids } = await setUp({
    '.mcp.json': {
      mcpServers: {
        box: { ...testServer('toolbox'), env: { KEY: '${TOKEN}' } },
        notes: lists('note'),
      },
    },
    '../home/.cursor/mcp.json': { mcpServers: { same: lists('note', 'echo') } },
    '../home/.codex/config.toml': '[mcp_servers.mine]\ncommand = "no-such-program"\n',
  });
  const { servers, warnings } = await serversFor(agentWith(['box::echo']));

  const { command: cmd, args } = testServer('toolbox');
  expect(servers).toEqual([
    {
      key: 'box',
      cmd,
      args,
      env: { KEY: 's3cr3t', SWITCHBOARD_DEPTH: '1' },
      cwd: project.folder,
      url: undefined,
      headers: {},
      enabledTools: undefined,
      secrets: ['s3cr3t', '1'],
    },
  ]);
  expect(warnings).toEqual([]);
  expect(pids).toHaveLength(1);

  const bare = await serversFor(agentWith(['wait', 'note']));
  expect(bare.keys).toEqual(['box']);
  expect(bare.warnings).toEqual([
    'Several servers have the tool "note": "notes", "same". The agent gets none of them. Write "notes::note" to choose one.',
  ]);
});

test('the published memory server is found by one of its tools', async () => {
  const { serversFor } = await setUp({
    '.vscode/mcp.json': {
      servers: { memory: publishedServer('memory'), box: testServer('toolbox') },
    },
  });
  expect((await serversFor(agentWith(['read_graph']))).keys).toEqual(['memory']);
});

test("Switchboard's servers take precedence over other programs', and the agent's own over both", async () => {
  const { config, serversFor, servers } = await setUp({
    'switchboard.config.json': { mcpServers: { a: { command: 'ours' }, b: { command: 'ours' } } },
    '.mcp.json': {
      mcpServers: { a: { command: 'theirs' }, b: { command: 'theirs' }, c: { command: 'theirs' } },
    },
  });
  const { servers: available } = await servers.available();
  expect(available.map(({ key, cmd, isOwn }) => [key, cmd, isOwn])).toEqual([
    ['a', 'ours', true],
    ['b', 'ours', true],
    ['c', 'theirs', false],
  ]);
  const agent = agentWith(['a::*', 'b::*', 'c::*'], { servers: [candidate('a', { cmd: 'mine' })] });
  const given = await serversFor(agent);
  expect(given.servers.map(({ cmd }) => cmd)).toEqual(['mine', 'ours', 'theirs']);
  expect(given.servers[1]?.cwd).toBe(config.project);
});

test("agents get the secrets of Switchboard's servers, but can't refer to any themselves", async () => {
  const { serversFor } = await setUp({
    'switchboard.config.json': {
      mcpServers: { ours: { command: 'ours', env: { KEY: 'Bearer ${secret:key}' } } },
    },
    '.mcp.json': { mcpServers: { theirs: { command: 'x', env: { KEY: '${secret:key}' } } } },
  });
  const given = await serversFor(agentWith(['ours::*', 'theirs::*']));
  expect(given.servers.map(({ key, env }) => [key, env['KEY']])).toEqual([
    ['ours', 'Bearer value-of-a-secret'],
  ]);
  expect(given.servers[0]?.secrets).toContain('value-of-a-secret');
  expect(given.lacks.join()).toContain("${secret:key} can't be used here.");
  const same = candidate('ours', { cmd: 'mine', env: { KEY: '${secret:key}' } });
  const own = await serversFor(agentWith(['ours::*'], { servers: [same] }));
  expect(own.servers).toEqual([]);
});

test('tools hidden from hosts are also hidden from agents', async () => {
  const { serversFor, pids } = await setUp({
    'switchboard.config.json': {
      mcpServers: {
        box: { ...testServer('toolbox'), expose: { allow: ['e*', 'wait'], deny: ['exit'] } },
        broken: { command: 'no-such-program', expose: { deny: ['x'] } },
        none: { ...lists('a'), expose: { deny: ['*'] } },
      },
    },
  });
  const { servers, lacks } = await serversFor(agentWith(['box::*', 'broken::*', 'none::*']));
  expect(servers.map(({ key, enabledTools }) => [key, enabledTools])).toEqual([
    ['box', ['echo', 'wait']],
  ]);
  expect(lacks).toEqual([
    expect.stringMatching(
      /^The agent runs without server "broken"\. Only some of its tools are exposed .* its tool list is unknown\. Server "broken"/,
    ),
    'The agent runs without server "none". None of its tools are exposed (<project>/switchboard.config.json).',
  ]);
  expect((await serversFor(agentWith(['exit']))).keys).toEqual([]);
  expect(pids).toHaveLength(2); // the pool has them now
});

test('servers only Switchboard can reach are not for agents, and naming one explains why', async () => {
  const { config, serversFor, servers } = await setUp({
    'switchboard.config.json': {
      mcpServers: {
        sse: { url: 'https://example.com/sse', type: 'sse' },
        ws: { url: 'wss://example.com' },
        oauth: { url: 'https://example.com/mcp', oauth: { clientId: 'me' } },
        signedIn: { url: 'https://example.com/signed-in' },
        address: { url: 'https://example.com/mcp', headers: { A: '${TOKEN}' } },
        unset: { url: '${UNSET}' },
        nothing: {},
        off: { command: 'off', show: 'off' },
      },
    },
  });
  const file = await signInFile(join(config.home, 'tokens'), 'https://example.com/signed-in');
  writeSignIn(file, {
    version: 1,
    serverUrl: 'https://example.com/signed-in',
    resource: 'https://example.com/signed-in',
    issuer: 'https://example.com',
    client: { client_id: 'c' },
    accessToken: 't',
  });
  const keys = [...config.children.keys()];
  const given = await serversFor(agentWith(keys.map((key) => `${key}::*`)));

  expect(given.servers).toMatchObject([
    { key: 'address', url: 'https://example.com/mcp', headers: { A: 's3cr3t' }, env: {} },
  ]);
  expect(given.warnings).toMatchInlineSnapshot(`
    [
      "The agent does not get server "sse". <project>/switchboard.config.json: Server "sse" uses HTTP with server-sent events, which agents can't use. Bridge it with a program such as mcp-proxy: { "command": "mcp-proxy", "args": ["<url>"] }.",
      "The agent does not get server "ws". <project>/switchboard.config.json: Server "ws" uses WebSocket, which agents can't use. Bridge it with a program such as mcp-proxy: { "command": "mcp-proxy", "args": ["<url>"] }.",
      "The agent does not get server "oauth". <project>/switchboard.config.json: Server "oauth" requires signing in. Only Switchboard is signed in, not the engine.",
      "The agent does not get server "signedIn". <project>/switchboard.config.json: Server "signedIn" requires signing in. Only Switchboard is signed in, not the engine.",
      "The agent does not get server "nothing". Server "nothing" has neither a "command" nor a "url". Add "command" or "url" in <project>/switchboard.config.json.",
      "The agent does not get server "off". <project>/switchboard.config.json: Server "off" is turned off ("show" in <project>/switchboard.config.json).",
    ]
  `);
  expect(given.lacks).toEqual([
    'The agent runs without server "unset". Server "unset" needs the environment variable UNSET, which is not set (url in <project>/switchboard.config.json). Set it in the environment the host starts Switchboard in, or use ${UNSET:-default}.',
  ]);
  expect((await servers.available()).warnings).toEqual([]);
  expect((await serversFor(agentWith([]))).warnings).toEqual([]);
});

test('a remote server is asked for its tools; one of ours that needs a sign-in is not attached', async () => {
  const everything = await startEverything('streamableHttp');
  onTestFinished(() => everything.stop());
  const refusing = await OddServer.start({
    before: (_request, reply) => {
      reply.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
      return true;
    },
  });
  const { serversFor } = await setUp({
    'switchboard.config.json': { mcpServers: { ours: { url: refusing.url } } },
    '.mcp.json': { mcpServers: { remote: { url: everything.url }, theirs: { url: refusing.url } } },
  });
  const agent = agentWith(['remote::echo', 'remote::nothing', 'ours::x', 'theirs::x', 'echo']);
  const { servers, keys, warnings, lacks } = await serversFor(agent);
  expect(keys).toEqual(['remote', 'theirs']);
  expect(servers[0]).toMatchObject({ cmd: undefined, url: everything.url });
  expect(warnings).toEqual([
    expect.stringMatching(/^Server "remote" .* has no usable tool "nothing"\./),
    expect.stringMatching(/^Server "theirs" is attached without checking its tools\. /),
  ]);
  expect(lacks).toEqual([
    expect.stringMatching(/^The agent runs without server "ours"\. .*switchboard login/),
  ]);
});

test('a server with a host placeholder is left out when it would be attached', async () => {
  const { serversFor } = await setUp({
    '.vscode/mcp.json': {
      inputs: [{ id: 'key' }],
      servers: {
        a: { command: 'a', env: { KEY: '${input:key}' } },
        b: { command: 'b', args: ['${UNSET}'] },
      },
    },
  });
  expect((await serversFor(agentWith([]))).warnings).toEqual([]);
  const { keys, lacks } = await serversFor(agentWith(['a::*', 'b::*']));
  expect(keys).toEqual([]);
  expect(lacks).toEqual([
    'The agent runs without server "a". Server "a" uses ${input:key}, which only the program it was configured for can fill in (<project>/.vscode/mcp.json). Use ${VAR} instead, and set VAR in the host\'s environment.',
    'The agent runs without server "b". Server "b" needs the environment variable UNSET, which is not set (args[0] in <project>/.vscode/mcp.json). Set it in the environment the host starts Switchboard in, or use ${UNSET:-default}.',
  ]);
});

test('a required server that cannot be started as written is an error', async () => {
  const { serversFor } = await setUp({});
  const server = candidate('needed', { args: ['${UNSET}'] });
  expect(await serversFor(agentWith([], { servers: [server] }))).toMatchObject({
    keys: [],
    lacks: [expect.stringContaining('The agent runs without server "needed". ') as string],
  });
  const required = agentWith([], { servers: [{ ...server, isRequired: true }] });
  await expect(serversFor(required)).rejects.toThrow(
    'Server "needed" needs the environment variable UNSET',
  );
});

test('a tool whose server is too slow to list it is reported as missing', async () => {
  const slow = { command: process.execPath, args: ['-e', 'setInterval(() => {}, 1e6)'] };
  const { serversFor } = await setUp(
    { '.mcp.json': { mcpServers: { slow } } },
    { mcpEnumTimeoutMs: 300 },
  );
  const { keys, warnings, lacks } = await serversFor(agentWith(['search']));
  expect([keys, warnings]).toEqual([[], []]);
  expect(lacks).toEqual([
    'The agent runs without the tool "search". No server that responded has it, and "slow" didn\'t respond. Server "slow" did not start within 300 ms. If it needs longer, raise AGENTS_MCP_ENUM_TIMEOUT_MS. If you know its server, write "slow::search".',
  ]);
});

test('Switchboard among a host’s servers is not attached; one an agent declares is', async () => {
  const nested = candidate('switchboard', { cmd: 'switchboard', env: { AGENTS_FILTER: 'x' } });
  const files = { '.mcp.json': { mcpServers: { switchboard: { command: 'switchboard' } } } };
  const { serversFor } = await setUp(files, { depth: 2 });
  const found = await serversFor(agentWith(['switchboard::*']));
  expect(found.keys).toEqual([]);
  expect(found.warnings).toEqual([
    'The agent does not get server "switchboard". <project>/.mcp.json: Server "switchboard" is Switchboard itself, so agents don\'t get it from here. Declare it in the agent\'s own file, or set SWITCHBOARD_SKIP_SELF=false.',
  ]);
  const brought = await serversFor(agentWith([], { servers: [nested] }));
  expect(brought.servers).toMatchObject([
    { key: 'switchboard', env: { AGENTS_FILTER: 'x', SWITCHBOARD_DEPTH: '3' } },
  ]);
});

test('keys are converted to a form engines accept, each unique', async () => {
  const keys = ['my server', 'my.server', 'my_server', 'größe'];
  const mcpServers = Object.fromEntries(keys.map((key) => [key, { command: 'a' }]));
  const { serversFor } = await setUp(
    { '.mcp.json': { mcpServers } },
    { mcpLimitReferenced: false },
  );
  expect((await serversFor(agentWith([]))).keys).toEqual([
    'my_server',
    'my_server_2',
    'my_server_3',
    'gr__e',
  ]);
});

test('a run cancelled meanwhile leaves nothing behind', async () => {
  const tag = `tag-${Math.random().toString(36).slice(2)}`;
  const { serversFor } = await setUp({
    '.mcp.json': {
      mcpServers: Object.fromEntries(
        ['a', 'b'].map((key) => [
          key,
          testServer('faulty', `--tag=${tag}`, '--journal=/dev/null', '--no-list', '--stubborn'),
        ]),
      ),
    },
  });
  const cancellation = new Cancellation();
  const given = serversFor(agentWith(['x']), cancellation);
  const outcome = given.catch((error: unknown) => error);
  expect(await eventually(() => processesWith(tag).length === 2)).toBe(true);
  cancellation.cancel(new Error('called off'));
  expect(await outcome).toMatchObject({ message: 'called off' });
  expect(processesWith(tag)).toEqual([]);
});

test('a warning about a server does not repeat its variables’ values', async () => {
  const args = ['-c', 'echo "wrong key: $0" >&2; exit 1', '${KEY}'];
  const { serversFor } = await setUp({
    '.mcp.json': { mcpServers: { box: { command: '/bin/sh', args } } },
  });
  const { warnings } = await serversFor(agentWith(['box::echo']));
  expect(warnings.join()).toContain('wrong key: ***');
  expect(warnings.join()).not.toContain('value-of-a-key');
});

test('permissions limit the tools of every server an agent gets, and tools that need approval are left out', async () => {
  const annotated = testServer(
    'lists',
    JSON.stringify([
      { name: 'look', annotations: { readOnlyHint: true } },
      { name: 'change', annotations: { readOnlyHint: false } },
      { name: 'wipe' },
    ]),
  );
  const { serversFor } = await setUp({
    'switchboard.config.json': {
      mcpServers: {
        own: annotated,
        safe: { ...annotated, readOnly: true },
        closed: lists('x'),
        asks: lists('y'),
      },
      permissions: { deny: ['*__wipe', 'closed'], ask: ['own__change', 'asks'] },
    },
    '.mcp.json': { mcpServers: { found: annotated } },
  });
  const names = ['own::*', 'safe::*', 'found::*', 'closed::*', 'asks::*', 'brought::*'];
  const { args, command } = annotated;
  const brought = candidate('brought', { cmd: command, args, cwd: '/' });
  const given = await serversFor(agentWith(names, { servers: [brought] }));
  expect(given.servers.map(({ key, enabledTools }) => [key, enabledTools])).toEqual([
    // The same command as `safe`, and as `own`.
    ['brought', ['look']],
    ['own', ['look']],
    ['safe', ['look']],
    ['found', ['look']],
  ]);
  expect(given.lacks).toEqual([
    expect.stringMatching(/^The agent runs without server "asks"\. None of its tools are allowed/),
  ]);
  expect(given.warnings).toEqual([
    expect.stringContaining('Server "closed" is not allowed (permissions.deny "closed" in'),
  ]);
});

test('a server whose prompts and resources are restricted is put behind Switchboard', async () => {
  const files = {
    'switchboard.config.json': {
      mcpServers: { one: lists('x'), two: lists('x') },
      permissions: { deny: ['one__secret'] },
    },
  };
  const { serversFor } = await setUp(files);
  const { servers } = await serversFor(agentWith(['one::*', 'two::*']));
  expect(servers.map(({ key, cmd }) => [key, cmd])).toEqual([
    ['one', 'switchboard'],
    ['two', process.execPath],
  ]);
  const [guarded] = servers;
  const text = guarded?.env['SWITCHBOARD_GUARDED_SERVER'] ?? '';
  expect(JSON.parse(text)).toMatchObject({ name: 'one', isOwn: true, cmd: process.execPath });
  expect(guarded?.args).toEqual(['agent-server']);

  const without = await setUp(files, {}, false);
  expect(await without.serversFor(agentWith(['one::*']))).toMatchObject({
    servers: [],
    lacks: [
      'The agent runs without server "one". Permissions or hooks apply to it, which the engine would bypass.',
    ],
  });
});

test('an agent gets only tools that are not held', async () => {
  const box = lists('note', 'hid\u200bden');
  const { serversFor } = await setUp({ 'switchboard.config.json': { mcpServers: { box } } });
  const { servers } = await serversFor(agentWith(['box::note']));
  expect(servers).toMatchObject([{ key: 'box', enabledTools: ['note'] }]);
});

test('if changes are held, an agent gets only tools that were checked', async () => {
  const { serversFor } = await setUp({
    'switchboard.config.json': {
      mcpServers: { box: lists('note', 'echo') },
      toolChanges: 'hold',
    },
  });
  const { servers } = await serversFor(agentWith(['box::note']));
  expect(servers).toMatchObject([{ key: 'box', enabledTools: ['note', 'echo'] }]);
});
