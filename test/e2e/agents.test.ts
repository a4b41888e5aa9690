// Agents as a host sees and uses them, with the built program and an engine that does what it is told.
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { cleanText } from '../../src/base/text.ts';
import { agentProject, frontMatter, runThrough, toml } from '../support/agent-project.ts';
import { runSwitchboard } from '../support/command.ts';
import { eventually, isAlive, processesWith } from '../support/processes.ts';
import { PROGRAM } from '../support/project.ts';
import { RawHost, toolsOf } from '../support/raw-host.ts';
import { publishedServer } from '../support/servers.ts';
import { slow, test } from '../support/slow.ts';
import { runOnTerminal } from '../support/terminal.ts';

const SCHEMA = {
  type: 'object',
  properties: {
    task: { type: 'string', description: 'What the agent should do, in plain language.' },
    cwd: { type: 'string', description: 'The folder to work in, as an absolute path.' },
  },
  required: ['task', 'cwd'],
};

const ONE_OF_EACH = {
  '.agents/b.toml': toml('Build Doctor', 'description = "Mends builds"\ntags = "triage build"'),
  '.agents/a.toml': toml('Aide'),
  '.claude/agents/r.agent.md': frontMatter('name: reviewer\ndescription: Reviews: code'),
  '.github/chatmodes/plan it.chatmode.md': frontMatter('description: Plans'),
};

/** What a request of the modern era says of its host. */
const envelope = (name: string) => ({
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name, version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
});

test('lists one tool per agent of all three kinds, in a fixed order, with the same input schema', async () => {
  const project = agentProject(ONE_OF_EACH);
  const host = await RawHost.connect(project);
  const tools = toolsOf(await host.request('tools/list'));
  expect(tools).toEqual([
    {
      name: 'agent_aide',
      description: "task, cwd: string — Agent 'Aide': Execute tasks via Codex",
      inputSchema: SCHEMA,
      _meta: { 'anthropic/alwaysLoad': true },
    },
    {
      name: 'agent_build_doctor',
      description: 'task, cwd: string — Mends builds [tags: triage, build]',
      inputSchema: SCHEMA,
      _meta: { 'anthropic/alwaysLoad': true },
    },
    {
      name: 'anth_reviewer',
      description: 'task, cwd: string — Reviews: code',
      inputSchema: SCHEMA,
      _meta: { 'anthropic/alwaysLoad': true },
    },
    {
      name: 'vsc_plan_it',
      description: 'task, cwd: string — Plans',
      inputSchema: SCHEMA,
      _meta: { 'anthropic/alwaysLoad': true },
    },
  ]);
  expect(toolsOf(await host.request('tools/list'))).toEqual(tools);
});

describe('Claude Code’s own agents', () => {
  const files = {
    '.claude/agents/reviewer.md': frontMatter(
      'name: reviewer\ndescription: Reviews\nmodel: inherit',
    ),
    '.claude/agents/team/tester.md': frontMatter('name: tester\ndescription: Tests'),
    '.claude/agents/shared.agent.md': frontMatter('name: shared'),
    '.claude/agents/README.md': '# Our agents\n',
    'home/.switchboard/agents/mine.md': frontMatter('name: mine'),
  };

  test('are tools in every host except Claude Code, in either era', async () => {
    const project = agentProject(files);
    const all = ['anth_shared', 'anth_reviewer', 'anth_tester', 'anth_mine'];
    const others = ['anth_shared', 'anth_mine'];
    for (const [client, expected] of [
      ['codex-mcp-client', all],
      ['claude-code', others],
    ] as const) {
      const host = await RawHost.connect(project, { client });
      expect(await host.toolNames()).toEqual(expected);
      expect(await host.toolNames()).toEqual(expected);
      const modern = new RawHost(project);
      const listed = await modern.request('tools/list', { _meta: envelope(client) });
      expect(toolsOf(listed).map(({ name }) => name)).toEqual(expected);
    }
  });

  test('run with their own settings, and the engine’s model if they inherit it', async () => {
    const project = agentProject(files);
    const host = await RawHost.connect(project);
    expect(await runThrough(host, 'anth_reviewer', { task: 'go', cwd: '/' })).toMatchObject({
      ok: true,
    });
    expect(project.thread()).toMatchObject({ baseInstructions: 'Do it well.' });
    expect(project.thread()).not.toHaveProperty('model');
  });

  slow('are listed by `agents`, along with skipped files', async () => {
    const project = agentProject(files);
    const { stdout } = await runSwitchboard(project, ['agents']);
    const plain = stdout.replaceAll(project.dir, '<project>');
    expect(plain).toContain('hidden from  claude-code, which reads the file itself');
    expect(plain).toContain(
      'Skipped 1 file:\n  <project>/.claude/agents/README.md: Not an agent: no front matter.\n',
    );
    const doctor = await runSwitchboard(project, ['doctor']);
    expect(doctor.stdout).toContain('Agents: 4. Details: switchboard agents\n');
    expect(doctor.stdout).toContain('.claude/agents/README.md: Not an agent');
    const { stdout: json } = await runSwitchboard(project, ['doctor', '--json']);
    expect(JSON.parse(json)).toMatchObject({
      agents: { found: 4, problems: [], skipped: [expect.stringContaining('README.md')] },
    });
  });
});

