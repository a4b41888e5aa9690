// How it is found out which era a server speaks, and what a host is told about ours.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { activate, GATEWAY, reaches } from '../support/gateway.ts';
import { configWith, createProject, FIXTURES, type Project } from '../support/project.ts';
import { RawHost, textOf, toolsOf } from '../support/raw-host.ts';
import { eraServer, testServer } from '../support/servers.ts';

const envelope = (version = '2026-07-28') => ({
  'io.modelcontextprotocol/protocolVersion': version,
  'io.modelcontextprotocol/clientCapabilities': {},
});

const AT_ONCE = 'that starts at once';
const SLOWLY = 'that takes longer to start than it is only asked';

/** An entry for a program of ours that begins at once, or later than it is greeted. */
function starting(when: string, project: Project, program: string, ...args: string[]) {
  const delayMs = when === SLOWLY ? 1_200 : 0;
  const script = project.write(
    'starting.mjs',
    `setTimeout(() => import(${JSON.stringify(program)}), ${delayMs});`,
  );
  return { command: process.execPath, args: [script, ...args] };
}

const programOf = (era: string) => eraServer(era).args[0] ?? '';

test.each([AT_ONCE, SLOWLY])(
  'a modern server %s is used in its era by a handshake host',
  async (when) => {
    const project = createProject();
    const modern = starting(when, project, programOf('modern'), project.dir);
    project.write('switchboard.config.json', { mcpServers: { modern } });
    const host = await RawHost.connect(project);
    expect(textOf(await host.call('modern', 'echo', { text: 'hello' }))).toBe('hello');
  },
);

test.each([AT_ONCE, SLOWLY])(
  'a server %s and exits on the probe is restarted without it, and never probed again',
  async (when) => {
    const project = createProject();
    const log = join(project.dir, 'log.txt');
    const program = join(FIXTURES, 'servers/dies-of-question.mjs');
    const server = starting(when, project, program, log);
    project.write('switchboard.config.json', { mcpServers: { frail: server } });
    const first = await RawHost.connect(project);
    expect(textOf(await first.call('frail', 'echo', { a: 1 }))).toBe('{"a":1}');
    await first.close();
    expect(readFileSync(log, 'utf8')).toBe('server/discover\ninitialize\n');

    const second = await RawHost.connect(project);
    expect(textOf(await second.call('frail', 'echo', { a: 2 }))).toBe('{"a":2}');
    expect(readFileSync(log, 'utf8')).toBe('server/discover\ninitialize\ninitialize\n');
  },
);

test.each([AT_ONCE, SLOWLY])(
  'a server %s and supports both is used in the era of its first host',
  async (when) => {
    const project = createProject();
    const both = starting(when, project, programOf('both'), project.dir);
    project.write('switchboard.config.json', { mcpServers: { both } });
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
  },
);

test('a host may discover twice before it starts, in either era', async () => {
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

test('with flip servers, a host on stdio is sent to the handshake by default', async () => {
  const servers = { box: { ...testServer('toolbox'), show: 'flip' } };
  const host = new RawHost(createProject(configWith(servers)));
  expect((await host.request('server/discover', { _meta: envelope() })).error?.code).toBe(-32601);
  const refused = await host.request('tools/list', { _meta: envelope() });
  expect(refused.error).toMatchObject({ code: -32022 });

  const modern = new RawHost(createProject(configWith(servers, { era: 'modern' })));
  const listed = await modern.request('tools/list', { _meta: envelope() });
  expect(toolsOf(listed).map(({ name }) => name)).toEqual([...GATEWAY, 'box_suite']);
  expect((await modern.request('initialize', {})).error?.code).toBe(-32601);
});

test('invalid envelopes are refused with a reason', async () => {
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

test('tools that are always loaded say so, and others have search words', async () => {
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
  await reaches(host, 'on', 'ready');
  await activate(host, 'on');
  const echo = toolsOf(await host.request('tools/list')).find(({ name }) => name === 'echo');
  expect(echo?.['_meta']).toEqual(always);
});
