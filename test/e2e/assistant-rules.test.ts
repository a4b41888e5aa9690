// An assistant in a server's folder, behind a Switchboard: what the configuration says about the server
// holds for it, wherever it is said and whenever, and so does what is called off.
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createScene, memoryServer } from '../support/assistant.ts';
import { runSwitchboard } from '../support/command.ts';
import { type Script, startModelServer } from '../support/model-server-chat.ts';
import { eventually } from '../support/processes.ts';
import { createProject, FIXTURES } from '../support/project.ts';
import { RawHost, textOf } from '../support/raw-host.ts';

const DENY = { expose: { deny: ['read_graph'] } };
const QUERY = { query: 'what do you know?' };
/** What the model is told, and which tools it has. */
const tells: Script = ({ tools, system, model }) => ({
  text: JSON.stringify({ model, tools: tools.map(({ name }) => name), role: system.slice(0, 40) }),
});

/** A server with a folder of its own, for which an assistant has been switched on there. */
async function laidOut(place = '.switchboard/mcps/memory', more: readonly string[] = []) {
  const model = await startModelServer(tells);
  const project = createProject();
  const { command, args, env } = memoryServer(project.dir);
  const own = { name: 'memory', command: { cmd: command, args: [...args, project.dir], env } };
  const folder = join(project.dir, place);
  project.write(`${place}/.mcp.json`, own);
  const withModel = { ...project, env: { ...project.env, ...model.env('messages') } };
  const run = (...words: string[]) => runSwitchboard(withModel, [...words, ...more]);
  const switchOn = async () => expect((await run('assistant', 'memory', 'on')).status).toBe(0);
  return { project: withModel, own, folder, place, run, switchOn };
}

async function answerOf(host: RawHost): Promise<{ tools: string[]; role: string; model: string }> {
  const text = textOf(await host.call('memory', 'natural_language', QUERY));
  return JSON.parse(text) as Awaited<ReturnType<typeof answerOf>>;
}

async function reload(host: RawHost): Promise<void> {
  const before = host.stderr.length;
  host.process.kill('SIGHUP');
  const hasRead = () => host.stderr.slice(before).includes('reloaded the configuration');
  expect(await eventually(hasRead)).toBe(true);
}

test('changes made after switching on take effect with a reload', async () => {
  const { project, switchOn, folder, own } = await laidOut();
  await switchOn();
  const host = await RawHost.connect(project);
  expect((await answerOf(host)).tools).toContain('read_graph');

  project.write('switchboard.config.json', { suites: { memory: DENY } });
  await reload(host);
  const denied = await answerOf(host);
  expect(denied.tools).not.toContain('read_graph');
  expect(denied.tools).toContain('search_nodes');

  writeFileSync(join(folder, 'CLAUDE.md'), 'You are a librarian.');
  await reload(host);
  expect((await answerOf(host)).role).toMatch(/^You are a librarian\./);

  const original = { ...own, expose: { allow: ['open_nodes', 'read_graph'] } };
  writeFileSync(join(folder, 'original/.mcp.json'), JSON.stringify(original));
  await reload(host);
  // The rules of both places hold.
  expect((await answerOf(host)).tools).toEqual(['open_nodes']);
});

test('a file named on the command line applies', async () => {
  const { project, switchOn } = await laidOut();
  await switchOn();
  const file = project.write('elsewhere/other.json', { suites: { memory: DENY } });
  const host = await RawHost.connect(project, { args: ['serve', '--config', file] });
  expect((await answerOf(host)).tools).not.toContain('read_graph');
});

test('a folder in a custom location finds the same rules', async () => {
  const discoverGlobs = ['servers/deep/*/.mcp.json'];
  const { project, switchOn } = await laidOut('servers/deep/memory');
  project.write('switchboard.config.json', { discoverGlobs });
  await switchOn();
  project.write('switchboard.config.json', { discoverGlobs, suites: { memory: DENY } });
  const host = await RawHost.connect(project);
  expect((await answerOf(host)).tools).not.toContain('read_graph');
});

test('rules in the file that starts the wrapper apply', async () => {
  const { project, switchOn, place, folder } = await laidOut();
  await switchOn();
  const wrapper = JSON.parse(readFileSync(join(folder, '.mcp.json'), 'utf8')) as object;
  project.write(`${place}/.mcp.json`, { ...wrapper, ...DENY });
  const host = await RawHost.connect(project);
  expect((await answerOf(host)).tools).not.toContain('read_graph');
});

test('a wrapper in name only is an ordinary server', async () => {
  const place = '.switchboard/mcps/kid';
  const project = createProject({
    [`${place}/.mcp.json`]: {
      name: 'kid',
      command: { cmd: process.execPath, args: ['kid-claude-wrapper.mjs'], env: {} },
    },
    [`${place}/original/.mcp.json`]: { name: 'kid', command: 'nothing' },
    'switchboard.config.json': { suites: { kid: { expose: { deny: ['ask'] } } } },
  });
  const folder = join(project.dir, place);
  copyFileSync(join(FIXTURES, 'servers/asks.mjs'), join(folder, 'kid-claude-wrapper.mjs'));
  copyFileSync(join(FIXTURES, 'servers/server.mjs'), join(folder, 'server.mjs'));
  const host = await RawHost.connect(project);
  const { result } = await host.call('kid', 'ask');
  expect(result).toMatchObject({ isError: true });
  expect(result?.content?.[0]?.text).toContain("Subtool 'ask' not allowed");
});

