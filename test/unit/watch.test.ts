// A running project notices changes to its files on disk: valid ones take effect, broken ones don't, and nothing of a
// file that came with a repository counts before it's approved.
import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { askRunning } from '../../src/host/control-client.ts';
import { Project } from '../../src/project.ts';
import { recordDecisions } from '../../src/trust/approvals/decide.ts';
import { openView } from '../support/fake-board.ts';
import { commitAll } from '../support/git.ts';
import { createProject, type Project as Folder } from '../support/project.ts';
import { MOCK_CHILD } from '../support/servers.ts';

const MAIN = 'switchboard.config.json';
const servers = (...names: string[]) => ({
  mcpServers: Object.fromEntries(names.map((name) => [name, MOCK_CHILD])),
});
const child = (name: string) => ({ name, command: { cmd: 'node', args: ['server.js'] } });
const agent = (name: string) => `---\nname: ${name}\ndescription: Reviews.\n---\nReview.\n`;

/** A project that is being watched, with a host. */
async function open({ dir, env }: Folder, more: Record<string, string | undefined> = {}) {
  const logged: string[] = [];
  const note = (line: string): void => void logged.push(line);
  // File systems know only roughly when a file was written, so a young one is read again.
  const now = Date.now();
  await expect.poll(() => Date.now() - now).toBeGreaterThan(50);
  const project = await Project.open({
    folder: dir,
    environment: { ...env, SWITCHBOARD_WATCH: undefined, ...more },
    hasAgents: true,
    log: { debug: () => {}, info: note, warn: note, error: note, child: () => {} },
  });
  onTestFinished(() => project[Symbol.asyncDispose]());
  const changes: string[] = [];
  const { session, close } = project.switchboard.openSession({
    send: (json) => {
      const { method } = JSON.parse(json) as { method?: string };
      if (method !== undefined) changes.push(method);
    },
  });
  onTestFinished(close);
  const send = (message: object): void => {
    const text = JSON.stringify({ jsonrpc: '2.0', ...message });
    session.receive({ text, value: JSON.parse(text), framing: 'newline' });
  };
  const clientInfo = { name: 'test', version: '1' };
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  send({ id: 1, method: 'initialize', params });
  send({ method: 'notifications/initialized' });
  project.watchSoon({ afterMs: 0, quietMs: 50 });
  const isWatching = () => project.isWatching;
  await expect.poll(isWatching).toBe(more['SWITCHBOARD_WATCH'] === undefined);
  const names = () => [...project.config.children.keys()].sort();
  return { project, logged, changes, names };
}