test('`agents` says that the user’s own Codex servers are attached only if an agent names them', async () => {
  const codex = '[mcp_servers.notes]\ncommand = "x"\n[mcp_servers.mail]\ncommand = "y"\n';
  const project = agentProject({
    '.agents/a.toml': toml('Aide'),
    '.agents/b.toml': toml('Writer', 'tools = ["notes::*"]'),
    'home/.codex/config.toml': codex,
  });
  const { stdout } = await runSwitchboard(project, ['agents']);
  expect(stdout.replaceAll(project.dir, '<project>')).toContain(
    'Your own Codex servers are attached only to agents that name them, for example with "notes::*" in tools: notes, mail (<project>/home/.codex/config.toml)\n',
  );
  expect(stdout).toContain('servers  notes (from home/.codex/config.toml)');
  const without = await runSwitchboard(agentProject({ '.agents/a.toml': toml('Aide') }), [
    'agents',
  ]);
  expect(without.stdout).not.toContain('Codex servers');
});

test('the host’s instructions explain how to call agents', async () => {
  const host = new RawHost(agentProject(ONE_OF_EACH));
  const { result } = await host.request('initialize', { protocolVersion: '2025-11-25' });
  expect(result?.['instructions']).toContain('agent_*, anth_*, vsc_*');
  expect(result?.['instructions']).toContain('absolute path');
});

test('without agents, nothing about them is shown', async () => {
  const host = new RawHost(agentProject({}));
  const { result } = await host.request('initialize', { protocolVersion: '2025-11-25' });
  expect(result?.['instructions']).not.toContain('agent');
  expect(await host.toolNames()).toEqual([]);
});

test('a call runs the engine in the given folder', async () => {
  const project = agentProject({
    '.agents/a.toml': toml('Aide', 'instructions = "Be brief."'),
    'work/file.txt': 'x',
  });
  const host = await RawHost.connect(project);
  const cwd = join(project.dir, 'work');
  const { result } = await host.callTool('agent_aide', { task: '--do "it" $HOME', cwd });
  expect(result).toEqual({
    content: [{ type: 'text', text: '{"ok":true,"output":"The task was: --do \\"it\\" $HOME"}' }],
  });
  expect(project.thread()).toMatchObject({
    cwd,
    baseInstructions: 'Be brief.',
    serviceName: 'aide',
  });
  // What the agent does not say is the engine's to decide.
  for (const field of ['model', 'modelProvider', 'approvalPolicy', 'sandbox']) {
    expect(project.thread()).not.toHaveProperty(field);
  }
  expect(project.thread().config).toMatchObject({
    web_search: 'disabled',
    tools: { update_plan: { enabled: false } },
    features: { view_image: false },
  });
  expect(project.thread().config).not.toHaveProperty('model_reasoning_effort');
});

test.each([
  [{ cwd: '/' }, "missing required 'task' string"],
  [{ task: 'x' }, "missing required 'cwd' string"],
  [{ task: 'x', cwd: '.' }, "invalid 'cwd': got '.', expected an absolute path"],
  [{ task: 'x', cwd: '/no/such/folder' }, "there is no folder '/no/such/folder'"],
])('a call with %j is refused with a message', async (args, sentence) => {
  const project = agentProject({ '.agents/a.toml': toml('Aide') });
  const host = await RawHost.connect(project);
  const { result } = await host.callTool('agent_aide', args);
  expect(result?.isError).toBe(true);
  const payload = JSON.parse(result?.content?.[0]?.text ?? '') as object;
  expect(Object.keys(payload)).toEqual(['ok', 'output']);
  expect(payload).toMatchObject({ ok: false, output: expect.stringContaining(sentence) as string });
  expect(project.records()).toEqual([]);
  expect(await eventually(() => host.stderr.includes('agent_aide'))).toBe(true);
});

test('the host and the terminal show what the sandbox refused, whatever the agent answers', async () => {
  const project = agentProject({ '.agents/a.toml': toml('Aide') });
  const task = 'script: refused';
  const blocked = 'The read-only sandbox blocked';
  const host = await RawHost.connect(project);
  const { result } = await host.callTool('agent_aide', { task, cwd: '/' });
  const payload = JSON.parse(result?.content?.[0]?.text ?? '') as Record<string, unknown>;
  expect(Object.keys(payload)).toEqual(['ok', 'output']);
  expect(payload).toEqual({
    ok: true,
    output: expect.stringMatching(
      /^All is written\.\n\nNotes from Switchboard:\n- .*`touch a\.txt`.*\n- .*b\.txt\.$/,
    ) as string,
  });
  const { status, stdout, stderr } = await runSwitchboard(project, ['run', 'aide', task]);
  expect([status, stdout]).toEqual([0, 'All is written.\n']);
  expect(stderr.match(/^note: .*$/gm)).toEqual([
    expect.stringContaining(`note: ${blocked} \`touch a.txt\``),
    `note: ${blocked} changes to b.txt.`,
  ]);
  const json = await runSwitchboard(project, ['run', 'aide', task, '--json']);
  expect(JSON.parse(json.stdout)).toMatchObject({
    ok: true,
    output: 'All is written.',
    notes: [expect.stringContaining(blocked), expect.stringContaining(blocked)],
  });
});

