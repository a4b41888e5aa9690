// How it is found out which era a server speaks, and what a host is told about ours.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { configWith, createProject, FIXTURES } from '../support/project.ts';
import { RawHost, textOf, toolsOf } from '../support/raw-host.ts';
import { testServer } from '../support/servers.ts';

const envelope = (version = '2026-07-28') => ({
  'io.modelcontextprotocol/protocolVersion': version,
  'io.modelcontextprotocol/clientCapabilities': {},
});

test('a server that ends when it is asked is started again without, and never asked again', async () => {
  const project = createProject();
  const log = join(project.dir, 'log.txt');
  const server = testServer('dies-of-question', log);
  project.write('switchboard.config.json', { mcpServers: { frail: server } });
  const first = await RawHost.connect(project);
  expect(textOf(await first.call('frail', 'echo', { a: 1 }))).toBe('{"a":1}');
  await first.close();
  expect(readFileSync(log, 'utf8')).toBe('server/discover\ninitialize\n');

  const second = await RawHost.connect(project);
  expect(textOf(await second.call('frail', 'echo', { a: 2 }))).toBe('{"a":2}');
  expect(readFileSync(log, 'utf8')).toBe('server/discover\ninitialize\ninitialize\n');
});

test('a server that knows no handshake may take its time to start', async () => {
  const server = join(FIXTURES, 'eras/modern-server.mjs');
  const script = `setTimeout(() => import(${JSON.stringify(server)}), 2_000)`;
  const slow = { command: process.execPath, args: ['-e', script] };
  const host = await RawHost.connect(createProject(configWith({ slow })));
  const { result } = await host.callTool('slow_suite', { action: 'introspect' });
  const { tools = [] } = (result ?? {}) as { tools?: { name: string }[] };
  expect(tools.map(({ name }) => name)).toContain('ask_form');
});

test('a server that speaks both is spoken to in the era of the host that needs it first', async () => {
  const both = {
    command: process.execPath,
    args: [join(FIXTURES, 'eras/both-server.mjs'), '/tmp'],
  };
  const project = createProject(configWith({ both }));
  const modern = new RawHost(project);
  const { result } = await modern.request('tools/call', {
    name: 'both_suite',
    arguments: { action: 'call', subtool: 'ask_form', args: {} },
    _meta: {
      ...envelope(),
      'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
    },
  });
  // Asked in its own era it keeps the name it gave the question; parked here it would be ours.
  expect(Object.keys(result?.['inputRequests'] ?? {})).toEqual(['name']);
});

test('a host may look twice before it begins, in either era', async () => {
  const project = createProject(configWith({ box: testServer('toolbox') }));
  const host = new RawHost(project);
  for (let time = 0; time < 2; time++) {
    const { result } = await host.request('server/discover', { _meta: envelope() });
    expect(result).toMatchObject({ supportedVersions: ['2026-07-28'], resultType: 'complete' });
  }
  const listed = await host.request('tools/list', { _meta: envelope() });
  expect(toolsOf(listed).map(({ name }) => name)).toEqual(['box_suite']);
  const { result } = await host.request('initialize', { protocolVersion: '2025-06-18' });
  expect(result).toMatchObject({ protocolVersion: '2025-06-18' });
});

test('with a server to switch a host on stdio is sent to the handshake, unless told otherwise', async () => {
  const servers = { box: { ...testServer('toolbox'), show: 'flip' } };
  const host = new RawHost(createProject(configWith(servers)));
  expect((await host.request('server/discover', { _meta: envelope() })).error?.code).toBe(-32601);
  const refused = await host.request('tools/list', { _meta: envelope() });
  expect(refused.error).toMatchObject({ code: -32022 });

  const modern = new RawHost(createProject(configWith(servers, { era: 'modern' })));
  const listed = await modern.request('tools/list', { _meta: envelope() });
  expect(toolsOf(listed).map(({ name }) => name)).toEqual(['box_suite']);
  expect((await modern.request('initialize', {})).error?.code).toBe(-32601);
});

test('wrong envelopes are refused with what is wrong', async () => {
  const host = new RawHost(createProject(configWith({ box: testServer('toolbox') })));
  const wrong = await host.request('tools/list', { _meta: envelope('2099-01-01') });
  expect(wrong.error).toMatchObject({
    code: -32022,
    data: { supported: ['2026-07-28'], requested: '2099-01-01' },
  });
  const bare = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
  const missing = await host.request('tools/list', { _meta: bare });
  expect(missing.error).toMatchObject({ code: -32602 });
  expect(missing.error?.message).toContain('clientCapabilities');
});

test('the tools that are always to be shown say so, and by which words they are found', async () => {
  const project = createProject(
    configWith({
      box: { ...testServer('toolbox'), keywords: ['hammer', 'nail'] },
      on: { ...testServer('toolbox'), show: 'flip' },
    }),
  );
  const host = await RawHost.connect(project);
  const metas = toolsOf(await host.request('tools/list')).map(({ name, _meta }) => [name, _meta]);
  const always = { 'anthropic/alwaysLoad': true };
  expect(Object.fromEntries(metas)).toEqual({
    gateway_activate: always,
    gateway_deactivate: always,
    gateway_status: always,
    box_suite: { ...always, 'anthropic/searchHint': 'hammer nail' },
  });
});
