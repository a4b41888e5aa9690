import { afterEach, describe, expect, test, vi } from 'vitest';
import type { ListedAgent } from '../../../src/agents/agent.ts';
import type { RunAgent } from '../../../src/agents/runs.ts';
import { Cancellation } from '../../../src/base/cancellation.ts';
import type { AgentSettings, Introspection } from '../../../src/config/config.ts';
import { DEFAULTS } from '../../../src/config/defaults.ts';
import { Verbatim } from '../../../src/rpc/verbatim.ts';
import { AgentTools } from '../../../src/surface/agent-tools.ts';
import { agentSettings } from '../../support/agent-settings.ts';

afterEach(() => void vi.useRealTimers());

const agent = (name: string, more: Partial<ListedAgent> = {}): ListedAgent => ({
  kind: 'codex',
  dialect: 'switchboard-toml',
  file: `/nowhere/${name}.toml`,
  name,
  safeName: name,
  toolName: `agent_${name}`,
  description: `Does ${name}`,
  tags: [],
  ...more,
});

const succeed: RunAgent = async ({ name }, args) => ({
  ok: true,
  output: `${name}: ${String(args['task'])}`,
});

const shown = (agents: AgentSettings, introspection: Introspection = DEFAULTS.introspection) => ({
  agents,
  introspection,
});

function createTools(
  listed: readonly ListedAgent[],
  show: AgentSettings['show'] = 'direct',
  run: RunAgent = succeed,
  taken: readonly string[] = [],
) {
  return new AgentTools(shown(agentSettings({ show })), { listed, run }, new Set(taken));
}

function call(tools: AgentTools, name: string, args: object, onProgress?: (p: Verbatim) => void) {
  const cancellation = new Cancellation();
  return tools.callTool(name, Verbatim.of(args), { cancellation, onProgress });
}

const LOADED = { 'anthropic/alwaysLoad': true };

const SCHEMA = {
  type: 'object',
  properties: {
    task: { type: 'string', description: 'What the agent should do, in plain language.' },
    cwd: { type: 'string', description: 'The folder to work in, as an absolute path.' },
  },
  required: ['task', 'cwd'],
};

describe('a host that reads agents itself', () => {
  const own = agent('own', { host: 'claude-code' });
  const names = (tools: AgentTools) => tools.listTools().map(({ name }) => name);

  test('does not see them, and others do, under the same names', () => {
    const tools = createTools([own, agent('one'), agent('own', { toolName: 'agent_own' })]);
    expect(names(tools)).toEqual(['agent_own', 'agent_one', 'agent_own_2']);
    expect(names(tools.shownTo('codex-mcp-client'))).toEqual(names(tools));
    expect(names(tools.shownTo(undefined))).toEqual(names(tools));
    expect(names(tools.shownTo('claude-code'))).toEqual(['agent_one', 'agent_own_2']);
    expect(tools.has('agent_own')).toBe(true);
  });

  test('does not see an empty suite', async () => {
    const tools = createTools([own], 'suite');
    expect(names(tools)).toEqual(['agents_suite']);
    expect(names(tools.shownTo('claude-code'))).toEqual([]);
    const some = createTools([own, agent('one')], 'suite').shownTo('claude-code');
    const { value } = await call(some, 'agents_suite', { action: 'introspect' });
    expect(JSON.stringify(value)).toContain('agent_one');
    expect(JSON.stringify(value)).not.toContain('agent_own');
  });
});

test('notes for the caller follow the output, in the documented shape', async () => {
  const notes = ['The sandbox blocked it.', 'A server was missing.'];
  const tools = createTools([agent('one')], 'direct', async () => ({
    ok: true,
    output: 'All is written.\n',
    notes,
  }));
  const output =
    'All is written.\n\nNotes from Switchboard:\n- The sandbox blocked it.\n- A server was missing.';
  const { value } = await call(tools, 'agent_one', {});
  expect(value).toEqual({
    content: [{ type: 'text', text: JSON.stringify({ ok: true, output }) }],
  });
});

