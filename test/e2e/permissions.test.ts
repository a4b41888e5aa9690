// Permissions in the whole program, on every path to a server that accepts any spelling and records what reaches it.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { agentProject, runThrough, toml } from '../support/agent-project.ts';
import { createScene } from '../support/assistant.ts';
import { runSwitchboard } from '../support/command.ts';
import type { Script } from '../support/model-server-chat.ts';
import { variantsOf } from '../support/name-variants.ts';
import { eventually } from '../support/processes.ts';
import { createProject, type Project } from '../support/project.ts';
import { type Answer, RawHost, textOf, toolsOf } from '../support/raw-host.ts';
import { testServer } from '../support/servers.ts';
import { slow, test } from '../support/slow.ts';

const USER_FILE = 'home/.switchboard/switchboard.config.json';

interface Guarded extends Project {
  /** What the server has done, without its lists. */
  used(): string[];
  usersFile(): Record<string, unknown>;
}

/** A project with the server "box" and these permissions of the user's. */
function guarded(permissions: object, keys: object = {}, more: object = {}): Guarded {
  const project = createProject();
  const log = join(project.dir, 'used.log');
  project.write('switchboard.config.json', {
    mcpServers: { box: { ...testServer('guarded', log), ...keys } },
    ...more,
  });
  project.write(USER_FILE, { permissions });
  return {
    ...project,
    used: () => (existsSync(log) ? readFileSync(log, 'utf8').split('\n').filter(Boolean) : []),
    usersFile: () =>
      JSON.parse(readFileSync(join(project.dir, USER_FILE), 'utf8')) as Record<string, unknown>,
  };
}

const usedTools = (project: Guarded) => project.used().filter((line) => line !== 'start');

/** A host whose user gives these answers, one after the other. */
async function answeringHost(project: Project, ...answers: string[]): Promise<RawHost> {
  const host = new RawHost(project);
  await host.request('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: { elicitation: {} },
    clientInfo: { name: 'test', version: '1' },
  });
  host.notify('notifications/initialized');
  void (async () => {
    for (const [index, answer] of answers.entries()) {
      await eventually(() => questionsTo(host).length > index, 60_000);
      const { id } = questionsTo(host)[index] ?? {};
      host.send({ jsonrpc: '2.0', id, result: { action: 'accept', content: { answer } } });
    }
  })();
  return host;
}

const questionsTo = (host: RawHost) =>
  host.messages.filter(({ method }) => method === 'elicitation/create');

const failed = (answer: Answer) => answer.error !== undefined || answer.result?.isError === true;

const DENY = { deny: ['box__delete_file', 'box__secret', 'box__box://secret'] };

