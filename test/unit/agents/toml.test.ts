// Agents in TOML: Switchboard's own format, and Codex's.
import { describe, expect, test } from 'vitest';
import type { RunFields } from '../../../src/agents/agent.ts';
import { createAgents } from './temp-agents.ts';

const FILE = 'project/.agents/a.toml';

/** Loads one agent from a text in Switchboard's format. */
async function loadToml(text: string, others: Record<string, string> = {}) {
  const agents = createAgents({ [FILE]: text, ...others });
  const agent = await agents.loadOnly();
  return { ...agent, warnings: agents.plain(agent.warnings) };
}

const server = (said: object) => ({
  origin: expect.stringMatching(/\.toml$/) as string,
  cmd: undefined,
  args: [],
  env: {},
  cwd: undefined,
  url: undefined,
  headers: {},
  isInjected: false,
  ...said,
});

test('the documented example parses as documented', async () => {
  const agent = await loadToml(
    `name = "Explain Build Failures"
description = "Diagnose failing builds and propose fixes"
tags = ["triage", "build"]
tools = ["plan", "apply_patch", "web_search"]
instructions_file = ".agents/explain.prompt.md"

[run]
model = "gpt-4o-mini"            # optional; omit to use Codex defaults
model_provider = "openai"         # optional
tools_web_search_request = true    # optional toggle

[mcp_servers.memory]
command = "npx"
args = ["-y", "@modelcontextprotocol/server-memory"]
# env = { FOO = "BAR" }           # optional
`,
    { 'project/.agents/explain.prompt.md': 'Explain it.\n' },
  );
  expect(agent).toMatchObject({
    name: 'Explain Build Failures',
    description: 'Diagnose failing builds and propose fixes',
    tags: ['triage', 'build'],
    safeName: 'explain_build_failures',
    toolName: 'agent_explain_build_failures',
    instructions: 'Explain it.',
    tools: [],
    warnings: [],
  });
  expect(agent.run).toEqual({
    model: 'gpt-4o-mini',
    provider: 'openai',
    builtins: { plan: true, apply_patch: true, web_search: true },
  });
  expect([...agent.servers]).toEqual([
    [
      'memory',
      server({
        key: 'memory',
        cmd: 'npx',
        args: ['-y', '@modelcontextprotocol/server-memory'],
        cwd: expect.stringMatching(/\/project$/) as string,
      }),
    ],
  ]);
});

test('a name is enough for an agent', async () => {
  const agent = await loadToml('name = "Bare"\n');
  expect(agent).toMatchObject({ instructions: undefined, run: {}, tools: [], warnings: [] });
  expect(agent.servers.size).toBe(0);
});