test('settings in the server’s own file also apply outside', async () => {
  const { folder, own, switchOn, run, project } = await laidOut();
  await switchOn();
  const assistant = { model: 'my-own-model', timeoutMs: 300_000 };
  writeFileSync(join(folder, 'original/.mcp.json'), JSON.stringify({ ...own, assistant }));
  expect((await run('assistant', 'memory')).stdout).toContain('model: my-own-model (anthropic)');
  expect((await run('doctor')).stdout).toContain('through an assistant (anthropic, my-own-model)');
  const printed = JSON.parse((await run('config', 'print')).stdout) as {
    children: { timeouts: object }[];
  };
  expect(printed.children[0]?.timeouts).toMatchObject({ rpcMs: 315_000 });
  const host = await RawHost.connect(project);
  expect((await answerOf(host)).model).toBe('my-own-model');
});

test('a new role in mcp-descriptions.json takes effect with a reload', async () => {
  const scene = await createScene(tells, memoryServer);
  const host = await RawHost.connect(scene.project, { env: scene.env });
  const role = async () => textOf(await host.call('kid', 'natural_language', QUERY));
  expect(await role()).not.toContain('gardener');
  scene.project.write('mcp-descriptions.json', {
    mcps: { kid: { claude: 'You are a gardener.' } },
  });
  await reload(host);
  expect(await role()).toContain('You are a gardener.');
});

test('CLAUDE.md also applies if the configuration switches the assistant on', async () => {
  const { project, folder } = await laidOut();
  writeFileSync(join(folder, 'CLAUDE.md'), 'You are a librarian.');
  project.write('switchboard.config.json', { suites: { memory: { assistant: true } } });
  const host = await RawHost.connect(project);
  expect((await answerOf(host)).role).toMatch(/^You are a librarian\./);
});

test('cancelling a query while the user is asked also cancels it in the server', async () => {
  const script: Script = ({ results }) =>
    results[0] ? { text: results[0].text } : { calls: [{ name: 'ask', args: {} }] };
  const heard = join(createProject().dir, 'heard');
  writeFileSync(heard, '');
  const program = join(FIXTURES, 'servers/asks.mjs');
  const entry = { command: process.execPath, args: [program, heard] };
  const scene = await createScene(script, () => entry);
  const host = new RawHost(scene.project, { env: scene.env });
  await host.request('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: { elicitation: {} },
    clientInfo: { name: 'test', version: '1' },
  });
  host.notify('notifications/initialized');
  const questions = () =>
    host.messages.filter(({ method }) => method === 'elicitation/create').length;
  const cancelled = () =>
    readFileSync(heard, 'utf8')
      .split('\n')
      .filter((line) => line.includes('notifications/cancelled')).length;
  for (let time = 1; time <= 3; time++) {
    void host.call('kid', 'natural_language', { query: 'ask me' }, `query-${time}`);
    expect(await eventually(() => questions() === time)).toBe(true);
    host.notify('notifications/cancelled', { requestId: `query-${time}` });
    expect(await eventually(() => cancelled() === time)).toBe(true);
  }
  // Each was asked for once, and nobody went on with what came of it.
  expect(scene.model.requests).toHaveLength(3);
  const asked = host.messages.findLast(({ method }) => method === 'elicitation/create');
  void host.call('kid', 'natural_language', { query: 'ask me' }, 'last');
  expect(await eventually(() => questions() === 4)).toBe(true);
  const last = host.messages.findLast(({ method }) => method === 'elicitation/create');
  expect(last?.['id']).not.toBe(asked?.['id']);
  const answered = eventually(() =>
    host.messages.some(({ id, result }) => id === 'last' && result !== undefined),
  );
  host.send({
    jsonrpc: '2.0',
    id: last?.['id'],
    result: { action: 'accept', content: { name: 'Ada' } },
  });
  expect(await answered).toBe(true);
});

test('without a model, a call fails like a failed tool', async () => {
  const scene = await createScene(tells, memoryServer);
  const args = ['call', 'kid', 'natural_language', JSON.stringify(QUERY)];
  const env = { ANTHROPIC_API_KEY: '', PATH: '/nowhere' };
  const { status, stdout } = await runSwitchboard(scene.project, args, { env });
  expect(status).toBe(4);
  expect(stdout).toContain('No model is available for the assistant');
});

test('the assistant gets the wrapper’s own settings', async () => {
  const { project, switchOn, place, folder } = await laidOut();
  await switchOn();
  const wrapper = JSON.parse(readFileSync(join(folder, '.mcp.json'), 'utf8')) as {
    command: object;
  };
  const env = { SWITCHBOARD_ASSISTANT_MODEL: 'a-model-of-its-own' };
  project.write(`${place}/.mcp.json`, { ...wrapper, command: { ...wrapper.command, env } });
  const host = await RawHost.connect(project);
  expect((await answerOf(host)).model).toBe('a-model-of-its-own');
});