test('an agent runs without unavailable servers and tools, and the host gets a note', async () => {
  const hangs = { command: process.execPath, args: ['-e', 'setInterval(() => {}, 1e6)'] };
  const broken = '[mcp_servers.broken]\ncommand = "/nowhere/server"';
  const project = agentProject(
    {
      '.agents/a.toml': toml('Aide', `tools = ["search"]\n${broken}`),
      '.agents/b.toml': toml('Picky', `${broken}\nrequired = true`),
      '.mcp.json': { mcpServers: { hangs } },
    },
    { AGENTS_MCP_ENUM_TIMEOUT_MS: '300' },
  );
  const host = await RawHost.connect(project);
  const { ok, output } = await runThrough(host, 'agent_aide', { task: 'go on', cwd: '/' });
  expect(ok).toBe(true);
  expect(output.split('\n')).toEqual([
    'The task was: go on',
    '',
    'Notes from Switchboard:',
    expect.stringMatching(
      /^- The agent runs without the tool "search"\. .* "hangs" did not start within 300 ms/,
    ),
    expect.stringMatching(/^- The agent ran without server "broken", which failed to start: /),
  ]);
  expect(await runThrough(host, 'agent_picky', { task: 'go on', cwd: '/' })).toEqual({
    ok: false,
    output: expect.stringMatching(
      /^Server "broken", which the agent requires, failed to start: No such file/,
    ) as string,
  });
});

test('an engine failure is one sentence', async () => {
  const project = agentProject({ '.agents/a.toml': toml('Aide') });
  const host = await RawHost.connect(project);
  const failed = await runThrough(host, 'agent_aide', { task: 'script: failed', cwd: '/' });
  expect(failed).toEqual({
    ok: false,
    output: 'unexpected status 500 Internal Server Error: oops',
  });
  const died = await runThrough(host, 'agent_aide', { task: 'script: dies', cwd: '/' });
  expect(died.ok).toBe(false);
  expect(died.output).toContain('The engine says goodbye.');
  // The next one is not disturbed by that.
  expect(await runThrough(host, 'agent_aide', { task: 'again', cwd: '/' })).toEqual({
    ok: true,
    output: 'The task was: again',
  });
});

test('without an engine, the answer says how to install one', async () => {
  const project = agentProject({ '.agents/a.toml': toml('Aide') }, { SWITCHBOARD_CODEX_BIN: '' });
  const host = await RawHost.connect({ ...project, env: { ...project.env, PATH: '' } });
  const { ok, output } = await runThrough(host, 'agent_aide', { task: 'x', cwd: '/' });
  expect(ok).toBe(false);
  expect(output).toContain('npm i -g @openai/codex');
});

test('without an engine, no server is started', async () => {
  const project = agentProject(
    { '.agents/a.toml': toml('Aide', 'tools = ["some_tool"]') },
    { SWITCHBOARD_CODEX_BIN: '/nowhere/codex' },
  );
  const started = join(project.dir, 'was-started');
  const mute = { command: 'sh', args: ['-c', `touch '${started}'; sleep 60`] };
  project.write('.mcp.json', { mcpServers: { mute } });
  const host = await RawHost.connect(project);
  const { ok, output } = await runThrough(host, 'agent_aide', { task: 'x', cwd: '/' });
  expect(ok).toBe(false);
  expect(output).toContain('/nowhere/codex');
  expect(await host.lastWords()).not.toContain('mute');
  expect(existsSync(started)).toBe(false);
});

slow('runs share one engine and clean up a folder together', async () => {
  const project = agentProject({ '.agents/a.toml': toml('Aide') });
  const cwd = join(project.dir, 'work');
  mkdirSync(cwd);
  const host = await RawHost.connect(project);
  const call = (task: string, id: number) =>
    void host.request('tools/call', { name: 'agent_aide', arguments: { task, cwd } }, id);
  const started = (count: number) => () =>
    project.records().filter(({ received }) => received?.method === 'turn/start').length === count;
  call('script: hangs', 101);
  expect(await eventually(started(1))).toBe(true);
  call('script: litters', 102);
  expect(await eventually(() => existsSync(join(cwd, '.aws')))).toBe(true);
  host.notify('notifications/cancelled', { requestId: 102 });
  const ends = () =>
    project.records().filter(({ received }) => received?.method === 'turn/interrupt');
  expect(await eventually(() => ends().length === 1)).toBe(true);
  // The other still works there, and its sandbox may need what the first has left.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(readdirSync(cwd).sort()).toEqual(['.aws', '.codex', '.git']);
  host.notify('notifications/cancelled', { requestId: 101 });
  expect(await eventually(() => readdirSync(cwd).length === 0)).toBe(true);
});