test('each agent is a tool, all with the same input', () => {
  const tools = createTools([agent('one'), agent('two', { tags: ['a', 'deep b'] })]);
  expect(tools.listTools()).toEqual([
    {
      name: 'agent_one',
      description: 'task, cwd: string — Does one',
      inputSchema: SCHEMA,
      _meta: LOADED,
    },
    {
      name: 'agent_two',
      description: 'task, cwd: string — Does two [tags: a, deep b]',
      inputSchema: SCHEMA,
      _meta: LOADED,
    },
  ]);
});

test('more than a dozen agents are not loaded at once', () => {
  const metasOf = (count: number) => {
    const listed = Array.from({ length: count }, (_, index) => agent(`a${index}`));
    return new Set(
      createTools(listed)
        .listTools()
        .map(({ _meta }) => _meta),
    );
  };
  expect(metasOf(12)).not.toContain(undefined);
  expect(metasOf(13)).toEqual(new Set([undefined]));
});

test.each([
  ['', "task, cwd: string — Agent 'one': Execute tasks via Codex"],
  ['  \n', "task, cwd: string — Agent 'one': Execute tasks via Codex"],
  ['un\u200bseen\u202e', 'task, cwd: string — unseen'],
])('a description of %j', (description, shown) => {
  expect(createTools([agent('one', { description })]).listTools()[0]?.['description']).toBe(shown);
});

test('a long description is cut', () => {
  const [tool] = createTools([agent('one', { description: 'x'.repeat(50_000) })]).listTools();
  expect(String(tool?.['description']).length).toBeLessThan(1_100);
});

test('a hundred thousand tags are cut', () => {
  const tags = Array.from({ length: 100_000 }, (_, index) => `tag${index}`);
  const [tool] = createTools([agent('one', { tags })]).listTools();
  expect(String(tool?.['description']).length).toBeLessThan(300);
});

test.each([
  ['agent_', ['agent_*']],
  ['c-', ['c-*']],
  ['my agents/', ['my_agents_*']],
  ['', ['minimal', 'other_one']],
])('with the prefix %j the name patterns are %j', (prefix, patterns) => {
  const { formats } = agentSettings();
  const settings = agentSettings({ formats: { ...formats, codex: { ...formats.codex, prefix } } });
  const listed = ['minimal', 'other_one'].map((name) => agent(name, { toolName: prefix + name }));
  const tools = new AgentTools(shown(settings), { listed, run: succeed }, new Set());
  expect(tools.patterns).toEqual(patterns);
});

test('the answer is one text with ok and output', async () => {
  const result = await call(createTools([agent('one')]), 'agent_one', { task: 'go', cwd: '/' });
  expect(result.value).toEqual({
    content: [{ type: 'text', text: '{"ok":true,"output":"one: go"}' }],
  });
});

test('a failure is marked as one', async () => {
  const tools = createTools([agent('one')], 'direct', async () => ({ ok: false, output: 'no' }));
  expect((await call(tools, 'agent_one', {})).value).toEqual({
    content: [{ type: 'text', text: '{"ok":false,"output":"no"}' }],
    isError: true,
  });
});

test('a taken name gets a number, and the run uses the name the host sees', async () => {
  const tell: RunAgent = async ({ name, toolName }) => ({
    ok: true,
    output: `${name}, ${toolName}`,
  });
  const tools = createTools([agent('one')], 'direct', tell, ['agent_one']);
  expect(tools.names).toEqual(['agent_one_2']);
  expect((await call(tools, 'agent_one_2', { task: 'x' })).text).toContain('one, agent_one_2');
});

test('the suite uses the configured introspection', async () => {
  const settings = shown(agentSettings({ show: 'suite' }), {
    mode: 'summary',
    summaryMaxChars: 12,
  });
  const listed = [agent('one', { description: 'Reviews code with great care.' })];
  const tools = new AgentTools(settings, { listed, run: succeed }, new Set());
  const { text } = await call(tools, 'agents_suite', { action: 'introspect' });
  expect(text).toContain('Reviews');
  expect(text).not.toContain('great care');
});

