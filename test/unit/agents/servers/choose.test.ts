import { expect, test } from 'vitest';
import type { Agent } from '../../../../src/agents/agent.ts';
import type { Candidate } from '../../../../src/agents/servers/candidate.ts';
import { chooseServers } from '../../../../src/agents/servers/choose.ts';
import { type ErrorCode, SwitchboardError } from '../../../../src/base/errors.ts';
import type { AgentSettings } from '../../../../src/config/config.ts';
import { agentSettings } from '../../../support/agent-settings.ts';
import { AGENT_FILE, agentWith, candidate, candidates } from './setup.ts';

/** What each server has; a text is why it does not tell. */
type Has = Readonly<Record<string, readonly string[] | string>>;

const SERVERS = [candidate('files'), candidate('notes'), candidate('web'), candidate('other')];
const HAS: Has = {
  files: ['read', 'write'],
  notes: ['note', 'search'],
  web: ['get', 'search'],
  other: [],
};

interface Given {
  readonly servers?: readonly Candidate[];
  readonly has?: Has;
  readonly leftOut?: ReadonlyMap<string, string>;
  /** What is thrown by those that do not tell. */
  readonly code?: ErrorCode;
  readonly isTried?: boolean;
}

/** Whom the agent gets, who was asked, and what is said about it. */
async function choose(agent: Agent, said: Partial<AgentSettings> = {}, given: Given = {}) {
  const { servers = SERVERS, has = HAS, leftOut = new Map(), isTried } = given;
  const { code = 'CHILD_START_FAILED' } = given;
  const asked: string[] = [];
  const choice = await chooseServers(agent, {
    settings: agentSettings(said),
    available: { ...candidates(...servers), leftOut },
    isTried,
    toolsOf: async ({ key }, { isFresh }) => {
      asked.push(isFresh ? `${key}!` : key);
      const tools = has[key] ?? [];
      if (typeof tools === 'string') throw new SwitchboardError(code, tools);
      return tools;
    },
  });
  return {
    gets: choice.servers.map(({ server }) => server.key),
    tools: Object.fromEntries(
      choice.servers.map(({ server, enabledTools }) => [server.key, enabledTools]),
    ),
    origins: choice.servers.map(({ server }) => server.origin),
    asked,
    warnings: choice.warnings.map((warning) => warning.replace(`${AGENT_FILE}: `, '')),
    lacks: choice.lacks,
  };
}

const own = (key: string, more: Partial<Candidate> = {}) =>
  candidate(key, { origin: AGENT_FILE, ...more });

test('an agent that names nothing gets nothing, and no server is asked', async () => {
  expect(await choose(agentWith([]))).toMatchObject({ gets: [], asked: [], warnings: [] });
});

test('an agent always gets its own servers, over others with the same key', async () => {
  const agent = agentWith([], { servers: [own('files'), own('mine')] });
  const { gets, origins, asked } = await choose(agent);
  expect(gets).toEqual(['files', 'mine']);
  expect(origins).toEqual([AGENT_FILE, AGENT_FILE]);
  expect(asked).toEqual([]);
});

test('an agent’s own servers are limited to their enabled tools, without asking', async () => {
  const servers = [own('mine', { enabledTools: ['a', 'b'] })];
  const agent = agentWith(['mine::a', 'mine::c'], { servers });
  const all = await choose(agent);
  expect([all.tools, all.asked]).toEqual([{ mine: ['a', 'b'] }, []]);
  const filtered = await choose(agent, { mcpToolFilter: true });
  expect(filtered.tools).toEqual({ mine: ['a'] });
});

test('an injected server only fills a gap', async () => {
  const injected = own('memory', { isInjected: true });
  const agent = agentWith(['memory::memory'], { servers: [injected] });
  expect(await choose(agent)).toMatchObject({ gets: ['memory'], origins: [AGENT_FILE], asked: [] });
  const theirs = candidate('memory', { origin: '/theirs' });
  const { gets, origins } = await choose(agent, {}, { servers: [theirs] });
  expect({ gets, origins }).toEqual({ gets: ['memory'], origins: ['/theirs'] });
});