describe('denied tools are neither listed nor used', () => {
  test('as a suite', async () => {
    const project = guarded(DENY);
    const host = await RawHost.connect(project);
    const refused = await host.call('box', 'delete_file');
    expect(textOf(refused)).toMatch(
      /^Tool "delete_file" of server "box" is not allowed \(permissions\.deny "box__delete_file" in .*\)\./,
    );
    expect(project.used()).toEqual([]);
    expect(toolsOf(await host.introspect('box')).map(({ name }) => name)).toEqual([
      'plain',
      'read_file',
    ]);
    expect(textOf(await host.call('box', 'plain'))).toBe('called plain');
  });

  test.each(['direct', 'flip'])('as %s', async (show) => {
    const project = guarded(DENY, { show });
    const host = await RawHost.connect(project);
    if (show === 'flip') await host.callTool('gateway_activate', { name: 'box' });
    await expect.poll(() => host.toolNames(), { timeout: 30_000 }).toContain('plain');
    expect(await host.toolNames()).not.toContain('delete_file');
    expect(failed(await host.callTool('delete_file'))).toBe(true);
    expect(failed(await host.call('box', 'delete_file'))).toBe(true);
    expect(textOf(await host.callTool('plain'))).toBe('called plain');
    expect(usedTools(project)).toEqual(['tools/call plain']);
  });

  slow('prompts, resources, completions and subscriptions', async () => {
    const project = guarded(DENY);
    const host = await RawHost.connect(project);
    await host.call('box', 'plain');
    const names = async (method: string, key: string) => {
      const { result } = await host.request(method);
      const items = (result?.[key] ?? []) as { name: string }[];
      return items.map(({ name }) => name);
    };
    await expect
      .poll(() => names('prompts/list', 'prompts'), { timeout: 30_000 })
      .toEqual(['greet']);
    await expect
      .poll(() => names('resources/list', 'resources'), { timeout: 30_000 })
      .toEqual(['open']);
    const ref = { type: 'ref/prompt', name: 'secret' };
    const argument = { name: 'a', value: '' };
    for (const [method, params] of [
      ['prompts/get', { name: 'secret' }],
      ['resources/read', { uri: 'box://secret' }],
      ['resources/read', { uri: 'BOX://Secret' }],
      ['resources/subscribe', { uri: 'box://secret' }],
      ['completion/complete', { ref, argument }],
    ] as const) {
      const { error } = await host.request(method, params);
      expect(error?.message).toContain('not allowed (permissions.deny');
    }
    expect((await host.request('prompts/get', { name: 'greet' })).error).toBeUndefined();
    expect((await host.request('resources/read', { uri: 'box://open' })).error).toBeUndefined();
    expect(
      (await host.request('resources/subscribe', { uri: 'box://open' })).error,
    ).toBeUndefined();
    expect(usedTools(project)).toEqual([
      'tools/call plain',
      'prompts/get greet',
      'resources/read box://open',
      'resources/subscribe box://open',
    ]);
  });

  test('on the command line', async () => {
    const project = guarded(DENY);
    const { status, stderr } = await runSwitchboard(project, ['call', 'box.delete_file']);
    expect([status, project.used()]).toEqual([4, []]);
    expect(stderr).toContain('is not allowed (permissions.deny "box__delete_file" in');
    const listed = await runSwitchboard(project, ['tools', 'box', '--json']);
    const { children } = JSON.parse(listed.stdout) as {
      children: { tools: { name: string; allowed: boolean }[] }[];
    };
    expect(children[0]?.tools.map(({ name, allowed }) => [name, allowed])).toEqual([
      ['delete_file', false],
      ['plain', true],
      ['read_file', true],
    ]);
  });

  slow('by an assistant', async () => {
    const script: Script = ({ results, tools }) =>
      results[0]
        ? { text: `${tools.map(({ name }) => name).join()}: ${results[0].text}` }
        : { calls: [{ name: 'delete_file', args: {} }] };
    const log = join(createProject().dir, 'used.log');
    const scene = await createScene(script, () => testServer('guarded', log));
    scene.project.write(USER_FILE, { permissions: { deny: ['kid__delete_file'] } });
    const host = await RawHost.connect({
      ...scene.project,
      env: { ...scene.project.env, ...scene.env },
    });
    const answer = textOf(await host.call('kid', 'natural_language', { query: 'delete it' }));
    expect(answer).toMatch(/^plain,read_file: .*delete_file.* is not allowed \(permissions\.deny/);
    expect(readFileSync(log, 'utf8')).not.toContain('tools/call');
  });

  test('by an agent, even if it declares the server itself', async () => {
    const server = testServer('guarded', join(createProject().dir, 'used.log'));
    const lines = `[mcp_servers.mine]\ncommand = ${JSON.stringify(server.command)}\nargs = ${JSON.stringify(server.args)}`;
    const project = agentProject({
      'switchboard.config.json': { mcpServers: { box: server } },
      [USER_FILE]: { permissions: { deny: ['box__delete_file'], ask: ['box__plain'] } },
      '.agents/a.toml': toml('Aide', `tools = ["mine::*", "box::*"]\n${lines}`),
    });
    const host = await RawHost.connect(project);
    await runThrough(host, 'agent_aide', { task: 'x', cwd: project.dir });
    const { mcp_servers: servers } = project.thread().config as {
      mcp_servers: Record<string, { enabled_tools?: string[] }>;
    };
    expect(servers['mine']?.enabled_tools).toEqual(['read_file']);
    expect(servers['box']?.enabled_tools).toEqual(['read_file']);
  });
});

slow('no spelling of a denied name reaches the server, on any path', async () => {
  const variants = variantsOf('delete_file');
  expect(variants.length).toBeGreaterThan(1_000);
  for (const show of ['suite', 'direct']) {
    const project = guarded(DENY, { show });
    const host = await RawHost.connect(project);
    await host.call('box', 'read_file');
    const suites = await Promise.all(variants.map((name) => host.call('box', name)));
    const own = await Promise.all(variants.map((name) => host.callTool(name)));
    expect([...suites, ...own].filter((answer) => !failed(answer))).toEqual([]);
    const prompts = await Promise.all(
      variantsOf('secret').map((name) => host.request('prompts/get', { name })),
    );
    expect(prompts.filter((answer) => !failed(answer))).toEqual([]);
    expect(usedTools(project)).toEqual(['tools/call read_file']);
  }
});

slow('a denied server is not started, whichever way it is shown', async () => {
  for (const show of ['suite', 'direct', 'flip']) {
    const project = guarded({ deny: ['mcp__box'] }, { show, start: 'eager' });
    const host = await RawHost.connect(project);
    for (const answer of [
      await host.introspect('box'),
      await host.call('box', 'read_file'),
      await host.callTool('gateway_activate', { name: 'box' }),
    ]) {
      expect(failed(answer)).toBe(true);
    }
    expect(textOf(await host.introspect('box'))).toContain('Server "box" is not allowed');
    await host.close();
    expect(project.used()).toEqual([]);
  }
});

test('readOnly lists and calls only tools that are marked as read-only', async () => {
  const project = guarded({}, { readOnly: true });
  const host = await RawHost.connect(project);
  expect(toolsOf(await host.introspect('box')).map(({ name }) => name)).toEqual(['read_file']);
  expect(textOf(await host.call('box', 'plain'))).toContain(
    'limited to read-only tools (readOnly in',
  );
  expect(textOf(await host.call('box', 'read_file'))).toBe('called read_file');
  expect(usedTools(project)).toEqual(['tools/call read_file']);
});

describe('the user is asked', () => {
  test('once, for the session, or always, which the next session remembers', async () => {
    const project = guarded({ ask: ['box__@write'] });
    const host = await answeringHost(project, 'once', 'session', 'no', 'always');
    expect(textOf(await host.call('box', 'delete_file', { path: '/a' }))).toBe(
      'called delete_file',
    );
    const { params } = questionsTo(host)[0] as unknown as { params: { message: string } };
    expect(params.message).toBe(
      'Allow this call? Tool "delete_file" of server "box"\nArguments:\n{\n  "path": "/a"\n}',
    );
    expect(failed(await host.call('box', 'delete_file'))).toBe(false);
    expect(failed(await host.call('box', 'delete_file'))).toBe(false);
    expect(textOf(await host.call('box', 'plain'))).toContain('The user did not allow it');
    expect(failed(await host.call('box', 'plain'))).toBe(false);
    expect(failed(await host.call('box', 'read_file'))).toBe(false);
    expect(questionsTo(host)).toHaveLength(4);
    await host.close();
    expect(project.usersFile()).toEqual({
      permissions: { ask: ['box__@write', '!box__plain'], allow: ['box__plain'] },
    });

    const next = await RawHost.connect(project);
    expect(textOf(await next.call('box', 'plain'))).toBe('called plain');
    expect(textOf(await next.call('box', 'delete_file'))).toContain(
      'The user can allow it permanently: add "permissions": {"ask":["!box__delete_file"],"allow":["box__delete_file"]} to',
    );
  });

  slow('through an assistant', async () => {
    const script: Script = ({ results }) =>
      results[0] ? { text: results[0].text } : { calls: [{ name: 'plain', args: { a: 1 } }] };
    const log = join(createProject().dir, 'used.log');
    const scene = await createScene(script, () => testServer('guarded', log));
    scene.project.write(USER_FILE, { permissions: { ask: ['kid__plain'] } });
    const project = { ...scene.project, env: { ...scene.project.env, ...scene.env } };
    const host = await answeringHost(project, 'once');
    expect(textOf(await host.call('kid', 'natural_language', { query: 'x' }))).toBe('called plain');
    const mute = await RawHost.connect(project);
    const refused = textOf(await mute.call('kid', 'natural_language', { query: 'x' }));
    expect(refused).toContain(
      'add "permissions": {"ask":["!kid__plain"],"allow":["kid__plain"]} to',
    );
  });

  test('by a modern host in another round', async () => {
    const project = guarded({ default: 'ask' });
    const host = new RawHost(project);
    const call = (more: object = {}) =>
      host.request('tools/call', {
        name: 'box_suite',
        arguments: { action: 'call', subtool: 'plain', args: { a: 1 } },
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
          'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
        },
        ...more,
      });
    const { result } = await call();
    expect(result).toMatchObject({ resultType: 'input_required' });
    expect(usedTools(project)).toEqual([]);
    const [key = ''] = Object.keys(result?.['inputRequests'] ?? {});
    const response = { action: 'accept', content: { answer: 'once' } };
    const done = await call({
      requestState: result?.['requestState'],
      inputResponses: { [key]: response },
    });
    expect(textOf(done)).toBe('called plain');
  });

  slow('on the command line, and declined without a terminal', async () => {
    const project = guarded({ ask: ['box'] });
    const { status, stderr } = await runSwitchboard(project, ['call', 'box.plain']);
    expect(status).toBe(4);
    expect(stderr).toContain('Allow this call? Tool "plain" of server "box"');
    expect(stderr).toContain('there is no terminal');
    expect(usedTools(project)).toEqual([]);
  });
});