describe('[run]', () => {
  const GOOD: [string, string, RunFields][] = [
    ['model', '"m"', { model: 'm' }],
    ['model_provider', '"p"', { provider: 'p' }],
    ['approval_policy', '"untrusted"', { approvals: 'untrusted' }],
    ['approval_policy', '"on-failure"', { approvals: 'on-failure' }],
    ['approval_policy', '"on-request"', { approvals: 'on-request' }],
    ['approval_policy', '"never"', { approvals: 'never' }],
    ['disable_response_storage', 'true', { disableStorage: true }],
    ['model_reasoning_effort', '"xhigh"', { effort: 'xhigh' }],
    ['model_reasoning_summary', '"concise"', { summary: 'concise' }],
    ['model_verbosity', '"low"', { verbosity: 'low' }],
    ['chatgpt_base_url', '"https://x.example/"', { baseUrl: 'https://x.example/' }],
    ['sandbox_mode', '"workspace-write"', { sandbox: 'workspace-write' }],
    ['include_plan_tool', 'true', { builtins: { plan: true } }],
    ['include_apply_patch_tool', 'false', { builtins: { apply_patch: false } }],
    ['include_view_image_tool', 'true', { builtins: { view_image: true } }],
    ['tools_web_search_request', 'false', { builtins: { web_search: false } }],
  ];

  test.each(GOOD)('%s = %s is passed through', async (key, value, expected) => {
    const agent = await loadToml(`name = "A"\n\n[run]\n${key} = ${value}\n`);
    expect(agent.run).toEqual(expected);
    expect(agent.warnings).toEqual([]);
  });

  test.each([
    ['model', '7'],
    ['model_provider', '" "'],
    ['approval_policy', '"always"'],
    ['disable_response_storage', '"true"'],
    ['model_reasoning_effort', '"very high"'],
    ['model_reasoning_summary', '"long"'],
    ['model_verbosity', '2020-01-01'],
    ['chatgpt_base_url', '[]'],
    ['sandbox_mode', '"none"'],
    ['include_plan_tool', '1'],
  ])('%s = %s is ignored with its line, and the rest stays', async (key, value) => {
    const agent = await loadToml(
      `name = "A"\n[run]\nmodel${key === 'model' ? '_provider' : ''} = "kept"\n${key} = ${value}\n`,
    );
    expect(Object.values(agent.run)).toEqual(['kept']);
    expect(agent.warnings).toEqual([
      expect.stringMatching(RegExp(`^${FILE}:4: run\\.${key}: expected .* Ignored\\.$`)),
    ]);
  });

  test('misplaced and unknown keys are reported', async () => {
    const agent = await loadToml(
      'name = "A"\nmodel = "m"\ncolour = "red"\nrun.effort = "x"\ndescripton = """\nmodel = 1\n"""\n',
    );
    expect(agent.run).toEqual({});
    expect(agent.warnings).toEqual([
      `${FILE}:2: model: has no effect here. Move it to [run].`,
      `${FILE}:3: colour: unknown key.`,
      `${FILE}:5: descripton: unknown key. Did you mean "description"?`,
      `${FILE}:4: run.effort: unknown key. Did you mean "model_reasoning_effort"?`,
    ]);
  });

  test('values of the wrong type are ignored, and the agent stays', async () => {
    const agent = await loadToml(
      'name = "A"\nrun = 3\ntags = { a = 1 }\nmcp_servers = []\ninstructions = [1]\n',
    );
    expect(agent).toMatchObject({ run: {}, tags: [], instructions: undefined });
    expect(agent.warnings).toEqual([
      `${FILE}:2: run: expected a table, got 3. Ignored.`,
      `${FILE}:3: tags: expected a string or a list of strings, got a table. Ignored.`,
      `${FILE}:4: mcp_servers: expected a table, got a list. Ignored.`,
      `${FILE}:5: instructions: expected a string, got a list. Ignored.`,
    ]);
  });

  test('long strings are quoted and shown within limits', async () => {
    const agent = await loadToml(
      `name = "A"\ndescription = "${'d'.repeat(100_000)}"\n${'k'.repeat(100_000)} = 1\n`,
    );
    expect(agent.description).toHaveLength(8_000);
    expect(agent.warnings.join().length).toBeLessThan(600);
  });

  test('a file full of mistakes is reported within limits', async () => {
    const keys = Array.from({ length: 20_000 }, (_, index) => `k${index} = 1`);
    const agent = await loadToml(`name = "A"\n${keys.join('\n')}\n`);
    expect(agent.warnings).toHaveLength(20);
  });
});

describe('tools', () => {
  test.each([
    ['plan', { builtins: { plan: true } }],
    ['apply_patch', { builtins: { apply_patch: true } }],
    ['apply-patch', { builtins: { apply_patch: true } }],
    ['view_image', { builtins: { view_image: true } }],
    ['view-image', { builtins: { view_image: true } }],
    ['web_search', { builtins: { web_search: true } }],
    ['web-search', { builtins: { web_search: true } }],
    ['PLAN', { builtins: { plan: true } }],
  ])('%s is a switch, in a list or a string, even without tool mapping', async (tool, run) => {
    for (const written of [`["${tool}"]`, `"${tool}"`]) {
      const { loadOnly } = createAgents({ [FILE]: `name = "A"\ntools = ${written}\n` });
      expect(await loadOnly({ toolmapEnable: false })).toMatchObject({ run, tools: [] });
    }
  });

  test('a list and a string mean the same', async () => {
    const list = await loadToml('name = "A"\ntools = ["plan", "memory::*", "find"]\n');
    const text = await loadToml('name = "A"\ntools = "plan, memory::*  find"\n');
    expect(text.run).toEqual(list.run);
    expect(text.tools).toEqual(list.tools);
    expect(list.tools).toEqual([
      { server: 'memory', tool: undefined, text: 'memory::*' },
      { server: undefined, tool: 'find', text: 'find' },
    ]);
  });

  test('a switch in [run] overrides the list', async () => {
    const agent = await loadToml(
      'name = "A"\ntools = ["plan", "web_search"]\n[run]\ntools_web_search_request = false\n',
    );
    expect(agent.run).toEqual({ builtins: { plan: true, web_search: false } });
  });
});

