// Assistants and the rest of the program: how they are shown, switched on and off, looked at with
// commands, read anew, and laid out in a folder of their own.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { wrapperScript } from '../../src/install/assistant-texts.ts';
import { createScene, launchOf, memoryServer, type Scene } from '../support/assistant.ts';
import { runSwitchboard } from '../support/command.ts';
import { activate, becomes, GATEWAY, reaches } from '../support/gateway.ts';
import { KEY, type Script, startModelServer } from '../support/model-server-chat.ts';
import { eventually, processesWith } from '../support/processes.ts';
import { createProject, ROOT } from '../support/project.ts';
import { startEverything } from '../support/published-http.ts';
import { RawHost, textOf, toolsOf } from '../support/raw-host.ts';
import { connectV2, startServing } from '../support/serve-http.ts';
import { testServer } from '../support/servers.ts';
import { V1, V2_MODERN } from './matrix/hosts.ts';

const QUERY = { query: 'what do you know?' };
const says: Script = ({ said }) => ({ text: `You asked: ${said.at(-1)}` });

function configure({ project }: Scene, kid: object, more: object = {}): void {
  project.write('switchboard.config.json', { mcpServers: { kid }, ...more });
}

const listed = async (host: RawHost): Promise<string[]> =>
  toolsOf(await host.introspect('kid')).map(({ name }) => name);

test('is listed directly if its server is', async () => {
  const scene = await createScene(says, (dir) => ({ ...memoryServer(dir), show: 'direct' }));
  const host = await RawHost.connect(scene.project, { env: scene.env });
  expect(await becomes(async () => (await host.toolNames()).includes('natural_language'))).toBe(
    true,
  );
  for (const name of ['natural_language', 'converse']) {
    expect(textOf(await host.callTool(name, QUERY))).toBe('You asked: what do you know?');
  }
});

test('can be switched on and off if its server can', async () => {
  const scene = await createScene(says, (dir) => ({ ...memoryServer(dir), show: 'flip' }));
  const host = await RawHost.connect(scene.project, { env: scene.env });
  expect(await host.toolNames()).toEqual(GATEWAY);
  await reaches(host, 'kid', 'ready');
  await activate(host, 'kid');
  expect(await host.toolNames()).toEqual([...GATEWAY, 'natural_language']);
  const answer = await host.callTool('natural_language', QUERY);
  expect(textOf(answer)).toBe('You asked: what do you know?');
});

test('a remote server can also have one', async () => {
  const server = await startEverything('streamableHttp');
  onTestFinished(() => server.stop());
  const script: Script = ({ results }) =>
    results[0]
      ? { text: results[0].text }
      : { calls: [{ name: 'echo', args: { message: 'Darjeeling' } }] };
  const scene = await createScene(script, memoryServer);
  configure(scene, { url: server.url, assistant: true });
  const host = await RawHost.connect(scene.project, { env: scene.env });
  expect(textOf(await host.call('kid', 'natural_language', QUERY))).toBe('Echo: Darjeeling');
});

test('answers with Content-Length if the host uses it', async () => {
  const scene = await createScene(says, memoryServer);
  const host = await RawHost.connect(scene.project, {
    framing: 'content-length',
    args: ['assistant', 'serve', 'kid'],
    env: scene.env,
  });
  expect(await host.toolNames()).toEqual(['natural_language']);
  expect(textOf(await host.callTool('natural_language', QUERY))).toContain('You asked');
  const { error } = await host.callTool('natural_language');
  expect(error).toMatchObject({ code: -32000, data: { code: 'TOOL_ARGUMENTS' } });
  expect(host.impure).toEqual([]);
});

test.each([['serve'], ['assistant', 'serve', 'kid']])(
  'a server that is slow to exit gets its time: %s %s',
  async (...args) => {
    const script: Script = ({ results }) =>
      results[0] ? { text: 'Done.' } : { calls: [{ name: 'work', args: {} }] };
    const scene = await createScene(script, (dir) =>
      testServer('leaves-slowly', join(dir, 'left.txt')),
    );
    const host = await RawHost.connect(scene.project, { args, env: scene.env });
    const call = { name: 'natural_language', arguments: QUERY };
    const inSuite = { action: 'call', subtool: call.name, args: QUERY };
    await host.request(
      'tools/call',
      args[0] === 'serve' ? { name: 'kid_suite', arguments: inSuite } : call,
    );
    await host.close();
    expect(readFileSync(join(scene.project.dir, 'left.txt'), 'utf8')).toBe('properly');
  },
);

test('other servers do not change', async () => {
  const scene = await createScene(says, memoryServer);
  const kid = memoryServer(scene.project.dir);
  scene.project.write('switchboard.config.json', {
    mcpServers: { kid: { ...kid, assistant: true }, other: kid },
  });
  const host = await RawHost.connect(scene.project, { env: scene.env });
  expect(await listed(host)).toEqual(['natural_language']);
  expect(toolsOf(await host.introspect('other')).map(({ name }) => name)).toContain('read_graph');
});

