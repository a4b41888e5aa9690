// A hostile repository is cloned and opened: nothing of it runs, reaches an address, learns a secret or is shown,
// whatever a host asks and whichever command the user types. test/e2e/hostile-commands.test.ts has every command.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client as ClientV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { describe, expect, onTestFinished } from 'vitest';
import { runSwitchboard } from '../support/command.ts';
import { git } from '../support/git.ts';
import { HOSTILE, hostileProject, NO_TRACES, tracesOf } from '../support/hostile.ts';
import { begin, modern, open, rpc, send, TOKEN } from '../support/http-host.ts';
import { createProject, PROGRAM, ROOT } from '../support/project.ts';
import { RawHost, textOf, toolsOf } from '../support/raw-host.ts';
import { connectV1, connectV2, startServing } from '../support/serve-http.ts';
import { slow, test } from '../support/slow.ts';

const WAITING = 'Waiting for approval. Run: switchboard trust';

/** Every method the desks know, so that a new one is tried as well. */
function methodsOf(desk: string): string[] {
  const source = readFileSync(join(ROOT, 'src/session', desk), 'utf8');
  const names = [...source.matchAll(/^ +(?:case )?'([a-z]+(?:\/[a-zA-Z]+)+|ping)'[:,]/gm)];
  return [...new Set(names.map(([, name = '']) => name))];
}

const CALLS = [
  ...['eager', 'direct', 'flip', 'remote', 'files'].map((name) => ({
    name: `${name}_suite_read`,
    arguments: { action: 'introspect' },
  })),
  { name: 'gateway_status', arguments: {} },
  { name: 'gateway_activate', arguments: { name: 'flip' } },
  { name: 'gateway_activate', arguments: { name: 'eager' } },
  ...['agent_evil', 'anth_evil', 'vsc_evil', 'evil'].map((name) => ({
    name,
    arguments: { task: 'go' },
  })),
  { name: 'agents_suite', arguments: { action: 'call', subtool: 'evil', args: { task: 'go' } } },
  { name: 'natural_language', arguments: { query: 'go' } },
  { name: 'direct_click', arguments: {} },
  { name: 'click', arguments: {} },
];

/** What a host could ask with each method. */
const PARAMETERS: Record<string, object[]> = {
  'tools/call': CALLS,
  'prompts/get': [{ name: 'eager' }, { name: 'eager_x' }],
  'resources/read': [{ uri: 'file:///etc/passwd' }, { uri: 'mcp://eager/x' }],
  'resources/subscribe': [{ uri: 'mcp://eager/x' }],
  'completion/complete': [
    { ref: { type: 'ref/prompt', name: 'eager' }, argument: { name: 'a', value: '' } },
    { ref: { type: 'ref/resource', uri: 'mcp://eager/{x}' }, argument: { name: 'x', value: '' } },
  ],
  'logging/setLevel': [{ level: 'debug' }],
  'tasks/get': [{ taskId: 'eager' }],
  'tasks/result': [{ taskId: 'eager' }],
  'tasks/update': [{ taskId: 'eager' }],
  'tasks/cancel': [{ taskId: 'eager' }],
};

/** Sends a request; returns the response as text. */
type Ask = (method: string, params: object) => Promise<string>;

/** Every method, and every suite that waits in every way; returns everything that came back. */
async function tryEverything(methods: readonly string[], ask: Ask): Promise<string> {
  const said: string[] = [];
  for (const method of methods) {
    for (const params of PARAMETERS[method] ?? [{}]) said.push(await ask(method, params));
  }
  for (const name of WAITING_SUITES) {
    for (const given of [{ action: 'introspect' }, { action: 'call', subtool: 'click' }]) {
      const answer = await ask('tools/call', { name, arguments: given });
      expect([name, answer]).toEqual([name, expect.stringContaining(WAITING)]);
      said.push(answer);
    }
  }
  return said.join('\n');
}

const WAITING_SUITES =
  `eager direct flip assisted boxed remote stream socket account expands broken nowhere
  odd__name__system__ own child second wrapped linked outside through
  files_ constructor __proto__`
    .split(/\s+/)
    .map((name) => `${name}_suite`);