describe('instructions', () => {
  const PROMPTS = {
    'project/prompts/p.md': 'of the project',
    'project/.agents/prompts/p.md': 'beside the file',
    'project/.agents/prompts/only-here.md': 'only beside',
    'project/.agents/prompts/blank.md': ' \n',
    'user/p.md': '\ufeffof the user',
    'project/.agents/a.prompt.md': 'sibling',
  };
  test.each([
    [
      'in the project first',
      'instructions_file = "prompts/p.md"\ninstructions = "x"',
      'of the project',
    ],
    ['beside the agent', 'instructions_file = "prompts/only-here.md"', 'only beside'],
    ['below the home folder', 'instructions_file = "~/p.md"', 'of the user'],
    ['in the agent itself', 'instructions = " inline "', 'inline'],
    ['in the file of the same name', '', 'sibling'],
  ])('are found %s', async (_, said, expected) => {
    const agent = await loadToml(`name = "A"\n${said}\n`, PROMPTS);
    expect(agent.instructions).toBe(expected);
    expect(agent.warnings).toEqual([]);
  });

  test.each([
    ['prompts/blank.md', 'instructions = "inline"', 'inline', 'Using "instructions" instead.'],
    ['gone.md', 'instructions = "inline"', 'inline', 'Using "instructions" instead.'],
    ['prompts', '', undefined, 'The agent has no instructions.'],
  ])('in an unusable file %s are replaced, with a warning', async (file, said, expected, says) => {
    const agent = await loadToml(`name = "A"\ninstructions_file = "${file}"\n${said}\n`, PROMPTS);
    expect(agent.instructions).toBe(expected);
    expect(agent.warnings).toEqual([
      `${FILE}: instructions_file: "${file}" is blank or can't be read. ${says}`,
    ]);
  });

  test('are read again when the agent runs', async () => {
    const { list, load, write } = createAgents({ [FILE]: 'name = "A"\ninstructions = "old"\n' });
    const { agents } = await list();
    write(FILE, 'name = "B"\ninstructions = "new"\n');
    const [listed] = agents;
    expect(listed && (await load(listed))).toMatchObject({ name: 'A', instructions: 'new' });
  });
});