test('the server’s cached lists are not used for its assistant', async () => {
  const scene = await createScene(says, memoryServer);
  const kid = memoryServer(scene.project.dir);
  configure(scene, { ...kid, show: 'direct' });
  const before = await RawHost.connect(scene.project, { env: scene.env });
  expect(await becomes(async () => (await before.toolNames()).includes('read_graph'))).toBe(true);
  await before.close();

  configure(scene, { ...kid, show: 'direct' }, { suites: { kid: { assistant: true } } });
  const after = await RawHost.connect(scene.project, { env: scene.env });
  expect(await after.toolNames()).not.toContain('read_graph');
  expect(await becomes(async () => (await after.toolNames()).includes('natural_language'))).toBe(
    true,
  );
});

test('a reload changes its configuration and switches it off', async () => {
  const script: Script = ({ tools }) => ({ text: tools.map(({ name }) => name).join() });
  const scene = await createScene(script, memoryServer);
  const kid = { ...memoryServer(scene.project.dir), assistant: true };
  const host = await RawHost.connect(scene.project, { env: scene.env });
  const reload = async (): Promise<void> => {
    const before = host.stderr.length;
    host.process.kill('SIGHUP');
    const hasRead = () => host.stderr.slice(before).includes('reloaded the configuration');
    expect(await eventually(hasRead)).toBe(true);
  };
  expect(textOf(await host.call('kid', 'natural_language', QUERY))).toContain('search_nodes');
  configure(scene, { ...kid, expose: { allow: ['read_graph'] } });
  await reload();
  expect(textOf(await host.call('kid', 'natural_language', QUERY))).toBe('read_graph');
  configure(scene, { ...kid, assistant: false });
  await reload();
  expect(await listed(host)).toContain('search_nodes');
});

test('hosts that share a Switchboard do not share conversations', async () => {
  const scene = await createScene(says, memoryServer);
  const serving = await startServing(scene.project, { env: scene.env });
  const call = { action: 'call', subtool: 'natural_language', args: QUERY };
  for (const mode of ['legacy', 'auto'] as const) {
    const host = await connectV2(mode)(serving);
    await host.callTool('kid_suite', call);
  }
  expect(scene.model.requests.map(({ said }) => said.length)).toEqual([1, 1]);
});

describe('on the command line', () => {
  test('call, tools, doctor and config print support it', async () => {
    const scene = await createScene(says, memoryServer);
    const run = (...args: string[]) => runSwitchboard(scene.project, args, { env: scene.env });
    const call = await run('call', 'kid', 'natural_language', JSON.stringify(QUERY));
    expect(call).toMatchObject({ status: 0, stdout: 'You asked: what do you know?\n' });
    expect((await run('tools', 'kid')).stdout).toContain('natural_language');
    const doctor = await run('doctor');
    expect(doctor.stdout).toContain('9 tools');
    expect(doctor.stdout).toContain(
      'note: hosts use it through an assistant (anthropic, claude-haiku-5-5).',
    );
    const printed = await run('config', 'print');
    const [kid] = (JSON.parse(printed.stdout) as { children: Record<string, object>[] }).children;
    expect(kid).toMatchObject({
      command: { env: {} },
      behind: { command: { env: { MEMORY_FILE_PATH: '***' } } },
    });
    expect(printed.stdout).not.toContain(KEY);
  });

  test('doctor reports a missing key', async () => {
    const scene = await createScene(says, memoryServer);
    const env = { ANTHROPIC_API_KEY: '', PATH: '/nowhere' };
    const { stdout } = await runSwitchboard(scene.project, ['doctor'], { env });
    expect(stdout).toContain('note: No model is available for the assistant');
  });

  test('requires an existing server', async () => {
    const scene = await createScene(says, memoryServer);
    const serve = ['assistant', 'serve'];
    expect(await runSwitchboard(scene.project, serve)).toEqual({
      status: 2,
      stdout: '',
      stderr:
        'switchboard: Missing server name.\nFor example: switchboard assistant serve memory\n',
    });
    const other = await runSwitchboard(scene.project, [...serve, 'kit']);
    expect(other).toMatchObject({ status: 2 });
    expect(other.stderr).toContain('No server is named "kit".\nDid you mean kid?');
  });

  test('an invalid setting is reported with its location', async () => {
    const scene = await createScene(says, memoryServer);
    configure(scene, { command: 'x', assistant: { mode: 'chat' } });
    const { status, stdout } = await runSwitchboard(scene.project, ['config', 'check']);
    expect(status).toBe(2);
    expect(stdout).toContain('mcpServers.kid.assistant');
  });
});

