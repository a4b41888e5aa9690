// Agents that bring Switchboard along to have agents of their own, with an engine that hands its task on.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { groupsMarked } from '../../src/base/process-table.ts';
import { agentProject, runThrough, toml } from '../support/agent-project.ts';
import { becomes } from '../support/gateway.ts';
import { PROGRAM } from '../support/project.ts';
import { RawHost } from '../support/raw-host.ts';

/** An agent that hands its task to the first tool of the Switchboard that it brings along. */
const lead = (name: string, env: string): string =>
  toml(
    name,
    `instructions = "script: calls-server"
[mcp_servers.team]
command = ${JSON.stringify(process.execPath)}
args = [${JSON.stringify(PROGRAM)}]
env = { AGENTS_MCP_DISCOVERY = "false", ${env} }`,
  );

test('an agent’s Switchboard has the project’s agents and our engine, whatever its working folder', async () => {
  const project = agentProject({
    '.agents/lead.toml': lead('Lead', 'AGENTS_DIRS = "team"'),
    'team/helper.toml': toml('Helper'),
    'work/file.txt': 'x',
  });
  const host = await RawHost.connect(project);
  const cwd = join(project.dir, 'work');
  const { ok, output } = await runThrough(host, 'agent_lead', { task: 'the part', cwd });
  expect(ok).toBe(true);
  expect(JSON.parse(output)).toEqual({ ok: true, output: 'The task was: the part' });
});

test('such an agent’s own engine settings take precedence', async () => {
  const project = agentProject({
    '.agents/lead.toml': lead('Lead', 'AGENTS_DIRS = "team", SWITCHBOARD_CODEX_BIN = "/no/such"'),
    'team/helper.toml': toml('Helper'),
  });
  const host = await RawHost.connect(project);
  const { output } = await runThrough(host, 'agent_lead', { task: 'x', cwd: project.dir });
  expect(JSON.parse(output)).toMatchObject({
    ok: false,
    output: expect.stringContaining('/no/such') as string,
  });
});

test('an agent that calls itself stops, and leaves nothing behind', async () => {
  const project = agentProject({ '.agents/loop.toml': lead('Loop', 'AGENTS_DIRS = ".agents"') });
  mkdirSync(join(project.dir, 'home'));
  const host = await RawHost.connect(project);
  const { output } = await runThrough(host, 'agent_loop', { task: 'again', cwd: project.dir });
  expect(output).toContain('3 levels deep in other agents');
  // One for each level, and in the last the refusal.
  expect(output.match(/\\*"ok\\*":true/g)).toHaveLength(2);
  expect(output.match(/\\*"ok\\*":false/g)).toHaveLength(1);
  await host.close();
  const mark = `HOME=${project.env['HOME']}`;
  expect(await becomes(async () => (await groupsMarked(mark)).size === 0)).toBe(true);
});