test('engine warnings are reported and logged, no matter how fast they arrive', async () => {
  const project = agentProject({
    '.agents/a.toml': toml('Aide', 'tools = ["apply_patch"]\n[run]\nmodel = "unheard-of"'),
  });
  const host = await RawHost.connect(project);
  await host.request('tools/call', {
    name: 'agent_aide',
    arguments: { task: 'script: warns', cwd: '/' },
    _meta: { progressToken: 1 },
  });
  for (const words of ['does not know the model unheard-of', 'Something is odd.', 'Reconnecting']) {
    expect(host.messages.some((message) => JSON.stringify(message).includes(words))).toBe(true);
    expect(await eventually(() => host.stderr.includes(words))).toBe(true);
  }
  const { stdout } = await runSwitchboard(project, ['agents']);
  expect(stdout).toContain('does not know the model unheard-of');
});

test('if the user is not signed in, the answer says how to sign in', async () => {
  const project = agentProject(
    { '.agents/a.toml': toml('Aide') },
    { SCRIPTED_CODEX: 'signed-out' },
  );
  const host = await RawHost.connect(project);
  const { ok, output } = await runThrough(host, 'agent_aide', { task: 'x', cwd: '/' });
  expect(ok).toBe(false);
  expect(output).toContain('codex login');
});

test('an unknown agent is an unknown tool, with a suggestion', async () => {
  const host = await RawHost.connect(agentProject({ '.agents/a.toml': toml('Aide') }));
  const { error } = await host.callTool('agent_aid', { task: 'x', cwd: '/' });
  expect(error?.code).toBe(-32602);
  expect(error?.message).toContain('agent_aide');
});

test('a broken file is reported with its line, and the others work', async () => {
  const project = agentProject({
    '.agents/a.toml': toml('Aide'),
    '.agents/broken.toml': 'name = "x"\nthis is = = no toml\n',
    '.agents/nameless.toml': 'description = "x"\n',
    '.claude/agents/open.agent.md': '---\nname: never closed\n',
    '.github/chatmodes/bare.chatmode.md': frontMatter('tools: edit'),
  });
  const host = await RawHost.connect(project);
  expect(await host.toolNames()).toEqual(['agent_aide']);
  const words = await host.lastWords();
  for (const file of ['broken.toml:2', 'nameless.toml', 'open.agent.md', 'bare.chatmode.md']) {
    expect(words).toContain(file);
  }
});

test('reports progress during a run', async () => {
  const host = await RawHost.connect(agentProject({ '.agents/a.toml': toml('Aide') }));
  await host.request('tools/call', {
    name: 'agent_aide',
    arguments: { task: 'script: steps', cwd: '/' },
    _meta: { progressToken: 'p' },
  });
  const told = host.messages.filter(({ method }) => method === 'notifications/progress');
  expect(told.length).toBeGreaterThan(0);
  expect(told[0]).toMatchObject({ params: { progressToken: 'p', progress: 1 } });
});

test('a cancelled run stops all its processes and leaves nothing in the folder', async () => {
  const project = agentProject({
    '.agents/a.toml': toml('Aide', 'instructions = "script: leaves-processes"'),
  });
  const cwd = join(project.dir, 'work');
  mkdirSync(cwd);
  const host = await RawHost.connect(project);
  const id = 77;
  void host.request('tools/call', { name: 'agent_aide', arguments: { task: 'go', cwd } }, id);
  const started = () => project.records().find((record) => record.started !== undefined)?.started;
  expect(await eventually(() => started() !== undefined)).toBe(true);
  host.notify('notifications/cancelled', { requestId: id });
  const engine = project.records().find(({ argv }) => argv?.[0] === 'app-server')?.pid;
  const isGone = (pid: number | undefined) => pid !== undefined && !isAlive(pid);
  expect(await eventually(() => isGone(engine) && isGone(started()))).toBe(true);
});

test('when the host disconnects, its runs stop', async () => {
  const project = agentProject({ '.agents/a.toml': toml('Aide') });
  const host = await RawHost.connect(project);
  void host.callTool('agent_aide', { task: 'script: hangs', cwd: '/' }).catch(() => {});
  expect(
    await eventually(() =>
      project.records().some(({ received }) => received?.method === 'turn/start'),
    ),
  ).toBe(true);
  await host.close();
  expect(await eventually(() => processesWith(project.dir).length === 0)).toBe(true);
});

slow(
  'the next Switchboard stops processes left by a killed one’s agent, wherever they moved',
  async () => {
    const project = agentProject({
      '.agents/a.toml': toml('Aide', 'instructions = "script: leaves-processes"'),
    });
    const killed = await RawHost.connect(project);
    void killed.callTool('agent_aide', { task: 'go', cwd: '/' }).catch(() => {});
    const left = () => project.records().find(({ started }) => started !== undefined)?.started ?? 0;
    expect(await eventually(() => left() > 0)).toBe(true);
    killed.process.kill('SIGKILL');
    await killed.exited;
    expect(isAlive(left())).toBe(true);
    await RawHost.connect(project);
    expect(await eventually(() => !isAlive(left()))).toBe(true);
  },
);

