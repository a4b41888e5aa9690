// Every flag of agents, seen from outside: what the built program lists, or what it tells the engine.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  type AgentProject,
  agentProject,
  frontMatter,
  runThrough,
  toml,
} from '../support/agent-project.ts';
import { RawHost } from '../support/raw-host.ts';
import { publishedServer, testServer } from '../support/servers.ts';

type Files = Record<string, string | object>;

const ALL_KINDS: Files = {
  '.agents/one.toml': toml('One', 'tags = ["Fast", "Good"]'),
  '.claude/agents/two.agent.md': frontMatter('name: Two\ntags: deep research, b'),
  '.github/chatmodes/three.chatmode.md': frontMatter('description: x'),
};
const ALL_NAMES = ['agent_one', 'anth_two', 'vsc_three'];

const listed: [string, Record<string, string>, string[], Files?][] = [
  ['nothing', {}, ALL_NAMES],
  ['AGENTS_ENABLE_CODEX', { AGENTS_ENABLE_CODEX: 'false' }, ['anth_two', 'vsc_three']],
  ['AGENTS_ENABLE_ANTHROPIC', { AGENTS_ENABLE_ANTHROPIC: '0' }, ['agent_one', 'vsc_three']],
  ['AGENTS_ENABLE_VSCODE', { AGENTS_ENABLE_VSCODE: 'no' }, ['agent_one', 'anth_two']],
  ['AGENTS_PREFIX_CODEX', { AGENTS_PREFIX_CODEX: 'cx_' }, ['cx_one', 'anth_two', 'vsc_three']],
  [
    'AGENTS_PREFIX_ANTHROPIC',
    { AGENTS_PREFIX_ANTHROPIC: 'c_' },
    ['agent_one', 'c_two', 'vsc_three'],
  ],
  ['AGENTS_PREFIX_VSCODE', { AGENTS_PREFIX_VSCODE: 'v_' }, ['agent_one', 'anth_two', 'v_three']],
  ['AGENTS_FILTER by name', { AGENTS_FILTER: 'ONE' }, ['agent_one']],
  ['AGENTS_FILTER by tag', { AGENTS_FILTER: 'good' }, ['agent_one']],
  ['AGENTS_FILTER by several', { AGENTS_FILTER: 'three, b' }, ['anth_two', 'vsc_three']],
  ['AGENTS_FILTER by nothing there', { AGENTS_FILTER: 'nobody' }, []],
  [
    'AGENTS_DIRS',
    { AGENTS_DIRS: 'else,~/mine' },
    ['agent_a', 'agent_b', 'anth_two', 'vsc_three'],
    { 'else/a.toml': toml('A'), 'home/mine/b.toml': toml('B') },
  ],
  [
    'ANTHROPIC_AGENTS_DIRS',
    { ANTHROPIC_AGENTS_DIRS: 'else' },
    ['agent_one', 'anth_a', 'vsc_three'],
    { 'else/a.agent.md': frontMatter('name: A') },
  ],
  [
    'VSCODE_CHATMODES_DIRS',
    { VSCODE_CHATMODES_DIRS: 'else' },
    ['agent_one', 'anth_two', 'vsc_a'],
    { 'else/a.chatmode.md': frontMatter('description: A') },
  ],
  [
    'AGENTS_EXTRA_FORMATS off',
    {},
    ['agent_one', 'anth_two', 'anth_plain', 'vsc_three'],
    {
      '.claude/agents/plain.md': frontMatter('name: Plain\ndescription: x'),
      '.github/agents/pilot.agent.md': frontMatter('description: x'),
    },
  ],
  [
    'AGENTS_EXTRA_FORMATS on',
    { AGENTS_EXTRA_FORMATS: 'true' },
    ['agent_one', 'agent_cody', 'anth_two', 'anth_plain', 'vsc_three', 'vsc_pilot', 'vsc_home'],
    {
      '.claude/agents/plain.md': frontMatter('name: Plain\ndescription: x'),
      '.github/agents/pilot.agent.md': frontMatter('description: x'),
      'home/.copilot/agents/home.agent.md': frontMatter('description: x'),
      '.codex/agents/cody.toml': toml('Cody', 'description = "x"\ndeveloper_instructions = "x"'),
    },
  ],
  [
    'the places of all three, in their order',
    {},
    [
      'agent_one',
      'agent_h',
      'agent_u',
      'anth_two',
      'anth_h',
      'anth_u',
      'vsc_three',
      'vsc_h',
      'vsc_u',
    ],
    {
      'home/.switchboard/agents/h.toml': toml('H'),
      'home/.agents/u.toml': toml('U'),
      'home/.switchboard/agents/h.agent.md': frontMatter('name: H'),
      'home/.claude/agents/u.agent.md': frontMatter('name: U'),
      'home/.switchboard/chatmodes/h.chatmode.md': frontMatter('description: H'),
      'home/.chatmodes/u.chatmode.md': frontMatter('description: U'),
    },
  ],
  [
    'SWITCHBOARD_HOME',
    { SWITCHBOARD_HOME: 'own' },
    ['agent_one', 'agent_h', 'anth_two', 'vsc_three'],
    { 'own/agents/h.toml': toml('H') },
  ],
  [
    'the same names twice',
    {},
    ['agent_one', 'agent_one_2', 'anth_two', 'vsc_three'],
    { 'home/.agents/one.toml': toml('One') },
  ],
  [
    'WORKSPACE_DIR',
    { WORKSPACE_DIR: 'elsewhere' },
    ['thing_suite', 'agent_w'],
    {
      'elsewhere/.agents/w.toml': toml('W'),
      'elsewhere/switchboard.config.json': { mcpServers: { thing: { command: 'x' } } },
    },
  ],
];

