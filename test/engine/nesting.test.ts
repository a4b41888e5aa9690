// Agents that have agents: Switchboard, the engine, Switchboard again and the engine again, all of them
// real, with a model on loopback that does on every level what one script says.
import { chmodSync, cpSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { groupsMarked } from '../../src/base/process-table.ts';
import { runThrough, toml } from '../support/agent-project.ts';
import { type EngineProject, programProject } from '../support/engine-project.ts';
import { becomes } from '../support/gateway.ts';
import type { ModelAnswer } from '../support/model-server.ts';
import { eventually, processesWith } from '../support/processes.ts';
import { PROGRAM, ROOT } from '../support/project.ts';
import { RawHost } from '../support/raw-host.ts';

/** A server that is Switchboard, in an agent's file. */
const team = (more = '') => `[mcp_servers.team]
command = ${JSON.stringify(process.execPath)}
args = [${JSON.stringify(PROGRAM)}]
env = { AGENTS_MCP_DISCOVERY = "false"${more} }`;

const calls = (tool: string, args: object): ModelAnswer => ({
  kind: 'calls',
  namespace: 'mcp__team',
  tool,
  args,
});
const says = (text: string): ModelAnswer => ({ kind: 'says', text });

/**
 * Everything that was started for a project has its HOME, on whatever level. The engine doesn't pass on that sessions
 * are alone, so those below it have a background process, which stays a while.
 */
const runningOf = async ({ project }: EngineProject): Promise<number> => {
  const groups = await groupsMarked(`HOME=${project.env['HOME']}`);
  return groups.size - processesWith(` background ${project.dir}/`).length;
};

const isQuiet = (parts: EngineProject): Promise<boolean> =>
  becomes(async () => (await runningOf(parts)) === 0);

const inputs = ({ model }: EngineProject): string[] =>
  model.requests.map(({ body }) => JSON.stringify(body.input));

// As the documentation says it.
const KEY = ', OPENAI_API_KEY = "${OPENAI_API_KEY}"';

test('an agent hands a part of its task to one of its own and hears the answer', async () => {
  const script: ModelAnswer[] = [];
  const parts = await programProject({
    files: {
      '.agents/lead.toml': toml('Lead', `instructions = "YOU-LEAD"\n${team(KEY)}`),
      '.agents/helper.toml': toml('Helper', 'instructions = "YOU-HELP"\ntags = "specialist"'),
    },
    script,
    codexHome: 'engine',
    isOpenai: true,
  });
  const { project, codexHome, cwd, model } = parts;
  script.push(
    calls('agent_helper', { task: 'THE-PART', cwd }),
    says('PART-DONE'),
    says('ALL-DONE'),
  );
  const env = {
    CODEX_HOME: codexHome,
    SWITCHBOARD_HOME: join(project.dir, 'own'),
    OPENAI_API_KEY: 'sk-some-key',
  };
  const host = await RawHost.connect(project, { env });
  const run = await runThrough(host, 'agent_lead', { task: 'THE-WHOLE', cwd });
  expect(run).toEqual({ ok: true, output: 'ALL-DONE' });
  const [first = '', second = '', third = ''] = inputs(parts);
  expect(model.requests.map(({ authorization }) => authorization)).toEqual(
    Array.from({ length: 3 }, () => 'Bearer sk-some-key'),
  );
  expect(first).toContain('YOU-LEAD');
  expect(first).toContain('THE-WHOLE');
  expect(second).toContain('YOU-HELP');
  expect(second).toContain('THE-PART');
  // What the one knows stays with it.
  expect(second).not.toContain('THE-WHOLE');
  expect(third).toContain('PART-DONE');
  expect(third).not.toContain('YOU-HELP');
  await host.close();
  expect(await isQuiet(parts)).toBe(true);
});

test('the supervisor of the examples has its specialists, wherever it is to work', async () => {
  const script: ModelAnswer[] = [];
  const bin = `#!/bin/sh\nexec ${JSON.stringify(process.execPath)} ${JSON.stringify(PROGRAM)} "$@"\n`;
  const parts = await programProject({ files: { 'bin/switchboard': bin }, script });
  const { project, cwd, model } = parts;
  chmodSync(join(project.dir, 'bin', 'switchboard'), 0o755);
  cpSync(join(ROOT, 'examples/agents'), join(project.dir, 'example'), { recursive: true });
  script.push(
    {
      kind: 'calls',
      namespace: 'mcp__specialists',
      tool: 'agent_security_specialist',
      args: { task: 'Look at it', cwd },
    },
    says('NOTHING-FOUND'),
    says('All is well.'),
  );
  const env = {
    WORKSPACE_DIR: join(project.dir, 'example'),
    PATH: `${join(project.dir, 'bin')}:${project.env['PATH']}`,
  };
  const host = await RawHost.connect(project, { env });
  expect(await runThrough(host, 'agent_supervisor', { task: 'Check it', cwd })).toEqual({
    ok: true,
    output: 'All is well.',
  });
  const [first, second, third] = inputs(parts);
  expect(JSON.stringify(model.requests[0]?.body.tools)).not.toContain('agent_supervisor');
  expect(first).toContain('Check it');
  expect(second).toContain('Review the code as an attacker would');
  expect(third).toContain('NOTHING-FOUND');
});

// The user's own: a project's agent would not get full access.
const LOOP = {
  'home/.switchboard/agents/loop.toml': toml(
    'Loop',
    `${team()}\n[run]\nsandbox_mode = "danger-full-access"`,
  ),
};

test('an agent that calls itself for ever is refused on the third level, and all of it ends', async () => {
  const script: ModelAnswer[] = [];
  const parts = await programProject({ files: LOOP, script });
  const { project, cwd, model } = parts;
  const again = calls('agent_loop', { task: 'again', cwd });
  script.push(again, again, again, says('REFUSED'), says('SO-I-HEARD'), says('THE-END'));
  const host = await RawHost.connect(project);
  expect(await runThrough(host, 'agent_loop', { task: 'begin', cwd })).toEqual({
    ok: true,
    output: 'THE-END',
  });
  expect(model.requests).toHaveLength(6);
  // Three have been asked; the third was told that there is no fourth.
  expect(inputs(parts)[3]).toContain('3 levels deep in other agents');
  expect(inputs(parts)[4]).toContain('REFUSED');
  expect(inputs(parts)[5]).toContain('SO-I-HEARD');
  await host.close();
  expect(await isQuiet(parts)).toBe(true);
});

test.each(['calls it off', 'goes', 'is killed'] as const)(
  'what runs three levels down ends with the host that %s',
  async (how) => {
    const seconds = `${986_000 + Math.floor(Math.random() * 999)}`;
    const script: ModelAnswer[] = [];
    const parts = await programProject({ files: LOOP, script });
    const { project, cwd } = parts;
    const again = calls('agent_loop', { task: 'again', cwd });
    const cmd = `trap "" HUP TERM; sleep ${seconds}; sleep ${seconds}`;
    const command = { cmd, yield_time_ms: 30_000 };
    script.push(again, again, { kind: 'calls', tool: 'exec_command', args: command }, says('done'));
    const host = await RawHost.connect(project);
    const params = { name: 'agent_loop', arguments: { task: 'begin', cwd } };
    void host.request('tools/call', params, 'the-run');
    const isSleeping = () => processesWith(`sleep ${seconds}`).length > 0;
    expect(await eventually(isSleeping)).toBe(true);
    // Three engines, and what each of them has started.
    expect(await runningOf(parts)).toBeGreaterThan(5);
    if (how === 'calls it off') host.notify('notifications/cancelled', { requestId: 'the-run' });
    else if (how === 'goes') host.process.stdin?.end();
    else host.process.kill('SIGKILL');
    expect(await eventually(() => !isSleeping())).toBe(true);
    if (how === 'calls it off') await host.close();
    expect(await isQuiet(parts)).toBe(true);
  },
);