test('the next Switchboard removes folders left by a killed one’s sandbox', async () => {
  const project = agentProject({
    '.agents/a.toml': toml('Aide', 'instructions = "script: litters"'),
    'work/.codex/mine': 'is here',
  });
  const work = join(project.dir, 'work');
  const killed = await RawHost.connect(project);
  void killed.callTool('agent_aide', { task: 'go', cwd: work }).catch(() => {});
  expect(await eventually(() => existsSync(join(work, '.aws')))).toBe(true);
  killed.process.kill('SIGKILL');
  await killed.exited;
  expect(readdirSync(work).sort()).toEqual(['.aws', '.codex', '.git']);
  await RawHost.connect(project);
  expect(await eventually(() => readdirSync(work).join() === '.codex')).toBe(true);
});

slow('a run that takes too long is stopped, and its output is kept', async () => {
  const project = agentProject({ '.agents/a.toml': toml('Aide') }, { AGENTS_TIMEOUT_MS: '1500' });
  const host = await RawHost.connect(project);
  const { ok, output } = await runThrough(host, 'agent_aide', { task: 'script: hangs', cwd: '/' });
  expect(ok).toBe(false);
  expect(output).toContain('AGENTS_TIMEOUT_MS');
});

slow('50 MB of output is cut, with a note', async () => {
  const project = agentProject(
    { '.agents/a.toml': toml('Aide') },
    { AGENTS_OUTPUT_MAX_CHARS: '5000' },
  );
  const host = await RawHost.connect(project);
  const { output } = await runThrough(host, 'agent_aide', { task: 'script: huge', cwd: '/' });
  expect(output.length).toBeLessThan(6_000);
  expect(output).toMatch(/cut off/);
});

test('runs beyond the limit are queued, and say so', async () => {
  const project = agentProject(
    { '.agents/a.toml': toml('Aide') },
    { AGENTS_MAX_RUNS: '2', SCRIPTED_CODEX_MS: '100' },
  );
  const host = await RawHost.connect(project);
  const calls = Array.from({ length: 6 }, (_, index) =>
    host.request('tools/call', {
      name: 'agent_aide',
      arguments: { task: 'script: slow', cwd: '/' },
      _meta: { progressToken: index },
    }),
  );
  const answers = await Promise.all(calls);
  expect(answers.every(({ result }) => result?.content?.[0]?.text.includes('slowly done'))).toBe(
    true,
  );
  const waits = host.messages.filter((message) => JSON.stringify(message).includes('queued ('));
  expect(waits.length).toBeGreaterThanOrEqual(4);
});

test('`status` shows running and queued runs until they end', async () => {
  const project = agentProject({ '.agents/a.toml': toml('Aide') }, { AGENTS_MAX_RUNS: '1' });
  const host = await RawHost.connect(project);
  const report = async () => {
    const { stdout } = await runSwitchboard(project, ['status', '--json']);
    const { running } = JSON.parse(stdout) as { running: { runs: object[] }[] };
    return running[0]?.runs;
  };
  await expect.poll(report, { timeout: 60_000 }).toEqual([]);
  const ids = [77, 78];
  const call = { name: 'agent_aide', arguments: { task: 'script: hangs', cwd: project.dir } };
  for (const id of ids) void host.request('tools/call', call, id);
  const run = { agent: 'agent_aide', cwd: project.dir, since: expect.any(String) as string };
  await expect.poll(report, { timeout: 60_000 }).toEqual([
    { ...run, state: 'running', doing: 'running: sleep 1000' },
    { ...run, state: 'waiting', before: 0 },
  ]);
  const { stdout } = await runSwitchboard(project, ['status']);
  expect(stdout).toContain(`    ${project.dir}: running: sleep 1000\n`);
  expect(stdout).toMatch(/ {2}agent_aide {2}○ queued +[\d.]+ (ms|s|min) +0\n/);
  for (const requestId of ids) host.notify('notifications/cancelled', { requestId });
  await expect.poll(report, { timeout: 60_000 }).toEqual([]);
});

test('the host’s user approves the engine’s request', async () => {
  const project = agentProject({ '.agents/a.toml': toml('Aide') });
  const host = new RawHost(project);
  await host.request('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: { elicitation: {} },
    clientInfo: { name: 'test', version: '1' },
  });
  host.notify('notifications/initialized');
  const running = runThrough(host, 'agent_aide', { task: 'script: asks-command', cwd: '/' });
  const asked = () => host.messages.find(({ method }) => method === 'elicitation/create');
  expect(await eventually(() => asked() !== undefined)).toBe(true);
  expect(JSON.stringify(asked())).toContain('npm test');
  host.send({
    jsonrpc: '2.0',
    id: asked()?.['id'],
    result: { action: 'accept', content: { allow: true } },
  });
  expect((await running).output).toBe('answer: {"decision":"accept"}');
});