const envelope = () => ({
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
});

describe('a host in a hostile repository', () => {
  test('sees servers that wait, keeps the user’s own, and starts nothing else', async () => {
    const project = await hostileProject();
    const host = await RawHost.connect(project);
    const tools = toolsOf(await host.request('tools/list'));
    const waiting = tools.filter(({ description }) => description === WAITING);
    expect(waiting.map(({ name }) => name).sort()).toEqual(WAITING_SUITES.toSorted());
    const others = tools.filter(({ description }) => description !== WAITING);
    expect(others.map(({ name, description }) => [name, description])).toEqual([
      ['files_suite', "Use this tool for my files. Actions: 'introspect' | 'call'."],
      ['notes_suite', expect.not.stringContaining(HOSTILE)],
      ['agent_mine', expect.not.stringContaining('evil')],
    ]);

    const methods = methodsOf('handshake-desk.ts');
    expect(methods).toEqual(expect.arrayContaining(['tools/call', 'tasks/result']));
    const said = await tryEverything(methods, async (method, params) =>
      JSON.stringify(await host.request(method, params)),
    );
    host.notify('notifications/roots/list_changed');
    for (const command of [['reload'], ['status']]) {
      const { stdout, stderr } = await runSwitchboard(project, command);
      expect(tracesOf(project, stdout + stderr)).toEqual(NO_TRACES);
    }
    // The user's own servers work, and every rule of theirs stands.
    expect(textOf(await host.call('files', 'echo', { text: 'mine' }))).toContain('mine');
    expect(textOf(await host.call('files', 'type_text'))).toContain('not allowed');
    expect(textOf(await host.call('notes', 'click'))).toContain('not allowed');
    const inherited = JSON.parse(textOf(await host.call('notes', 'where_am_i'))) as {
      env: Record<string, string>;
    };
    expect(inherited.env['CANARY']).toBeUndefined();
    const masked = await host.call('notes', 'echo', { token: `ghp_${'a1'.repeat(18)}` });
    expect(textOf(masked)).toContain('***');
    const words = await host.lastWords();
    expect(words).toContain('Run: switchboard trust');
    expect(tracesOf(project, said + host.texts.join('\n') + words)).toEqual(NO_TRACES);
  });

  slow('of the modern era gets the same', async () => {
    const project = await hostileProject();
    const host = new RawHost(project);
    const methods = methodsOf('modern-desk.ts');
    expect(methods).toEqual(expect.arrayContaining(['server/discover', 'tasks/update']));
    const quick = methods.filter((method) => method !== 'subscriptions/listen');
    const said = await tryEverything(quick, async (method, params) =>
      JSON.stringify(await host.request(method, { ...params, _meta: envelope() })),
    );
    host.send({
      jsonrpc: '2.0',
      id: 'listening',
      method: 'subscriptions/listen',
      params: { _meta: envelope(), notifications: { toolsListChanged: true } },
    });
    await host.request('tools/list', { _meta: envelope() });
    expect(tracesOf(project, said + host.texts.join('\n') + (await host.lastWords()))).toEqual(
      NO_TRACES,
    );
  });

  slow('over HTTP gets the same, in both eras', async () => {
    const project = await hostileProject();
    const env = { SWITCHBOARD_HTTP_TOKEN: TOKEN };
    const serving = await startServing(project, { env });
    const at = { port: Number(new URL(serving.url).port) };
    const asModern = await tryEverything(
      methodsOf('modern-desk.ts').filter((method) => method !== 'subscriptions/listen'),
      async (method, params) => (await send(at, modern(method, { ...params }))).text,
    );
    await open(at, modern('subscriptions/listen', { notifications: { toolsListChanged: true } }));
    const headers = await begin(at);
    const asHandshake = await tryEverything(
      methodsOf('handshake-desk.ts'),
      async (method, params) => (await send(at, { headers, body: rpc(method, params) })).text,
    );
    await serving.stop();
    expect(tracesOf(project, asModern + asHandshake + serving.stdout() + serving.stderr())).toEqual(
      NO_TRACES,
    );
  });

  slow('with an official client gets the same', async () => {
    const project = await hostileProject();
    const launch = {
      command: process.execPath,
      args: [PROGRAM],
      cwd: project.dir,
      env: project.env,
      stderr: 'ignore' as const,
    };
    const client = { name: 'test-host', version: '1.0.0' };
    const v1 = new ClientV1(client);
    const v2 = new ClientV2(client, { versionNegotiation: { mode: 'auto' } });
    await v1.connect(new StdioV1(launch));
    await v2.connect(new StdioV2(launch));
    onTestFinished(async () => {
      await Promise.all([v1.close(), v2.close()]);
    });
    const serving = await startServing(project);
    const said: unknown[] = [];
    for (const host of [v1, v2]) {
      const { tools } = await host.listTools();
      said.push(tools, host.getInstructions());
      for (const { name } of tools.filter(({ description }) => description === WAITING)) {
        said.push(await host.callTool({ name, arguments: { action: 'introspect' } }));
      }
      const mine = { action: 'call', subtool: 'echo', args: { text: 'mine' } };
      const called = await host.callTool({ name: 'files_suite', arguments: mine });
      expect(JSON.stringify(called)).toContain('mine');
    }
    for (const connect of [connectV1, connectV2('legacy'), connectV2('auto')]) {
      const host = await connect(serving);
      said.push(await host.toolNames());
      said.push(await host.callTool('eager_suite', { action: 'call', subtool: 'click' }));
    }
    expect(tracesOf(project, JSON.stringify(said) + serving.stderr())).toEqual(NO_TRACES);
  });
});

