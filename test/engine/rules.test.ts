// The real engine lets its model read resources of every attached server. Rules of the user's hold there, too.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { toml } from '../support/agent-project.ts';
import { runSwitchboard } from '../support/command.ts';
import { programProject } from '../support/engine-project.ts';
import type { ModelAnswer } from '../support/model-server.ts';
import { testServer } from '../support/servers.ts';

const read = (uri: string): ModelAnswer => ({
  kind: 'calls',
  tool: 'read_mcp_resource',
  args: { server: 'box', uri },
});
const SCRIPT: readonly ModelAnswer[] = [
  { kind: 'calls', tool: 'list_mcp_resources', args: { server: 'box' } },
  read('box://open'),
  read('box://secret'),
  { kind: 'calls', namespace: 'mcp__box', tool: 'plain', args: {} },
  { kind: 'calls', namespace: 'mcp__box', tool: 'delete_file', args: {} },
  { kind: 'says', text: 'done' },
];

async function runWith(permissions: object) {
  const { project, model } = await programProject({ script: SCRIPT });
  const log = join(project.dir, 'used.log');
  project.write('home/.switchboard/switchboard.config.json', {
    mcpServers: { box: testServer('guarded', log) },
    permissions,
  });
  project.write('home/.switchboard/agents/a.toml', toml('Able', 'tools = ["box::*"]'));
  const run = await runSwitchboard(project, ['run', 'able', 'go']);
  expect(run, run.stderr).toMatchObject({ status: 0, stdout: 'done\n' });
  const used = existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [];
  const input = model.requests.at(-1)?.body.input ?? [];
  const outputs = input.filter(({ type }) => type === 'function_call_output');
  return {
    results: outputs.map(({ output }) => JSON.stringify(output)),
    reached: used.filter((line) => line !== 'start'),
  };
}

test('without rules, the model reads every resource', async () => {
  const { reached } = await runWith({});
  expect(reached).toEqual([
    'resources/read box://open',
    'resources/read box://secret',
    'tools/call plain',
    'tools/call delete_file',
  ]);
});

test('denied resources and tools reach neither the model nor the server', async () => {
  const deny = ['box__delete_file', 'box__box://secret'];
  const { reached, results } = await runWith({ deny });
  expect(reached).toEqual(['resources/read box://open', 'tools/call plain']);
  const [listed, open, secret] = results;
  expect(listed).toContain('box://open');
  expect(listed).not.toContain('box://secret');
  expect(open).toContain('content');
  expect(secret).toContain('not allowed');
});