test('if no user can be asked, approval is declined and the run continues', async () => {
  const host = await RawHost.connect(agentProject({ '.agents/a.toml': toml('Aide') }));
  const { output } = await runThrough(host, 'agent_aide', {
    task: 'script: asks-command',
    cwd: '/',
  });
  expect(output).toBe('answer: {"decision":"decline"}');
});

test('nesting stops at three levels', async () => {
  const project = agentProject({ '.agents/a.toml': toml('Aide') }, { SWITCHBOARD_DEPTH: '3' });
  const host = await RawHost.connect(project);
  const { ok, output } = await runThrough(host, 'agent_aide', { task: 'x', cwd: '/' });
  expect([ok, project.records()]).toEqual([false, []]);
  expect(output).toContain('3 levels deep');
});

test('a Switchboard that an agent declares is attached with its depth', async () => {
  const project = agentProject({
    '.agents/a.toml': toml(
      'Boss',
      `[mcp_servers.switchboard]\ncommand = "switchboard"\nenv = { AGENTS_FILTER = "worker" }`,
    ),
    '.mcp.json': { mcpServers: { switchboard: { command: 'switchboard' } } },
  });
  const host = await RawHost.connect(project);
  await runThrough(host, 'agent_boss', { task: 'x', cwd: '/' });
  expect(project.thread().config).toMatchObject({
    mcp_servers: {
      switchboard: {
        command: 'switchboard',
        env: { AGENTS_FILTER: 'worker', SWITCHBOARD_DEPTH: '1' },
      },
    },
  });
});

test('a Switchboard from another program is not attached by accident', async () => {
  const project = agentProject(
    {
      '.agents/a.toml': toml('Aide'),
      '.mcp.json': { mcpServers: { Switchboard: { command: 'x' }, other: { command: 'y' } } },
    },
    { AGENTS_MCP_LIMIT_REFERENCED: 'false' },
  );
  const host = await RawHost.connect(project);
  await runThrough(host, 'agent_aide', { task: 'x', cwd: '/' });
  expect(Object.keys(project.thread().config['mcp_servers'] as object)).toEqual(['other']);
});

test('an agent gets only the servers it names from this Switchboard', async () => {
  const project = agentProject({
    '.claude/agents/m.agent.md': frontMatter('name: m\ntools: mcp__memory__create_entities, Read'),
    'switchboard.config.json': {
      mcpServers: { memory: publishedServer('memory'), other: { command: 'x' } },
    },
  });
  const host = await RawHost.connect(project);
  await runThrough(host, 'anth_m', { task: 'x', cwd: '/' });
  expect(Object.keys(project.thread().config['mcp_servers'] as object)).toEqual(['memory']);
});

test('all agents can be one suite', async () => {
  const project = agentProject({
    ...ONE_OF_EACH,
    'switchboard.config.json': { agents: { show: 'suite' } },
  });
  const host = await RawHost.connect(project);
  expect(await host.toolNames()).toEqual(['agents_suite']);
  const { result } = await host.callTool('agents_suite', { action: 'introspect' });
  const { tools } = JSON.parse(result?.content?.[0]?.text ?? '') as { tools: { name: string }[] };
  expect(tools.map(({ name }) => name)).toEqual([
    'agent_aide',
    'agent_build_doctor',
    'anth_reviewer',
    'vsc_plan_it',
  ]);
  expect(
    await runThrough(host, 'agents_suite', {
      action: 'call',
      subtool: 'anth_reviewer',
      args: { task: 'x', cwd: '/' },
    }),
  ).toEqual({ ok: true, output: 'The task was: x' });
});

test('agents can be switched off', async () => {
  const host = await RawHost.connect(agentProject(ONE_OF_EACH, { AGENTS_SHOW: 'off' }));
  expect(await host.toolNames()).toEqual([]);
});

test('agents are listed after suites, and follow a reload', async () => {
  const project = agentProject({
    '.agents/a.toml': toml('Aide'),
    'switchboard.config.json': { mcpServers: { memory: publishedServer('memory') } },
  });
  const host = await RawHost.connect(project);
  expect(await host.toolNames()).toEqual(['memory_suite', 'agent_aide']);
  project.write('.agents/z.toml', toml('Zoe'));
  host.process.kill('SIGHUP');
  expect(await eventually(() => host.listChanges > 0)).toBe(true);
  expect(await host.toolNames()).toEqual(['memory_suite', 'agent_aide', 'agent_zoe']);
});

test('a file that is gone by the time of the call fails with a clear message', async () => {
  const project = agentProject({ '.agents/a.toml': toml('Aide') });
  const host = await RawHost.connect(project);
  project.write('.agents/a.toml', 'no = = toml');
  const { ok, output } = await runThrough(host, 'agent_aide', { task: 'x', cwd: '/' });
  expect(ok).toBe(false);
  expect(output).toContain('a.toml:1');
});