test('a named server is granted if it has the tool; no other is asked', async () => {
  expect(await choose(agentWith(['files::read']))).toMatchObject({
    gets: ['files'],
    tools: { files: undefined },
    asked: ['files'],
    warnings: [],
  });
  const missing = await choose(agentWith(['files::raed', 'notes::note', 'notes::nothing']));
  expect(missing.gets).toEqual(['notes']);
  // What was remembered is not enough to say no.
  expect(missing.asked).toEqual(['files', 'notes', 'files!', 'notes!']);
  expect(missing.warnings).toEqual([
    'Server "files" (/project/.mcp.json) has no usable tool "raed". Did you mean read?',
    'Server "notes" (/project/.mcp.json) has no usable tool "nothing".',
  ]);
});

test.each(['files::files', 'files::*'])('%s matches any tool without proof', async (text) => {
  const { gets, asked } = await choose(agentWith([text]));
  expect({ gets, asked }).toEqual({ gets: ['files'], asked: [] });
});

test('a server without a tool means the whole server; without either, all programs', async () => {
  const whole = { server: 'files', tool: undefined, text: 'files' };
  const all = { server: undefined, tool: undefined, text: '*' };
  const url = candidate('url', { cmd: undefined, url: 'https://example.com' });
  const servers = [...SERVERS, url];
  const first = await choose(agentWith([], { tools: [whole] }), {}, { servers });
  expect(first).toMatchObject({ gets: ['files'], asked: [] });
  const { gets } = await choose(agentWith([], { tools: [all] }), {}, { servers });
  expect(gets).toEqual(['files', 'notes', 'web', 'other']);
});

test('a bare tool is found on its server', async () => {
  expect(await choose(agentWith(['note']))).toMatchObject({
    gets: ['notes'],
    asked: ['files', 'notes', 'web', 'other'],
    warnings: [],
  });
});

test('a bare tool on several servers depends on the policy', async () => {
  const none = await choose(agentWith(['search']), { mcpEnumFallback: 'none' });
  expect(none.gets).toEqual([]);
  const all = await choose(agentWith(['search']), { mcpEnumFallback: 'all' });
  expect(all.gets).toEqual(['notes', 'web']);
  expect([...none.warnings, ...all.warnings]).toEqual([
    'Several servers have the tool "search": "notes", "web". The agent gets none of them. Write "notes::search" to choose one.',
    'Several servers have the tool "search": "notes", "web". The agent gets all of them. Write "notes::search" to choose one.',
  ]);
});

test('a bare tool on a server the agent already has means that one', async () => {
  const named = await choose(agentWith(['search', 'web::get']));
  expect(named).toMatchObject({ gets: ['web'], warnings: [] });
  const agent = agentWith(['search'], { servers: [own('mine')] });
  const brought = await choose(agent, {}, { has: { ...HAS, mine: ['search'] } });
  expect(brought).toMatchObject({ gets: ['mine'], warnings: [] });
});

test('a bare tool that no server has is reported, with suggestions', async () => {
  const { gets, warnings } = await choose(agentWith(['serch', 'files', 'a/files/scan']));
  expect(gets).toEqual([]);
  expect(warnings).toEqual([
    'No server has the tool "serch". Did you mean search?',
    'No server has the tool "files". For all tools of the server "files", write "files::*".',
    'No server has the tool "a/files/scan". For the tool "scan" of server "a/files", write "a/files::scan".',
  ]);
});

test('if a server does not answer, the tool may still exist', async () => {
  const has = { ...HAS, other: 'It is broken.' };
  const { gets, warnings, lacks } = await choose(agentWith(['serch']), {}, { has });
  expect([gets, warnings]).toEqual([[], []]);
  expect(lacks).toEqual([
    'The agent runs without the tool "serch". No server that responded has it, and "other" didn\'t respond. It is broken. If you know its server, write "other::serch". Did you mean search?',
  ]);
});

test('if a server was not asked, the reason is given', async () => {
  const { warnings, lacks } = await choose(
    agentWith(['scan']),
    {},
    { code: 'SUBTOOL_UNKNOWN', has: { other: 'x' } },
  );
  expect(warnings).toEqual([
    'Switchboard doesn\'t know yet which server has the tool "scan". It hasn\'t asked "other". Run: switchboard agents --check.',
  ]);
  expect(lacks).toEqual([]);
});

