// A hostile repository is cloned and opened: nothing of it runs, reaches an address, learns a secret or is shown,
// whatever a host asks and whichever command the user types.
import { describe, expect, test } from 'vitest';
import { runSwitchboard } from '../support/command.ts';
import { HOSTILE, type HostileProject, hostileProject, SECRET } from '../support/hostile.ts';
import { RawHost, textOf, toolsOf } from '../support/raw-host.ts';

const envelope = () => ({
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
});

const WAITING = 'Waiting for approval. Run: switchboard trust';

/** Nothing has run and nobody was asked. */
function expectNothing(project: HostileProject): void {
  const { requested } = project;
  expect({ ran: project.ran(), requested }).toEqual({ ran: [], requested: [] });
}

function expectClean(said: string): void {
  expect(said).not.toContain(HOSTILE);
  expect(said).not.toContain(SECRET);
}

describe('a host in a hostile repository', () => {
  test('sees servers that wait, keeps the user’s own, and starts nothing else', async () => {
    const project = await hostileProject();
    const host = await RawHost.connect(project);
    const tools = toolsOf(await host.request('tools/list'));
    const shown = Object.fromEntries(tools.map(({ name, description }) => [name, description]));
    expect(shown).toMatchObject({
      eager_suite: WAITING,
      direct_suite: WAITING,
      flip_suite: WAITING,
      assisted_suite: WAITING,
      remote_suite: WAITING,
      broken_suite: WAITING,
      odd__name__system___suite: WAITING,
      own_suite: WAITING,
      child_suite: WAITING,
      second_suite: WAITING,
      linked_suite: WAITING,
      files_suite: "Use this tool for my files. Actions: 'introspect' | 'call'.",
    });
    expect(Object.keys(shown).filter((name) => !/^[\w-]+$/.test(name))).toEqual([]);

    const methods: [string, object?][] = [
      ['ping'],
      ['prompts/list'],
      ['prompts/get', { name: 'eager' }],
      ['resources/list'],
      ['resources/templates/list'],
      ['resources/read', { uri: 'file:///etc/passwd' }],
      [
        'completion/complete',
        { ref: { type: 'ref/prompt', name: 'x' }, argument: { name: 'a', value: '' } },
      ],
      ['logging/setLevel', { level: 'debug' }],
      ['tools/call', { name: 'gateway_status', arguments: {} }],
      ['tools/call', { name: 'gateway_activate', arguments: { name: 'flip' } }],
      ['tools/call', { name: 'agent_evil', arguments: { task: 'go' } }],
      ['tools/call', { name: 'direct_click', arguments: {} }],
      ['tools/call', { name: 'click', arguments: {} }],
    ];
    for (const [method, params] of methods) await host.request(method, params);
    for (const { name } of tools.filter(({ description }) => description === WAITING)) {
      for (const given of [
        { action: 'introspect' },
        { action: 'call', subtool: 'click', args: {} },
      ]) {
        const answer = await host.request('tools/call', { name, arguments: given });
        expect([name, textOf(answer)]).toEqual([name, WAITING]);
      }
    }
    // The user's own server works, and its rule stands.
    expect(textOf(await host.call('files', 'echo', { text: 'mine' }))).toContain('mine');
    expect(textOf(await host.call('notes', 'click'))).toContain('not allowed by Switchboard');
    const words = await host.lastWords();
    expect(words).toContain('Run: switchboard trust');
    expectClean(host.texts.join('\n') + words);
    expectNothing(project);
  });

  test('of the modern era gets the same', async () => {
    const project = await hostileProject();
    const host = new RawHost(project);
    await host.request('server/discover', { _meta: envelope() });
    const tools = toolsOf(await host.request('tools/list', { _meta: envelope() }));
    expect(tools.find(({ name }) => name === 'eager_suite')?.['description']).toBe(WAITING);
    const answer = await host.request('tools/call', {
      name: 'eager_suite',
      arguments: { action: 'call', subtool: 'click', args: {} },
      _meta: envelope(),
    });
    expect(textOf(answer)).toBe(WAITING);
    await host.request('subscriptions/listen', { _meta: envelope() }, 'listening');
    expectClean(host.texts.join('\n') + (await host.lastWords()));
    expectNothing(project);
  });

  test.each(['mjs', 'cjs'] as const)('runs no JavaScript configuration (%s)', async (main) => {
    const project = await hostileProject({ main });
    const host = await RawHost.connect(project);
    const names = await host.toolNames();
    expect(names).toContain('files_suite');
    expect(names).not.toContain('eager_suite');
    expectClean(host.texts.join('\n') + (await host.lastWords()));
    expectNothing(project);
  });
});