test('`agents` lists agents and problems', async () => {
  const project = agentProject({
    ...ONE_OF_EACH,
    '.agents/bad.toml': 'x = = y',
    '.mcp.json': { mcpServers: { memory: { command: 'y' } } },
  });
  const plain = await runSwitchboard(project, ['agents']);
  expect(plain.status).toBe(0);
  expect(plain.stdout).toContain('agent_build_doctor');
  expect(plain.stdout).toContain('bad.toml:1');
  expect(plain.stdout).toContain('4 agents, 1 server');
  const { stdout } = await runSwitchboard(project, ['agents', '--json']);
  expect(JSON.parse(stdout)).toMatchObject({
    engine: { path: project.env['SWITCHBOARD_CODEX_BIN'] },
    agents: [{ tool: 'agent_aide' }, { tool: 'agent_build_doctor' }, {}, { kind: 'vscode' }],
    servers: [{ key: 'memory' }],
    problems: [expect.stringContaining('bad.toml:1') as string],
  });
  const missing = await runSwitchboard(project, ['agents', 'agent_buld_doctor']);
  expect([missing.status, missing.stderr]).toEqual([
    5,
    expect.stringContaining('agent_build_doctor'),
  ]);
});

test('`agents` shows an agent’s run settings and the origin of its servers', async () => {
  const project = agentProject({
    'home/.switchboard/agents/a.toml': toml(
      'Aide',
      `description = "Helps"
tags = ["one", "two"]
tools = ["plan", "memory/*", "mine/scan"]
[run]
model = "gpt-5-mini"
model_provider = "my-own"
model_reasoning_effort = "high"
model_reasoning_summary = "concise"
model_verbosity = "low"
chatgpt_base_url = "http://127.0.0.1:1/"
sandbox_mode = "workspace-write"
approval_policy = "never"
disable_response_storage = true
include_view_image_tool = false
[mcp_servers.mine]
command = "no-such-program"`,
    ),
    '.mcp.json': { mcpServers: { memory: { command: 'y' } } },
  });
  const { stdout } = await runSwitchboard(project, ['agents', 'aide']);
  expect(stdout.replaceAll(project.dir, '<project>')).toMatchInlineSnapshot(`
    "agent_aide  Helps
      file          <project>/home/.switchboard/agents/a.toml (switchboard-toml)
      tags          one, two
      model         gpt-5-mini (my-own)
      effort        high
      summary       concise
      verbosity     low
      address       http://127.0.0.1:1/
      sandbox       workspace-write
      approval      never
      storage       never (the setting has no effect)
      engine tools  plan, not view_image
      tools         memory/*, mine/scan
      servers       mine (its own), memory (from .mcp.json)
      warning: <project>/home/.switchboard/agents/a.toml: Switchboard doesn't know yet which server has the tool "mine/scan". It hasn't asked "mine", "memory". Run: switchboard agents --check. For the tool "scan" of server "mine", write "mine::scan".
      warning: <project>/home/.switchboard/agents/a.toml: Codex does not know the model gpt-5-mini and uses defaults for it.

    "
  `);
  const checked = await runSwitchboard(project, ['agents', 'aide', '--check']);
  expect(checked.stdout).toContain('Server "mine" did not start: no-such-program was not found.');
});

slow('`agents` reports invalid settings, filtered agents and empty folders', async () => {
  const files = { '.agents/a.toml': toml('Aide', 'tags = ["small"]'), '.agents/b.toml': toml('B') };
  const project = agentProject(files, {
    AGENTS_TIMEOUT_MS: 'soon',
    AGENTS_DIRS: '.agents, nowhere',
  });
  const problems = [
    expect.stringContaining('AGENTS_TIMEOUT_MS must be') as string,
    `${join(project.dir, 'nowhere')}: The folder does not exist.`,
  ];
  const asJson = await runSwitchboard(project, ['agents', '--json']);
  expect(JSON.parse(asJson.stdout)).toMatchObject({ hidden: 0, problems });
  const all = await runSwitchboard(project, ['agents']);
  expect(all.stdout).toContain('warning: AGENTS_TIMEOUT_MS must be');
  expect(all.stdout).not.toContain('hidden');
  const ran = await runSwitchboard(project, ['run', 'aide', 'x']);
  expect([ran.stdout, ran.stderr]).toEqual([
    'The task was: x\n',
    expect.stringContaining('warning: AGENTS_TIMEOUT_MS must be'),
  ]);

  const some = await runSwitchboard(project, ['agents'], { env: { AGENTS_FILTER: 'small unk' } });
  expect(some.stdout).toContain('agent_aide');
  expect(some.stdout).toContain('1 agent is hidden by AGENTS_FILTER.');
  const none = await runSwitchboard(project, ['agents'], { env: { AGENTS_FILTER: 'unk' } });
  expect(none.stdout).toContain('2 agents are hidden by AGENTS_FILTER.');
  expect(none.stdout).not.toContain('No agents were found');

  const empty = { env: { AGENTS_DIRS: 'nowhere', AGENTS_ENABLE_VSCODE: 'false' } };
  const nothing = await runSwitchboard(project, ['agents'], empty);
  expect(nothing.stdout).toContain(`No agents found in:\n  ${join(project.dir, 'nowhere')}\n`);
  expect(nothing.stdout).toContain(join('.claude', 'agents'));
  expect(nothing.stdout).not.toContain('chatmodes');
  const folders = await runSwitchboard(project, ['agents', '--json'], empty);
  expect(JSON.parse(folders.stdout)).toMatchObject({
    agents: [],
    folders: expect.arrayContaining([join(project.dir, 'nowhere')]) as string[],
  });
  const isOff = {
    AGENTS_ENABLE_CODEX: '0',
    AGENTS_ENABLE_ANTHROPIC: '0',
    AGENTS_ENABLE_VSCODE: '0',
  };
  const off = await runSwitchboard(project, ['agents'], { env: isOff });
  expect(off.stdout).toContain('All agent formats are disabled');
});