test.each(listed)('%s decides which agents are listed', async (_name, env, names, files = {}) => {
  const project = agentProject({ ...ALL_KINDS, ...files }, env);
  const host = await RawHost.connect(project);
  expect(await host.toolNames()).toEqual(names);
});

test('the log says if AGENTS_FILTER hides every agent', async () => {
  const host = await RawHost.connect(agentProject(ALL_KINDS, { AGENTS_FILTER: 'nobody' }));
  expect(await host.toolNames()).toEqual([]);
  expect(host.stderr).toContain('AGENTS_FILTER hides every agent (3).');
});

test('the same keys work in the configuration file, and the environment overrides them', async () => {
  const agents = { enableVscode: false, prefixCodex: 'x_', filter: ['one', 'two'], show: 'direct' };
  const project = agentProject({ ...ALL_KINDS, 'switchboard.config.json': { agents } });
  expect(await (await RawHost.connect(project)).toolNames()).toEqual(['x_one', 'anth_two']);
  const stronger = { AGENTS_PREFIX_CODEX: 'y_', AGENTS_FILTER: 'one' };
  expect(await (await RawHost.connect(project, { env: stronger })).toolNames()).toEqual(['y_one']);
});

test("also reads the user's config.toml", async () => {
  const project = agentProject({
    ...ALL_KINDS,
    'home/.switchboard/config.toml': '[agents]\nenable_anthropic = false\ncodex_dirs = ["more"]\n',
    'more/m.toml': toml('M'),
  });
  const host = await RawHost.connect(project);
  expect(await host.toolNames()).toEqual(['agent_one', 'agent_m', 'vsc_three']);
});

async function threadOf(project: AgentProject, tool: string) {
  const host = await RawHost.connect(project);
  const { ok, output } = await runThrough(host, tool, { task: 'x', cwd: project.dir });
  const [said] = output.split('\n\nNotes from Switchboard:');
  expect([ok, said]).toEqual([true, 'The task was: x']);
  return { thread: project.thread(), host };
}

const serversOf = ({ config }: { config: Record<string, unknown> }) =>
  Object.keys((config['mcp_servers'] as object | undefined) ?? {});

const ECHO = testServer('changes', 'shared');
const TWO_SERVERS = {
  '.mcp.json': { mcpServers: { left: testServer('changes', 'shared', 'left_only') } },
  '.vscode/mcp.json': { servers: { right: testServer('changes', 'shared') } },
};
const claude = (tools: string, more = '') => ({
  '.claude/agents/a.agent.md': frontMatter(`name: A\ntools: ${tools}${more}`),
});