test('trying asks every granted server again, and reports each failure once', async () => {
  const has = { ...HAS, other: 'It is broken.', mine: 'It is gone.' };
  const agent = agentWith(['other::scan', 'files::*'], { servers: [own('mine')] });
  const { gets, asked, warnings } = await choose(agent, {}, { has, isTried: true });
  expect(gets).toEqual(['mine', 'files', 'other']);
  expect(asked).toEqual(['other', 'mine!', 'files!', 'other!']);
  expect(warnings).toEqual([
    'Server "other" is attached without checking its tools. It is broken.',
    'Server "mine" is attached without checking its tools. It is gone.',
  ]);
});

test('a remote server is only for agents that name it', async () => {
  const servers = [candidate('web', { cmd: undefined, url: 'https://example.com/mcp' })];
  const has = { web: ['get'] };
  const bare = await choose(agentWith(['get']), {}, { servers, has });
  expect(bare).toMatchObject({ gets: [], asked: [] });
  for (const said of [{ mcpLimitReferenced: false }, { mcpEnumerate: false }]) {
    expect((await choose(agentWith(['get']), said, { servers, has })).gets).toEqual([]);
    expect((await choose(agentWith(['web::get']), said, { servers, has })).gets).toEqual(['web']);
  }
  const named = await choose(agentWith(['web::get']), {}, { servers, has });
  expect(named).toMatchObject({ gets: ['web'], asked: ['web'] });
});

test("VS Code's own names are not server tools", async () => {
  const has = { files: ['usages', 'problems'] };
  const agent = agentWith(['usages', 'problems'], { kind: 'vscode' });
  for (const said of [{}, { mcpEnumerate: false }]) {
    const { gets, asked, warnings } = await choose(agent, said, { has });
    expect({ gets, asked, warnings }).toEqual({ gets: [], asked: [], warnings: [] });
  }
  expect((await choose(agentWith(['usages']), {}, { has })).gets).toEqual(['files']);
});

test('a named server that does not answer is granted without proof, or not at all if strict', async () => {
  const has = { ...HAS, files: 'It is broken.' };
  const lenient = await choose(agentWith(['files::read']), {}, { has });
  const strict = await choose(agentWith(['files::read']), { mcpEnumStrict: true }, { has });
  expect([lenient.gets, strict.gets]).toEqual([['files'], []]);
  expect([lenient.warnings, lenient.lacks, strict.warnings, strict.lacks]).toEqual([
    ['Server "files" is attached without checking its tools. It is broken.'],
    [],
    [],
    ['The agent runs without server "files". It is broken.'],
  ]);
});

test('without a filter all are granted, and only named ones are asked', async () => {
  const said = { mcpLimitReferenced: false };
  const { gets, asked, warnings } = await choose(agentWith(['search', 'files::none']), said);
  expect(gets).toEqual(['files', 'notes', 'web', 'other']);
  expect(asked).toEqual(['files', 'files!']);
  expect(warnings).toHaveLength(1);
});

test('without a filter but strict, all are asked, and silent ones are not granted', async () => {
  const has = { ...HAS, web: 'It is broken.', mine: 'It is broken.', files: 'It is broken.' };
  const said = { mcpLimitReferenced: false, mcpEnumStrict: true };
  const agent = agentWith(['files::*'], { servers: [own('mine')] });
  const { gets, lacks } = await choose(agent, said, { has });
  expect(gets).toEqual(['mine', 'files', 'notes', 'other']);
  expect(lacks).toEqual(['The agent runs without server "web". It is broken.']);
});

test.each<[string[], Partial<AgentSettings>, string[]]>([
  [['files::nothing'], {}, ['files']],
  [['files::nothing', 'search'], {}, ['files', 'notes', 'web', 'other']],
  [[], {}, []],
  [[], { mcpLimitReferenced: false }, ['files', 'notes', 'web', 'other']],
])('without asking, %j with %j gets %j', async (tools, said, expected) => {
  const { gets, asked } = await choose(agentWith(tools), { mcpEnumerate: false, ...said });
  expect({ gets, asked }).toEqual({ gets: expected, asked: [] });
});