test('SWITCHBOARD_INTELLIGENT_TARGET names the server, _SYSTEM_PROMPT the role', async () => {
  const env = {
    SWITCHBOARD_INTELLIGENT_TARGET: 'kid',
    SWITCHBOARD_INTELLIGENT_SYSTEM_PROMPT: 'You are a librarian.',
    SWITCHBOARD_INTELLIGENT_MODEL: 'some-model',
  };
  const scene = await createScene(says, memoryServer, env);
  const host = await RawHost.connect(scene.project, {
    args: ['assistant', 'serve'],
    env: scene.env,
  });
  expect(textOf(await host.callTool('natural_language', QUERY))).toBe(
    'You asked: what do you know?',
  );
  const [request] = scene.model.requests;
  expect(request?.system).toMatch(/^You are a librarian\.\n\nUse the tools/);
  expect(request?.model).toBe('some-model');
});

test('the server stops when idle and starts again', async () => {
  const env = { SWITCHBOARD_INTELLIGENT_IDLE_MS: '300' };
  const script: Script = ({ results }) =>
    results[0] ? { text: 'Done.' } : { calls: [{ name: 'read_graph', args: {} }] };
  const scene = await createScene(script, memoryServer, env);
  const host = await RawHost.connect(scene.project, { env: scene.env });
  const server = () => processesWith(`server-memory/dist/index.js ${scene.project.dir}`);
  for (let time = 0; time < 2; time++) {
    expect(textOf(await host.call('kid', 'natural_language', QUERY))).toBe('Done.');
    expect(await eventually(() => server().length === 0)).toBe(true);
  }
});

describe('a folder set up for an assistant', () => {
  async function layOut(suites: object = {}) {
    const model = await startModelServer(says);
    const project = createProject();
    const folder = join(project.dir, '.switchboard/mcps/kid');
    const runtime = pathToFileURL(join(ROOT, 'dist/assistant.js')).href;
    const script = 'kid-claude-wrapper.mjs';
    project.write(`.switchboard/mcps/kid/${script}`, wrapperScript('kid', runtime, undefined));
    project.write('.switchboard/mcps/kid/.mcp.json', {
      name: 'kid',
      description: 'long-term memory',
      command: { cmd: process.execPath, args: [script] },
    });
    const { command, args, env } = memoryServer('.');
    project.write('.switchboard/mcps/kid/original/.mcp.json', {
      name: 'kid',
      command: { cmd: command, args: [...args, project.dir], env },
    });
    project.write('.switchboard/mcps/kid/CLAUDE.md', '# Memory\n\nYou keep what people say.\n');
    project.write('switchboard.config.json', { suites });
    return { project, model, folder, env: { ...project.env, ...model.env('messages') } };
  }

  test('is served through its server’s suite', async () => {
    const scene = await layOut({ kid: { expose: { allow: ['read_graph'] } } });
    const host = await RawHost.connect(scene.project, { env: scene.env });
    expect(await listed(host)).toEqual(['natural_language']);
    const answer = await host.call('kid', 'natural_language', QUERY);
    expect(textOf(answer)).toBe('You asked: what do you know?');
    const [request] = scene.model.requests;
    expect(request?.system).toMatch(/^# Memory\n\nYou keep what people say\.\n\n/);
    // The rules are for the server's own tools, and hold there.
    expect(request?.tools.map(({ name }) => name)).toEqual(['read_graph']);
  });

  test.each([V1, V2_MODERN])('its script is a server itself: $name', async (driver) => {
    const { project, env, folder } = await layOut();
    const host = await driver.connect({
      ...launchOf('alone', { project, env }),
      args: [join(folder, 'kid-claude-wrapper.mjs')],
    });
    onTestFinished(async () => {
      await host.close();
      expect(await eventually(() => processesWith(project.dir).length === 0)).toBe(true);
    });
    expect((await host.listTools()).map(({ name }) => name)).toEqual(['natural_language']);
    const answer = await host.callTool('natural_language', QUERY);
    expect(answer).toMatchObject({ content: [{ text: 'You asked: what do you know?' }] });
  });

  test('reports a missing server file', async () => {
    const project = createProject({ 'kid/CLAUDE.md': 'You keep what people say.' });
    const { status, stderr } = await runSwitchboard(project, [
      'assistant',
      'serve',
      '--folder',
      'kid',
    ]);
    expect(status).toBe(2);
    expect(stderr).toContain(`File not found: ${join(project.dir, 'kid/original/.mcp.json')}.`);
    expect(existsSync(join(project.dir, 'kid/original'))).toBe(false);
    expect(readFileSync(join(project.dir, 'kid/CLAUDE.md'), 'utf8')).toContain('keep');
  });
});
