// The agents that people copy from examples/ are read without a complaint, and mean what their page says.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { MODEL_TABLE } from '../../../src/agents/codex/model-table.ts';
import { listAgents } from '../../../src/agents/list.ts';
import { loadAgent } from '../../../src/agents/load.ts';
import type { AgentSettings } from '../../../src/config/config.ts';
import { agentSettings } from '../../support/agent-settings.ts';
import { temporaryFolder } from '../../support/fake-child.ts';

const project = resolve('examples/agents');

/** The agents of the example as a project, without anything of the person who runs the tests. */
async function loadAll(said: (settings: AgentSettings) => Partial<AgentSettings>) {
  const home = temporaryFolder();
  const roots = { project, homeFolder: home };
  const usual = agentSettings({}, { ...roots, home });
  const settings = { ...usual, ...said(usual) };
  const { agents, problems } = await listAgents({ settings, home, ...roots });
  expect(problems).toEqual([]);
  const engine = { models: MODEL_TABLE, configuredProvider: async () => undefined };
  const options = { settings, ...roots, engine };
  const loaded = await Promise.all(agents.map((agent) => loadAgent(agent, options)));
  expect(loaded.flatMap(({ warnings }) => warnings)).toEqual([]);
  return new Map(loaded.map((agent) => [agent.toolName, agent]));
}

test('every example is an agent, in the order and under the name of its page', async () => {
  const agents = await loadAll(() => ({ extraFormats: true }));
  expect([...agents.keys()]).toEqual([
    'agent_explain_build_failures',
    'agent_supervisor',
    'agent_log_reader',
    'anth_deep_researcher',
    'anth_api_reviewer',
    'vsc_planning',
    'vsc_release_notes',
  ]);
  const page = readFileSync(resolve(project, 'README.md'), 'utf8');
  for (const name of agents.keys()) expect(page).toContain(`\`${name}\``);
  for (const { instructions } of agents.values()) expect(instructions).toMatch(/\w+/);
});

test('they have the tools and models they name', async () => {
  const agents = await loadAll(() => ({ extraFormats: true }));
  expect(agents.get('agent_explain_build_failures')?.run).toEqual({
    model: 'gpt-4o-mini',
    provider: 'openai',
    builtins: { plan: true, apply_patch: true, web_search: true },
  });
  expect(agents.get('anth_deep_researcher')).toMatchObject({
    tags: ['deep research', 'docs'],
    run: { model: 'gpt-5.5', builtins: { plan: true, web_search: true } },
    tools: [],
  });
  expect(agents.get('anth_api_reviewer')?.run).toEqual({
    builtins: { apply_patch: false },
    effort: 'high',
  });
  expect([...(agents.get('vsc_planning')?.servers.keys() ?? [])]).toEqual(['memory']);
  expect(agents.get('vsc_release_notes')).toMatchObject({
    run: { model: 'gpt-5-mini', builtins: { apply_patch: true, plan: true } },
    tools: [{ server: 'files', tool: undefined }],
  });
  expect(agents.get('agent_log_reader')?.run).toMatchObject({ builtins: { web_search: false } });
});

test('the supervisor’s Switchboard shows only the specialists', async () => {
  const supervisor = (await loadAll(() => ({}))).get('agent_supervisor');
  expect(supervisor?.tools).toEqual([
    { server: 'specialists', tool: undefined, text: 'specialists::*' },
  ]);
  const env = supervisor?.servers.get('specialists')?.env ?? {};
  const folders = [resolve(project, env['AGENTS_DIRS'] ?? '')];
  const team = await loadAll(({ formats }) => ({
    formats: { ...formats, codex: { ...formats.codex, folders } },
    filter: [env['AGENTS_FILTER'] ?? ''],
  }));
  expect([...team.keys()]).toEqual(['agent_security_specialist', 'agent_test_specialist']);
});