test('only so many are asked, named ones first; the others are reported', async () => {
  const said = { mcpMaxServers: 2 };
  const { gets, asked, warnings } = await choose(agentWith(['search', 'web::get']), said);
  expect(asked).toEqual(['web', 'files']);
  expect(gets).toEqual(['web']);
  expect(warnings).toEqual([
    'Not asked for their tools, because the limit is 2 servers: "notes", "other". Raise AGENTS_MCP_MAX_SERVERS, or name a server with each tool.',
  ]);
  const none = await choose(agentWith(['web::get']), { mcpMaxServers: 0 });
  expect(none).toMatchObject({ gets: ['web'], asked: [] });
  expect(none.warnings).toHaveLength(2);
});

test('a missing server is reported with suggestions or a reason', async () => {
  const leftOut = new Map([['so old', 'It is reached over SSE.']]);
  const agent = agentWith(['note::note', 'so_old::x', 'zzz::y', 'zzz::x']);
  const { gets, warnings } = await choose(agent, {}, { leftOut });
  expect(gets).toEqual([]);
  expect(warnings).toEqual([
    'Server "note" is not configured anywhere. Did you mean notes?',
    'The agent does not get server "so_old". It is reached over SSE.',
    'Server "zzz" is not configured anywhere.',
  ]);
});

test('a key is found in the form used in tool names', async () => {
  const servers = [candidate('my files (old)'), candidate('a.b'), candidate('a b')];
  const has = { 'my files (old)': ['read'] };
  const { gets, warnings } = await choose(
    agentWith(['my_files__old_::read', 'a_b::x']),
    {},
    { servers, has },
  );
  expect(gets).toEqual(['my files (old)']);
  expect(warnings).toHaveLength(1); // two are alike
});

test('an agent can be limited to the tools it names', async () => {
  const said = { mcpToolFilter: true };
  const agent = agentWith(['files::read', 'note', 'web::*', 'web::get'], {
    servers: [own('mine')],
  });
  expect((await choose(agent, said)).tools).toEqual({
    mine: undefined,
    files: ['read'],
    notes: ['note'],
    web: undefined,
  });
  const unasked = await choose(agentWith(['files::read', 'get']), { ...said, mcpEnumerate: false });
  expect(unasked.tools['files']).toEqual(['read', 'get']);
  expect(unasked.tools['web']).toEqual(['get']);
});

test('denied tools are neither found nor granted', async () => {
  const exposing = (allow: string[] | undefined, deny?: string[]) => [
    candidate('files', { expose: { allow, deny } }),
  ];
  const has = { files: ['read', 'read_all', 'write'] };
  const get = (tools: string[], servers: Candidate[], said = {}) =>
    choose(agentWith(tools), said, { servers, has });

  expect((await get(['read'], exposing(['read*']))).tools).toEqual({ files: ['read', 'read_all'] });
  expect((await get(['files::*'], exposing(undefined, ['read*']))).tools).toEqual({
    files: ['write'],
  });
  expect((await get(['write'], exposing(['read*']))).gets).toEqual([]);
  expect((await get(['files::write'], exposing(['read*']))).warnings).toEqual([
    'Server "files" (/project/.mcp.json) has no usable tool "write".',
  ]);
  const filtered = await get(['files::read', 'files::write'], exposing(['read*']), {
    mcpToolFilter: true,
  });
  expect(filtered.tools).toEqual({ files: ['read'] });
  expect((await get(['files::*'], exposing(['x*']))).lacks).toEqual([
    'The agent runs without server "files". None of its tools are exposed (/project/.mcp.json).',
  ]);
});

test('a restricted server with unknown tools is not granted', async () => {
  const has = { files: 'It is broken.' };
  const get = (allow: string[] | undefined, deny?: string[]) =>
    choose(
      agentWith(['files::*']),
      {},
      { has, servers: [candidate('files', { expose: { allow, deny } })] },
    );

  expect((await get(['read*'])).lacks).toEqual([
    'The agent runs without server "files". Only some of its tools are exposed (/project/.mcp.json), and its tool list is unknown. It is broken.',
  ]);
  expect((await get(undefined, ['write'])).gets).toEqual([]);
  // Names need no list.
  expect((await get(['read', 'write'], ['write'])).tools).toEqual({ files: ['read'] });
});