slow("a project's file can tighten the user's permissions and never loosen them", async () => {
  const project = guarded(
    { deny: ['box__delete_file'] },
    {},
    { permissions: { default: 'allow', allow: ['box'], deny: ['box__plain'] } },
  );
  const host = await RawHost.connect(project);
  expect(failed(await host.call('box', 'delete_file'))).toBe(true);
  expect(failed(await host.call('box', 'plain'))).toBe(true);
  expect(failed(await host.call('box', 'read_file'))).toBe(false);
});

describe('switchboard permissions explain', () => {
  const explain = async (project: Project, ...words: string[]) => {
    const { stdout, status } = await runSwitchboard(project, [
      'permissions',
      'explain',
      ...words,
      '--json',
    ]);
    expect(status).toBe(0);
    return JSON.parse(stdout) as Record<string, unknown>;
  };

  test('shows which rule applies', async () => {
    const project = guarded({ default: 'ask', allow: ['box__@read'], deny: ['box__del*'] });
    const file = join(project.dir, USER_FILE);
    expect(await explain(project, 'box', 'delete_file')).toMatchObject({
      server: 'box',
      tool: 'delete_file',
      permission: 'deny',
      by: 'deny',
      rule: 'box__del*',
      file,
      because: `permissions.deny "box__del*" in ${file}`,
      warnings: [],
    });
    expect(project.used()).toEqual([]);
    expect(await explain(project, 'box', 'read_file')).toMatchObject({
      permission: 'allow',
      rule: 'box__@read',
      annotations: { readOnlyHint: true },
      listed: true,
    });
    expect(await explain(project, 'box', 'plain')).toMatchObject({
      permission: 'ask',
      by: 'default',
    });
    const { stdout } = await runSwitchboard(project, ['permissions', 'explain', 'box', 'plain']);
    expect(stdout).toBe(
      `box plain: ask\n  permissions.default in ${file}\n  Annotations (or their defaults): writes, may be destructive, may reach external systems.\n`,
    );
  });

  slow('knows expose, servers that are off, and names that nobody lists', async () => {
    const hidden = guarded({}, { expose: { deny: ['plain'] } });
    expect(await explain(hidden, 'box', 'plain')).toMatchObject({
      permission: 'deny',
      by: 'expose',
    });
    const off = guarded({}, { show: 'off' });
    expect(await explain(off, 'box', 'plain')).toMatchObject({ permission: 'deny', by: 'show' });
    const unknown = guarded({ ask: ['box'] });
    expect(await explain(unknown, 'box', 'plan')).toMatchObject({
      permission: 'ask',
      listed: false,
    });
    const { stdout } = await runSwitchboard(unknown, ['permissions', 'explain', 'box', 'plan']);
    expect(stdout).toContain(`The server doesn't list it. Did you mean "plain"?`);
    const { status, stderr } = await runSwitchboard(unknown, ['permissions', 'explain', 'bx', 'x']);
    expect([status, stderr]).toEqual([2, expect.stringContaining('Did you mean box?')]);
  });
});

test('rules that match nothing cause a warning with the nearest name', async () => {
  const project = guarded({ deny: ['bx__plain', 'box__plian'] });
  const host = await RawHost.connect(project);
  await host.call('box', 'read_file');
  expect(await host.lastWords()).toContain(
    'permissions.deny: "bx__plain" matches no server. Did you mean "box"?',
  );
  const { stdout } = await runSwitchboard(project, ['config', 'check', '--json']);
  const { warnings } = JSON.parse(stdout) as { warnings: string[] };
  expect(warnings).toEqual([
    expect.stringContaining('"bx__plain" matches no server. Did you mean "box"?'),
    expect.stringContaining(
      '"box__plian" matches no tool, prompt or resource. Did you mean "box__plain"?',
    ),
  ]);
});