describe('[mcp_servers]', () => {
  test('have commands or URLs, and strings for values', async () => {
    const { servers, warnings } = await loadToml(`name = "A"
[mcp_servers.local]
command = "run"
args = ["-p", 8080]
cwd = "tools"
env = {
  PORT = 8080, # over several lines
  DEBUG = true,
  KEY = "\${SECRET}",
}
env_vars = ["TOKEN"]
startup_timeout_sec = 5
tool_timeout_sec = 0.5
required = true
default_tools_approval_mode = "approve"

[mcp_servers.remote]
url = "https://x.example/mcp"
bearer_token_env_var = "API_KEY"
http_headers = { X-A = "1" }
env_http_headers = { X-B = "B_VAR" }

[mcp_servers.off]
command = "x"
enabled = false

[mcp_servers.__proto__]
command = "p"
`);
    expect(warnings).toEqual([]);
    expect([...servers.values()]).toEqual([
      server({
        key: 'local',
        cmd: 'run',
        args: ['-p', '8080'],
        env: { TOKEN: '${TOKEN:-}', PORT: '8080', DEBUG: 'true', KEY: '${SECRET}' },
        cwd: expect.stringMatching(/\/project\/tools$/) as string,
        startupTimeoutSec: 5,
        toolTimeoutSec: 0.5,
        isRequired: true,
      }),
      server({
        key: 'remote',
        url: 'https://x.example/mcp',
        headers: { Authorization: 'Bearer ${API_KEY}', 'X-A': '1', 'X-B': '${B_VAR}' },
      }),
      server({ key: '__proto__', cmd: 'p', cwd: expect.stringMatching(/\/project$/) as string }),
    ]);
    expect(Object.prototype).not.toHaveProperty('command');
  });

  test.each([
    ['x = 3', 'expected a table, got 3.'],
    ['x = {}', 'expected a command or a url, got nothing.'],
    ['x = { command = "c", url = "https://x.example" }', 'it has both a command and a url.'],
    [
      'x = { url = "https://x.example", type = "sse" }',
      'SSE is not supported. Bridge it with a command such as mcp-proxy.',
    ],
    ['x = { command = "c", args = "-y" }', 'args: expected a list, got a string.'],
    ['x = { command = "c", env = ["s3cret"] }', 'env: expected a table of strings, got a list.'],
    [
      'x = { command = "c", env = { A = { b = "s3cret" } } }',
      'env: expected a table of strings, got a table.',
    ],
    [
      'x = { url = "https://x.example", headers = "s3cret" }',
      'headers: expected a table of strings, got a string.',
    ],
  ])('%s is ignored with its line', async (entry, says) => {
    const agent = await loadToml(`name = "A"\n[mcp_servers]\nok = { command = "c" }\n${entry}\n`);
    expect([...agent.servers.keys()]).toEqual(['ok']);
    expect(agent.warnings).toEqual([`${FILE}:4: mcp_servers.x: ${says} The server is ignored.`]);
  });

  test('with unknown keys are used, with a warning', async () => {
    const agent = await loadToml('name = "A"\n[mcp_servers.m]\ncommand = "c"\narg = ["-y"]\n');
    expect([...agent.servers.keys()]).toEqual(['m']);
    expect(agent.warnings).toEqual([
      `${FILE}:4: mcp_servers.m.arg: unknown key. Did you mean "args"?`,
    ]);
  });

  test.each([
    ['', /\/project$/],
    ['cwd = "~"', /\/user$/],
    ['cwd = "${TOP}/sub"', /^\$\{TOP\}\/sub$/],
  ])('run in the project by default: %s', async (line, folder) => {
    const agent = await loadToml(`name = "A"\n[mcp_servers.m]\ncommand = "c"\n${line}\n`);
    expect(agent.servers.get('m')?.cwd).toMatch(folder);
  });

  test.each([
    ['startup_timeout_ms = 2500', { startupTimeoutSec: 2.5 }],
    ['startup_timeout_ms = 2500\nstartup_timeout_sec = 9', { startupTimeoutSec: 9 }],
    ['tool_timeout_sec = 3600', { toolTimeoutSec: 3600 }],
  ])('may have their own limits: %j', async (line, limits) => {
    const agent = await loadToml(`name = "A"\n[mcp_servers.m]\ncommand = "c"\n${line}\n`);
    expect(agent.warnings).toEqual([]);
    expect(agent.servers.get('m')).toMatchObject(limits);
  });

  test.each([
    ['tool_timeout_sec = "soon"', 'tool_timeout_sec: expected a number above 0, got a string.'],
    ['startup_timeout_sec = 0', 'startup_timeout_sec: expected a number above 0, got 0.'],
    ['startup_timeout_ms = -1', 'startup_timeout_ms: expected a number above 0, got -1.'],
    ['tool_timeout_sec = inf', 'tool_timeout_sec: expected a number above 0, got Infinity.'],
  ])('keep the defaults if a limit is invalid: %s', async (line, says) => {
    const agent = await loadToml(`name = "A"\n[mcp_servers.m]\ncommand = "c"\n${line}\n`);
    expect(agent.warnings).toEqual([`${FILE}:2: mcp_servers.m: ${says} Ignored.`]);
    const { startupTimeoutSec, toolTimeoutSec } = agent.servers.get('m') ?? {};
    expect([startupTimeoutSec, toolTimeoutSec]).toEqual([undefined, undefined]);
  });

  test.each([
    ['default_tools_approval_mode = "prompt"', 'default_tools_approval_mode has no effect here.'],
  ])('report what has no effect: %s', async (line, says) => {
    const agent = await loadToml(`name = "A"\n[mcp_servers.m]\ncommand = "c"\n${line}\n`);
    expect(agent.warnings).toEqual([
      expect.stringContaining(`${FILE}:2: mcp_servers.m: ${says}`) as string,
    ]);
  });

  test('that name their tools become references to them', async () => {
    const agent = await loadToml(
      'name = "A"\n[mcp_servers.m]\ncommand = "c"\nenabled_tools = ["a"]\ndisabled_tools = ["b"]\n',
    );
    expect(agent.tools).toEqual([{ server: 'm', tool: 'a', text: 'm::a' }]);
    expect(agent.servers.get('m')?.enabledTools).toEqual(['a']);
    expect(agent.warnings).toEqual([
      `${FILE}:2: mcp_servers.m: disabled_tools has no effect here. List the tools to use in enabled_tools instead.`,
    ]);
  });
});