const COMMANDS = [
  ['--dry-run'],
  ['tools'],
  ['tools', 'eager'],
  ['tools', 'remote', '--json'],
  ['call', 'eager.click'],
  ['call', 'remote.click', '--json'],
  ['show'],
  ['show', 'eager'],
  ['show', 'eager', 'direct'],
  ['show', 'flip', '--start', 'eager', '--user'],
  ['assistant'],
  ['assistant', 'assisted', 'status'],
  ['assistant', 'second', 'on'],
  ['assistant', 'assisted', 'off'],
  ['assistant', 'serve', 'assisted'],
  ['assistant', 'serve', '--folder', 'mcps/second', '--tools'],
  ['doctor'],
  ['doctor', 'eager', '--json'],
  ['status'],
  ['status', '--json'],
  ['reload'],
  ['agents'],
  ['agents', '--check'],
  ['agents', 'evil'],
  ['run', 'evil', 'go'],
  ['login', 'remote', '--no-browser'],
  ['logout', 'remote'],
  ['config', 'check'],
  ['config', 'print'],
  ['config', 'schema'],
  ['skill', 'install', '--dry-run', '--no-register'],
  ['help'],
];

describe.each(['json', 'mjs'] as const)('commands in a hostile repository (%s)', (main) => {
  test('run nothing of it and show none of its text', async () => {
    const project = await hostileProject({ main });
    for (const args of COMMANDS) {
      const { stdout, stderr } = await runSwitchboard(project, args);
      const said = stdout + stderr;
      expect({ args, isShown: said.includes(HOSTILE), isTold: said.includes(SECRET) }).toEqual({
        args,
        isShown: false,
        isTold: false,
      });
      expect({ args, ran: project.ran(), requested: project.requested }).toEqual({
        args,
        ran: [],
        requested: [],
      });
    }
  });

  test('show it in full if the user asks, and still run nothing', async () => {
    const project = await hostileProject({ main });
    for (const args of [['trust'], ['trust', 'diff'], ['trust', 'list', '--json']]) {
      const { status, stdout } = await runSwitchboard(project, args);
      expect({ args, status }).toEqual({ args, status: 0 });
      expect(stdout).toContain(HOSTILE);
      expect(stdout).not.toContain(SECRET);
    }
    expectNothing(project);
  });
});

test('the same repository runs once everything is approved', async () => {
  const project = await hostileProject();
  const approved = await runSwitchboard(project, ['trust', 'approve', '--all']);
  expect(approved).toMatchObject({ status: 0, stderr: '' });
  // Approved settings lead to further files.
  await runSwitchboard(project, ['trust', 'approve', '--all']);
  const called = await runSwitchboard(project, ['call', 'eager.echo', 'message=hi']);
  expect(called.status, called.stderr).toBe(0);
  expect(project.ran()).toEqual(['eager']);
  const { stdout } = await runSwitchboard(project, ['trust', 'list', '--json']);
  const { items } = JSON.parse(stdout) as { items: { kind: string; status: string }[] };
  expect([...new Set(items.map(({ status }) => status))]).toEqual(['approved']);
  expect([...new Set(items.map(({ kind }) => kind))].sort()).toEqual(
    ['agent', 'agent-server', 'descriptions', 'model-map', 'server', 'settings'].sort(),
  );
});

test('an engine that came with the repository is never used', async () => {
  const project = await hostileProject();
  project.write('home/.switchboard/agents/mine.toml', 'name = "mine"\ninstructions = "Do it."\n');
  const env = { PATH: project.dir };
  const run = await runSwitchboard(project, ['run', 'mine', 'go'], { env });
  expect(run.stderr).toContain('Agents need Codex, which is not installed.');
  expectNothing(project);
});