const attached: [string, Record<string, string>, Files, string[]][] = [
  ['a server that is pinned', {}, { ...claude('mcp__left__left_only'), ...TWO_SERVERS }, ['left']],
  ['a tool that one server has', {}, { ...claude('left_only'), ...TWO_SERVERS }, ['left']],
  ['a tool that two servers have', {}, { ...claude('shared'), ...TWO_SERVERS }, []],
  [
    'AGENTS_MCP_ENUM_FALLBACK=all',
    { AGENTS_MCP_ENUM_FALLBACK: 'all' },
    { ...claude('shared'), ...TWO_SERVERS },
    ['right', 'left'],
  ],
  [
    'AGENTS_MCP_DISCOVERY=false',
    { AGENTS_MCP_DISCOVERY: 'false' },
    { ...claude('mcp__left__left_only'), ...TWO_SERVERS },
    [],
  ],
  [
    'AGENTS_MCP_LIMIT_REFERENCED=false',
    { AGENTS_MCP_LIMIT_REFERENCED: 'false' },
    { ...claude('Read'), ...TWO_SERVERS },
    ['right', 'left'],
  ],
  [
    'AGENTS_MCP_ENUMERATE=false',
    { AGENTS_MCP_ENUMERATE: 'false' },
    { ...claude('mcp__left__no_such_tool'), ...TWO_SERVERS },
    ['left'],
  ],
  ['a pinned tool that is not there', {}, { ...claude('mcp__left__nope'), ...TWO_SERVERS }, []],
  [
    'AGENTS_MCP_ENUM_TIMEOUT_MS, where a pinned server does not answer',
    { AGENTS_MCP_ENUM_TIMEOUT_MS: '300' },
    {
      ...claude('mcp__mute__x'),
      '.mcp.json': { mcpServers: { mute: { command: 'sleep', args: ['60'] } } },
    },
    ['mute'],
  ],
  [
    'AGENTS_MCP_ENUM_STRICT, where a pinned server does not answer',
    { AGENTS_MCP_ENUM_TIMEOUT_MS: '300', AGENTS_MCP_ENUM_STRICT: 'true' },
    {
      ...claude('mcp__mute__x'),
      '.mcp.json': { mcpServers: { mute: { command: 'sleep', args: ['60'] } } },
    },
    [],
  ],
  [
    'AGENTS_MCP_MAX_SERVERS',
    { AGENTS_MCP_MAX_SERVERS: '1' },
    { ...claude('left_only'), ...TWO_SERVERS },
    [],
  ],
  [
    'VSCODE_USER_MCP',
    { VSCODE_USER_MCP: 'user-mcp.json' },
    { ...claude('mcp__mine__shared'), 'user-mcp.json': { servers: { mine: ECHO } } },
    ['mine'],
  ],
  [
    "Claude's own file",
    {},
    { ...claude('mcp__mine__shared'), 'home/.claude.json': { mcpServers: { mine: ECHO } } },
    ['mine'],
  ],
  [
    "Cursor's file",
    {},
    { ...claude('mcp__mine__shared'), 'home/.cursor/mcp.json': { mcpServers: { mine: ECHO } } },
    ['mine'],
  ],
  [
    "Codex's file",
    {},
    {
      ...claude('mcp__mine__shared'),
      'home/.codex/config.toml': `[mcp_servers.mine]\ncommand = ${JSON.stringify(ECHO.command)}\nargs = ${JSON.stringify(ECHO.args)}\n`,
    },
    ['mine'],
  ],
  [
    'SWITCHBOARD_SKIP_SELF=false',
    { SWITCHBOARD_SKIP_SELF: 'false', AGENTS_MCP_LIMIT_REFERENCED: 'false' },
    { ...claude('Read'), '.mcp.json': { mcpServers: { switchboard: ECHO } } },
    ['switchboard'],
  ],
  [
    'servers of its own',
    {},
    { '.agents/a.toml': toml('A', '[mcp_servers.own]\ncommand = "x"') },
    ['own'],
  ],
];

test.each(attached)('%s: which servers are attached', async (_name, env, files, keys) => {
  const project = agentProject(files, env);
  const tool = '.agents/a.toml' in files ? 'agent_a' : 'anth_a';
  const { thread } = await threadOf(project, tool);
  expect(serversOf(thread)).toEqual(keys);
});

const chatmode = (head: string) => ({
  '.github/chatmodes/a.chatmode.md': frontMatter(`description: x\n${head}`),
});

test('a chat mode that wants memory gets a server for it', async () => {
  const { thread } = await threadOf(agentProject(chatmode('tools: [memory]')), 'vsc_a');
  expect(thread.config).toMatchObject({
    mcp_servers: {
      memory: { command: 'npx', args: ['-y', '@modelcontextprotocol/server-memory'] },
    },
  });
});

test.each([
  ['AGENTS_TOOLMAP_ALLOW_CUSTOM_SERVERS', 'tools: [memory]'],
  ['AGENTS_TOOLMAP_ENABLE', 'tools: [memory, edit]'],
])('%s=false: no server is added', async (flag, head) => {
  const { thread } = await threadOf(agentProject(chatmode(head), { [flag]: 'false' }), 'vsc_a');
  expect(serversOf(thread)).toEqual([]);
});

const modelOf = ({ model, modelProvider }: Record<string, unknown>) => [model, modelProvider];