slow('`run` runs an agent by any of its names, and exits with its status', async () => {
  const project = agentProject(ONE_OF_EACH);
  for (const name of ['agent_build_doctor', 'build_doctor', 'Build Doctor']) {
    const { status, stdout } = await runSwitchboard(project, ['run', name, 'mend it']);
    expect([status, stdout]).toEqual([0, 'The task was: mend it\n']);
  }
  expect(project.thread()['cwd']).toBe(project.dir);
  mkdirSync(join(project.dir, 'deep'));
  await runSwitchboard(project, ['run', 'aide', 'x', '--cwd', 'deep']);
  expect(project.thread()['cwd']).toBe(join(project.dir, 'deep'));
  const failed = await runSwitchboard(project, ['run', 'aide', 'script: failed', '--json']);
  expect(failed.status).toBe(5);
  expect(JSON.parse(failed.stdout)).toMatchObject({ ok: false });
  const reason = 'unexpected status 500 Internal Server Error: oops\n';
  expect((await runSwitchboard(project, ['run', 'aide', 'script: failed'])).stderr).toBe(reason);
  const nowhere = await runSwitchboard(project, ['run', 'aide', 'x', '--cwd', '']);
  expect([nowhere.status, nowhere.stderr]).toEqual([
    2,
    'switchboard: --cwd is empty.\nName a folder, or leave out --cwd to use the current one.\n',
  ]);
  const piped = await runSwitchboard(project, ['run', 'aide', '-'], { input: 'from stdin' });
  expect(piped.stdout).toBe('The task was: from stdin\n');
  const dashes = await runSwitchboard(project, ['run', 'aide', '--', '--help me']);
  expect(dashes.stdout).toBe('The task was: --help me\n');
  const unknown = await runSwitchboard(project, ['run', 'nobody', 'x']);
  expect(unknown.status).toBe(5);
});

test('`run` on a terminal shows the agent’s steps, and its last message once', async () => {
  const project = agentProject(ONE_OF_EACH);
  const show = async (task: string) => {
    const command = [process.execPath, PROGRAM, 'run', 'aide', task];
    const { screen } = await runOnTerminal(command, { cwd: project.dir, env: project.env });
    const lines = screen.split(/\r?\n|\r/).map((line) => cleanText(line));
    return lines.filter((line) => line !== '' && !line.includes('waiting for'));
  };
  expect(await show('script: steps')).toEqual([
    '  running: npm test',
    `  editing ${join(project.dir, 'a.txt')}, ${join(project.dir, 'b.txt')}`,
    '  calling memory.create_entities',
    '  searching the web for the weather',
    '  First this.',
    'Then that.',
  ]);
  // What is no result is shown.
  expect(await show('script: dies')).toContain('  I begin');
});

slow('an agent runs under the name hosts see, even if a server has taken its own', async () => {
  const project = agentProject({
    '.agents/s.toml': toml('suite'),
    'switchboard.config.json': {
      mcpServers: { s: { command: 'x', suiteName: 'agent_suite' } },
    },
  });
  const host = await RawHost.connect(project);
  expect(await host.toolNames()).toEqual(['agent_suite', 'agent_suite_2']);
  const { stdout } = await runSwitchboard(project, ['run', 'agent_suite_2', 'x']);
  expect(stdout).toBe('The task was: x\n');
  expect((await runSwitchboard(project, ['agents'])).stdout).toContain('agent_suite_2');
});

test.each([
  ['y\r', 0, 'answer: {"decision":"accept"}'],
  ['n\r', 0, 'answer: {"decision":"decline"}'],
  ['\r', 0, 'answer: {"decision":"decline"}'],
  ['\u0004', 0, 'answer: {"decision":"decline"}'],
  ['\u0003', 130, 'Interrupted'],
])('on a terminal the user is asked, and can answer %j', async (typed, status, answer) => {
  const project = agentProject(ONE_OF_EACH);
  const command = [process.execPath, PROGRAM, 'run', 'aide', 'script: asks-command'];
  const outcome = await runOnTerminal(command, {
    cwd: project.dir,
    env: project.env,
    keys: (screen) => (screen.includes('Allow it? [y/N]') ? typed : undefined),
  });
  expect(outcome.screen).toContain('npm test');
  expect(outcome.status).toBe(status);
  expect(outcome.screen).toContain(answer);
  expect(await eventually(() => processesWith(project.dir).length === 0)).toBe(true);
});