describe('Codex agents', () => {
  async function loadCodex(text: string) {
    const agents = createAgents({ 'project/.codex/agents/c.toml': text });
    const agent = await agents.loadOnly({ extraFormats: true });
    return { ...agent, warnings: agents.plain(agent.warnings) };
  }

  test('have instructions next to any configuration key', async () => {
    const agent = await loadCodex(`name = "reviewer"
description = "Reviews"
developer_instructions = """
Review it.
"""
nickname_candidates = ["R"]
model = "gpt-5.5"
model_reasoning_effort = "high"
sandbox_mode = "read-only"
web_search = "live"
service_tier = "fast"
[tools.update_plan]
enabled = true
[features]
view_image = false
[mcp_servers.docs]
url = "https://docs.example/mcp"
`);
    expect(agent).toMatchObject({
      description: 'Reviews',
      instructions: 'Review it.',
      warnings: [],
    });
    expect(agent.run).toEqual({
      model: 'gpt-5.5',
      effort: 'high',
      sandbox: 'read-only',
      builtins: { web_search: true, plan: true, view_image: false },
    });
    expect([...agent.servers.keys()]).toEqual(['docs']);
  });

  test.each([
    ['web_search = "disabled"', { builtins: { web_search: false } }],
    ['web_search = "cached"', { builtins: { web_search: true } }],
    ['tools.web_search = true', { builtins: { web_search: true } }],
    ['tools.view_image = false', { builtins: { view_image: false } }],
    ['tools.web_search = { context_size = "low" }', { builtins: { web_search: true } }],
  ])('switch with %s', async (said, run) => {
    const agent = await loadCodex(`name = "c"\ndeveloper_instructions = "x"\n${said}\n`);
    expect(agent.run).toEqual(run);
  });

  test('need instructions, and lose an invalid field', async () => {
    const { list, plain } = createAgents({
      'project/.codex/agents/a.toml': 'name = "a"\n',
      'project/.codex/agents/b.toml':
        'name = "b"\ndeveloper_instructions = "x"\nsandbox_mode = "no"\n',
    });
    const { agents, problems } = await list({ extraFormats: true });
    expect(agents.map(({ name }) => name)).toEqual(['b']);
    expect(plain(problems)).toEqual([
      'project/.codex/agents/a.toml:1: Missing developer_instructions. The agent is ignored.',
      'project/.codex/agents/b.toml:3: sandbox_mode: expected "read-only", "workspace-write", "danger-full-access", got "no". Ignored.',
    ]);
  });
});

test('instructions that are not UTF-8 are not passed on', async () => {
  const agents = createAgents({ [FILE]: 'name = "A"\ninstructions_file = "i.md"\n' });
  agents.write('project/i.md', Buffer.from('\ufeffDo it.', 'utf16le'));
  const { instructions, warnings } = await agents.loadOnly();
  expect(instructions).toBeUndefined();
  expect(agents.plain(warnings)).toEqual([
    `${FILE}: instructions_file: "i.md" is blank or can't be read. The agent has no instructions.`,
  ]);
});