test.each<[string, string, Record<string, string>, (string | undefined)[], Files?]>([
  ['by itself', 'model: sonnet', {}, ['gpt-5', 'openai']],
  [
    'with a provider in the Codex configuration',
    'model: sonnet',
    {},
    ['gpt-5', undefined],
    { 'home/.codex/config.toml': 'model_provider = "azure"\n' },
  ],
  ['to the name that the engine has', 'model: gpt-5', {}, ['gpt-5', undefined]],
  [
    'AGENTS_MODEL_MAP_ENABLE',
    'model: sonnet',
    { AGENTS_MODEL_MAP_ENABLE: 'false' },
    ['sonnet', undefined],
  ],
  ['a provider of its own', 'model: sonnet\nprovider: Claude', {}, ['gpt-5', 'anthropic']],
  [
    'AGENTS_MODEL_MAP_OVERRIDE_PROVIDER',
    'model: sonnet\nprovider: Claude',
    { AGENTS_MODEL_MAP_OVERRIDE_PROVIDER: 'true' },
    ['gpt-5', 'openai'],
  ],
  [
    'AGENTS_MODEL_MAP_NORMALIZE_PROVIDER',
    'model: own\nmodelProvider: Claude',
    { AGENTS_MODEL_MAP_NORMALIZE_PROVIDER: 'false' },
    ['own', 'Claude'],
  ],
  [
    'a map in its usual place, over the one that is built in',
    'model: Own',
    {},
    ['mine', undefined], // a project chooses no provider
    {
      '.agents/model-map.toml':
        '[[mappings]]\ntoken = "own"\nto_model = "mine"\nto_provider = "openai"\n',
    },
  ],
  [
    'AGENTS_MODEL_MAP_FILE',
    'model: Own',
    { AGENTS_MODEL_MAP_FILE: 'maps/m.toml' },
    ['mine', undefined],
    { 'maps/m.toml': '[[mappings]]\ntoken = "own"\nto_model = "mine"\n' },
  ],
])('models are mapped: %s', async (_name, head, env, expected, files = {}) => {
  // The user's own: a project's agent has no provider.
  const agent = { 'home/.switchboard/agents/a.agent.md': frontMatter(`name: A\n${head}`) };
  const { thread } = await threadOf(agentProject({ ...agent, ...files }, env), 'anth_a');
  expect(modelOf(thread)).toEqual(expected);
});

test('AGENTS_MODEL_MAP_STRICT warns about unknown models', async () => {
  const agent = { '.claude/agents/a.agent.md': frontMatter('name: A\nmodel: unheard-of') };
  const project = agentProject(agent, { AGENTS_MODEL_MAP_STRICT: 'true' });
  const { thread, host } = await threadOf(project, 'anth_a');
  expect(thread['model']).toBe('unheard-of');
  await expect.poll(() => host.stderr).toContain('unheard-of');
});

test('AGENTS_BUILTINS_DEFAULT=engine leaves tools alone that the agent does not name', async () => {
  const agent = { '.agents/a.toml': toml('A', 'tools = ["plan"]') };
  const { thread } = await threadOf(
    agentProject(agent, { AGENTS_BUILTINS_DEFAULT: 'engine' }),
    'agent_a',
  );
  expect(thread.config).toMatchObject({ tools: { update_plan: { enabled: true } } });
  expect(thread.config).not.toHaveProperty('web_search');
  expect(thread.config['features']).not.toHaveProperty('view_image');
});

test('AGENTS_MCP_TOOL_FILTER restricts an agent to the tools it names', async () => {
  const agent = claude('mcp__left__left_only');
  const project = agentProject({ ...agent, ...TWO_SERVERS }, { AGENTS_MCP_TOOL_FILTER: 'true' });
  const { thread } = await threadOf(project, 'anth_a');
  expect(thread.config).toMatchObject({ mcp_servers: { left: { enabled_tools: ['left_only'] } } });
});

test('the engine finds its login in AGENTS_CODEX_HOME', async () => {
  const project = agentProject(
    { '.agents/a.toml': toml('A') },
    { AGENTS_CODEX_HOME: 'codex-home' },
  );
  await threadOf(project, 'agent_a');
  const started = project.records().find(({ argv }) => argv?.[0] === 'app-server');
  expect(started?.environment?.['CODEX_HOME']).toBe(join(project.dir, 'codex-home'));
});

test('AGENTS_APPROVALS=decline: the user is not asked', async () => {
  const project = agentProject({ '.agents/a.toml': toml('A') }, { AGENTS_APPROVALS: 'decline' });
  const host = new RawHost(project);
  await host.request('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: { elicitation: {} },
  });
  const answer = await runThrough(host, 'agent_a', { task: 'script: asks-command', cwd: '/' });
  expect(answer.output).toBe('answer: {"decision":"decline"}');
  expect(host.messages.some(({ method }) => method === 'elicitation/create')).toBe(false);
});

test('allow and deny rules also apply to agents', async () => {
  const memory = { ...publishedServer('memory'), expose: { deny: ['delete_*'] } };
  const project = agentProject({
    ...claude('mcp__memory__read_graph'),
    'switchboard.config.json': { mcpServers: { memory } },
  });
  const { thread } = await threadOf(project, 'anth_a');
  const { enabled_tools: tools } = (
    thread.config['mcp_servers'] as Record<string, { enabled_tools: string[] }>
  )['memory'] ?? { enabled_tools: [] };
  expect(tools).toContain('read_graph');
  expect(tools.filter((name) => name.startsWith('delete_'))).toEqual([]);
});