describe('changes that take effect, with one notification', () => {
  test('to the main file', async () => {
    const folder = createProject({ [MAIN]: servers('one') });
    const { names, changes, logged } = await open(folder);
    folder.write(MAIN, servers('one', 'two'));
    await expect.poll(names).toEqual(['one', 'two']);
    await expect.poll(() => changes).toEqual(['notifications/tools/list_changed']);
    expect(logged.filter((line) => line.startsWith('reloaded'))).toEqual([
      `reloaded the configuration, because files have changed: ${join(folder.dir, MAIN)}.`,
    ]);
  });

  test('to the main file, by an editor that replaces it', async () => {
    const folder = createProject({ [MAIN]: servers('one') });
    const { names } = await open(folder);
    renameSync(folder.write('new~', servers('two')), join(folder.dir, MAIN));
    await expect.poll(names).toEqual(['two']);
    rmSync(join(folder.dir, MAIN));
    await expect.poll(names).toEqual([]);
    folder.write('switchboard.config.jsonc', servers('three'));
    await expect.poll(names).toEqual(['three']);
  });

  test("in the user's files, even if there were none", async () => {
    const folder = createProject();
    const { names } = await open(folder);
    folder.write('home/.switchboard/servers.json', servers('mine').mcpServers);
    await expect.poll(names).toEqual(['mine']);
    folder.write('home/.switchboard/switchboard.config.json', servers('more'));
    await expect.poll(names).toEqual(['mine', 'more']);
  });

  test('in a folder of a server that is created, changed and removed', async () => {
    const folder = createProject();
    const { names, project } = await open(folder);
    folder.write('mcps/x/.mcp.json', child('x'));
    await expect.poll(names).toEqual(['x']);
    folder.write('mcps/y/.mcp.json', child('y'));
    await expect.poll(names).toEqual(['x', 'y']);
    folder.write('mcp-descriptions.json', { mcps: { x: 'About x.' } });
    await expect.poll(() => project.config.children.get('x')?.notedDescription).toBe('About x.');
    rmSync(join(folder.dir, 'mcps'), { recursive: true });
    await expect.poll(names).toEqual([]);
  });

  test('to what a link points to', async () => {
    const folder = createProject({ 'shared/one.json': servers('one') });
    symlinkSync('shared/one.json', join(folder.dir, MAIN));
    const { names } = await open(folder);
    folder.write('shared/one.json', servers('two'));
    await expect.poll(names).toEqual(['two']);
  });

  test('to agents, and to folders for them that appear later', async () => {
    const folder = createProject();
    const { project, changes } = await open(folder);
    const agents = () => openView(project.switchboard.board).view.listTools().length;
    const before = agents();
    folder.write('.claude/agents/review.md', agent('review'));
    await expect.poll(agents).toBe(before + 1);
    folder.write('.claude/agents/team/check.md', agent('check'));
    await expect.poll(agents).toBe(before + 2);
    folder.write('home/.agents/tidy.toml', 'name = "tidy"\ndescription = "Tidies."\n');
    rmSync(join(folder.dir, '.claude'), { recursive: true });
    await expect.poll(agents).toBe(before + 1);
    expect(new Set(changes)).toEqual(new Set(['notifications/tools/list_changed']));
  });

  test('to files that the configuration names', async () => {
    const folder = createProject({
      'conf/main.json': { serversFile: 'conf/list.json', discoverGlobs: ['tools/**/*.mcp.json'] },
      'conf/list.json': servers('one').mcpServers,
    });
    const { names } = await open(folder, { SWITCHBOARD_CONFIG: 'conf/main.json' });
    folder.write('conf/list.json', servers('two').mcpServers);
    await expect.poll(names).toEqual(['two']);
    folder.write('tools/a/b/c.mcp.json', child('c'));
    await expect.poll(names).toEqual(['c', 'two']);
    folder.write('conf/main.json', servers('three'));
    await expect.poll(names).toEqual(['three']);
  });
});

/** The report of the only project that runs with this home. */
async function status({ dir }: Folder): Promise<Record<string, unknown> | undefined> {
  const [answer] = await askRunning(join(dir, 'home/.switchboard'), 'status', 10_000);
  return answer?.value as Record<string, unknown> | undefined;
}

describe('broken files', () => {
  test('keep the previous configuration, which status and one message say', async () => {
    const folder = createProject({ [MAIN]: servers('one') });
    const { names, logged, project } = await open(folder);
    project.openControlSoon(() => {});
    const about = () => logged.filter((line) => line.startsWith('could not reload'));
    folder.write(MAIN, '{ "mcpServers": { "two": ');
    await expect.poll(about).toHaveLength(1);
    expect(about()[0]).toContain('keeping the previous one');
    expect(names()).toEqual(['one']);
    await expect.poll(async () => (await status(folder))?.['configProblem']).toContain(MAIN);
    folder.write(MAIN, '{ "mcpServers": { "two": \n'); // as broken as before
    const other = '{\n"mcpServers": {';
    folder.write(MAIN, other);
    await expect.poll(about).toHaveLength(2);
    folder.write(MAIN, servers('two'));
    await expect.poll(names).toEqual(['two']);
    expect((await status(folder))?.['configProblem']).toBeUndefined();
    expect(about()).toHaveLength(2);
  });

  test.each([
    ['mcps/x/.mcp.json', '{ "name": "x", '],
    ['mcp-descriptions.json', '{'],
    ['home/.switchboard/config.toml', '[agents'],
    ['home/.switchboard/servers.json', '['],
    ['.agents/tidy.toml', 'name = "tidy'],
  ])('%s', async (file, text) => {
    const folder = createProject({
      [MAIN]: servers('one'),
      'mcps/x/.mcp.json': child('x'),
      '.agents/tidy.toml': 'name = "tidy"\ndescription = "Tidies."\n',
    });
    const { names, logged } = await open(folder);
    const before = names();
    folder.write(file, text);
    await expect.poll(() => logged.filter((line) => line.includes('previous'))).toHaveLength(1);
    expect(logged.join('\n')).toContain(join(folder.dir, file));
    expect(names()).toEqual(before);
    rmSync(join(folder.dir, file));
    await expect.poll(() => logged.filter((line) => line.startsWith('reloaded'))).toHaveLength(1);
  });

  test('one that was broken from the start does not hold up changes to others', async () => {
    const folder = createProject({ [MAIN]: servers('one'), 'mcps/x/.mcp.json': '{' });
    const { names } = await open(folder);
    folder.write(MAIN, servers('one', 'two'));
    await expect.poll(names).toEqual(['one', 'two']);
  });
});