test('as a suite they are one tool with introspect and call', async () => {
  const tools = createTools([agent('one'), agent('two')], 'suite');
  expect(tools.listTools().map(({ name }) => name)).toEqual(['agents_suite']);
  const { value } = await call(tools, 'agents_suite', { action: 'introspect' });
  expect(value).toMatchObject({
    structuredContent: {
      tools: [
        { name: 'agent_one', summary: 'Does one', inputSchema: SCHEMA },
        { name: 'agent_two', summary: 'Does two' },
      ],
    },
  });
  expect(value).not.toHaveProperty('tools');
  const one = await call(tools, 'agents_suite', { action: 'introspect', subtool: 'agent_two' });
  expect(one.value).toMatchObject({ structuredContent: { tools: [{ name: 'agent_two' }] } });
  const args = { action: 'call', subtool: 'agent_two', args: { task: 'go', cwd: '/' } };
  expect((await call(tools, 'agents_suite', args)).text).toContain('two: go');
});

test('an unknown agent is reported with suggestions', async () => {
  const tools = createTools([agent('reviewer')], 'suite');
  const args = { action: 'call', subtool: 'agent_reviewr', args: {} };
  await expect(call(tools, 'agents_suite', args)).rejects.toMatchObject({
    code: 'AGENT_UNKNOWN',
    text: expect.stringContaining('Did you mean agent_reviewer?') as string,
  });
});

test('agents can be switched off', () => {
  const tools = createTools([agent('one')], 'off');
  expect([tools.listTools(), tools.names, tools.has('agent_one')]).toEqual([[], [], false]);
});

test('without agents a suite has no tool', () => {
  expect(createTools([], 'suite').listTools()).toEqual([]);
});

test('events are reported as progress, not too often, and never silent for long', async () => {
  vi.useFakeTimers();
  const told: unknown[] = [];
  let end: () => void = () => {};
  const run: RunAgent = async (_agent, _args, { onEvent }) => {
    onEvent({ kind: 'starting', text: 'starts' });
    onEvent({ kind: 'text', text: 'Hel' });
    onEvent({ kind: 'step', text: 'too soon' });
    onEvent({ kind: 'step', text: 'goes on for long' });
    await new Promise<void>((resolve) => {
      end = resolve;
    });
    return { ok: true, output: '' };
  };
  const tools = createTools([agent('one')], 'direct', run);
  const answer = call(tools, 'agent_one', {}, (progress) => told.push(progress.value));
  await vi.advanceTimersByTimeAsync(25_000);
  end();
  await answer;
  const all = [
    { progress: 1, message: 'starts' },
    { progress: 2, message: 'goes on for long' },
    { progress: 3, message: 'still working (10 s)' },
    { progress: 4, message: 'still working (20 s)' },
  ];
  expect(told).toEqual(all);
  // Nothing follows the answer. Timers can't be counted: other test files in this process may have some.
  await vi.advanceTimersByTimeAsync(60_000);
  expect(told).toEqual(all);
});

test('a warning is sent at once, after the waiting event, and nothing follows the answer', async () => {
  vi.useFakeTimers();
  const told: unknown[] = [];
  const run: RunAgent = async (_agent, _args, { onEvent }) => {
    onEvent({ kind: 'starting', text: 'starts' });
    onEvent({ kind: 'step', text: 'does this' });
    onEvent({ kind: 'warning', text: 'that is odd' });
    onEvent({ kind: 'step', text: 'too late' });
    return { ok: true, output: '' };
  };
  const tools = createTools([agent('one')], 'direct', run);
  await call(tools, 'agent_one', {}, ({ value }) => told.push(value));
  await vi.advanceTimersByTimeAsync(25_000);
  expect(told).toEqual([
    { progress: 1, message: 'starts' },
    { progress: 2, message: 'does this' },
    { progress: 3, message: 'that is odd' },
  ]);
});