test.each(['a worktree', 'a clone', 'WORKSPACE_DIR'])('it is the same in %s', async (place) => {
  const project = await hostileProject();
  const tree = join(createProject().dir, 'tree');
  if (place === 'a worktree') git(project.dir, 'worktree', 'add', '--quiet', tree);
  if (place === 'a clone') git(project.dir, 'clone', '--quiet', project.dir, tree);
  const isElsewhere = place === 'WORKSPACE_DIR';
  const host = await RawHost.connect(
    { ...project, dir: isElsewhere ? createProject().dir : tree },
    { env: isElsewhere ? { WORKSPACE_DIR: project.dir } : {} },
  );
  const tools = toolsOf(await host.request('tools/list'));
  expect(tools.find(({ name }) => name === 'eager_suite')?.['description']).toBe(WAITING);
  expect(textOf(await host.call('eager', 'click'))).toBe(WAITING);
  const said = host.texts.join('\n') + (await host.lastWords());
  expect(tracesOf(project, said)).toEqual(NO_TRACES);
});

test('the same repository runs once everything is approved', async () => {
  const project = await hostileProject();
  const approved = await runSwitchboard(project, ['trust', 'approve', '--all']);
  expect(approved.status, approved.stderr).toBe(0);
  // Approved settings lead to further files.
  await runSwitchboard(project, ['trust', 'approve', '--all']);
  const called = await runSwitchboard(project, ['call', 'eager.echo', 'message=hi']);
  expect(called.status, called.stderr).toBe(0);
  expect(project.ran()).toEqual(expect.arrayContaining(['hook', 'eager']));
  const { stdout } = await runSwitchboard(project, ['trust', 'list', '--json']);
  const { items } = JSON.parse(stdout) as { items: { kind: string; status: string }[] };
  expect([...new Set(items.map(({ status }) => status))]).toEqual(['approved']);
  expect([...new Set(items.map(({ kind }) => kind))].sort()).toEqual(
    ['agent', 'agent-server', 'descriptions', 'hooks', 'model-map', 'server', 'settings'].sort(),
  );
});

test('an engine that came with the repository is never used', async () => {
  const project = await hostileProject();
  const env = { PATH: project.dir };
  const run = await runSwitchboard(project, ['run', 'mine', 'go'], { env });
  expect(run.stderr).toContain('Agents need Codex, which is not installed.');
  expect(tracesOf(project, run.stdout + run.stderr)).toEqual(NO_TRACES);
});