describe('files that came with a repository', () => {
  const cloned = (): Folder => {
    const folder = createProject({ [MAIN]: servers('one'), '.gitignore': 'home\n' });
    folder.write('mcps/x/.mcp.json', child('x'));
    commitAll(folder.dir);
    return folder;
  };
  const pending = ({ project }: { project: Project }) =>
    [...project.config.children.values()]
      .filter(({ problem }) => problem?.code === 'APPROVAL_NEEDED')
      .map(({ name, command }) => [name, command]);

  /** As `switchboard trust approve --all` does. */
  const approve = async ({ project }: { project: Project }): Promise<void> => {
    const { home, gate } = project.config;
    await recordDecisions(home, gate?.judge?.judged ?? [], 'approved');
    await project.reload();
  };

  test('stay inert when they change, and a broken one holds up nothing', async () => {
    const folder = cloned();
    const opened = await open(folder);
    expect(pending(opened)).toHaveLength(2);
    folder.write(MAIN, servers('one', 'two'));
    await expect.poll(() => pending(opened)).toHaveLength(3);
    expect(pending(opened).map(([, command]) => command)).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    folder.write('mcps/x/.mcp.json', '{');
    await expect.poll(() => pending(opened)).toHaveLength(2);
    folder.write('home/.switchboard/servers.json', servers('mine').mcpServers);
    await expect.poll(opened.names).toContain('mine');
    expect(pending(opened)).toHaveLength(2);
  });

  test('an approved server whose file is changed has to be approved again', async () => {
    const folder = cloned();
    const opened = await open(folder);
    await approve(opened);
    expect(pending(opened)).toEqual([]);
    folder.write(MAIN, { mcpServers: { one: { ...MOCK_CHILD, env: { EVIL: '1' } } } });
    await expect.poll(() => pending(opened)).toEqual([['one', undefined]]);
    await approve(opened);
    expect(pending(opened)).toEqual([]);
  });
});

describe('switched off', () => {
  test('by the environment', async () => {
    const folder = createProject({ [MAIN]: servers('one') });
    const { project } = await open(folder, { SWITCHBOARD_WATCH: '0' });
    expect(project.isWatching).toBe(false);
  });

  test('by a file, and a mistake in the variable is a warning', async () => {
    const { dir, env } = createProject({ [MAIN]: { watch: false } });
    const load = (text: string) =>
      loadConfig({ cwd: dir, env: { ...env, SWITCHBOARD_WATCH: text } });
    expect((await load('1')).watch).toBe(false);
    const { warnings } = await load('maybe');
    expect(warnings.join()).toContain('SWITCHBOARD_WATCH must be true or false');
  });

  test('while it runs', async () => {
    const folder = createProject({ [MAIN]: servers('one') });
    const { project, names } = await open(folder);
    folder.write(MAIN, { ...servers('one'), watch: false });
    await expect.poll(() => project.config.watch).toBe(false);
    await expect.poll(() => project.isWatching).toBe(false);
    folder.write(MAIN, servers('one', 'two'));
    await project.reload();
    expect(names()).toEqual(['one', 'two']);
  });
});

test('a reload by someone else is not repeated', async () => {
  const folder = createProject({ [MAIN]: servers('one') });
  const { project, logged, names } = await open(folder);
  folder.write(MAIN, servers('one', 'two'));
  await project.reload();
  mkdirSync(join(folder.dir, 'mcps'));
  folder.write('mcps/x/.mcp.json', child('x'));
  await expect.poll(names).toEqual(['one', 'two', 'x']);
  expect(logged.filter((line) => line.startsWith('reloaded'))).toHaveLength(2);
});
