import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { expandCommand } from '../../../src/config/server/expand.ts';
import { createProject, type Project } from './temp-project.ts';

const CHILD = { command: 'node', args: ['a.js'] };
const OWN = '.switchboard/servers.json';
const OF_USER = '../home/.switchboard/servers.json';

async function namesIn(project: Project, options: Parameters<Project['load']>[0] = {}) {
  return [...(await project.load(options)).children.keys()];
}

describe('which file is read', () => {
  test('the project’s and the user’s, the project’s first; both are reported', async () => {
    const project = createProject({
      [OWN]: { mine: CHILD, both: { command: 'project' } },
      [OF_USER]: { both: { command: 'user', description: 'user' }, yours: CHILD },
    });
    const { children, files, warnings } = await project.load();
    expect([...children.keys()]).toEqual(['mine', 'both', 'yours']);
    expect(children.get('both')).toMatchObject({
      command: { cmd: 'project' },
      description: undefined,
    });
    expect(files.map(project.plain)).toEqual([
      '<project>/.switchboard/servers.json',
      '<home>/.switchboard/servers.json',
    ]);
    expect(warnings).toEqual([]);
  });

  test('once, if the project’s and the user’s are the same', async () => {
    const project = createProject({ [OWN]: { a: CHILD } });
    const { files } = await project.load({ env: { SWITCHBOARD_HOME: '.switchboard' } });
    expect(files).toEqual([join(project.folder, OWN)]);
  });

  test('only the one set in serversFile, or only the flag’s', async () => {
    const project = createProject({
      [OWN]: { usual: CHILD },
      [OF_USER]: { user: CHILD },
      'switchboard.config.json': { serversFile: 'sub/said.json' },
      'sub/said.json': { said: CHILD },
      'sub/flag.json': { flag: CHILD },
      '../home/tilde.json': { tilde: CHILD },
    });
    expect(await namesIn(project)).toEqual(['said']);
    // What a file says is meant from the project, what is typed from where one stands.
    const sub = { cwd: join(project.folder, 'sub'), env: { WORKSPACE_DIR: '..' } };
    expect(await namesIn(project, sub)).toEqual(['said']);
    expect(await namesIn(project, { ...sub, serversFile: 'flag.json' })).toEqual(['flag']);
    expect(await namesIn(project, { serversFile: '~/tilde.json' })).toEqual(['tilde']);
    project.write('switchboard.config.json', { serversFile: '~/tilde.json' });
    expect(await namesIn(project)).toEqual(['tilde']);
  });

  test('the project’s serversFile before the user’s', async () => {
    const project = createProject({
      '../home/.switchboard/switchboard.config.json': { serversFile: 'user.json' },
      'user.json': { user: CHILD },
      'project.json': { project: CHILD },
    });
    expect(await namesIn(project)).toEqual(['user']);
    project.write('switchboard.config.json', { serversFile: 'project.json' });
    expect(await namesIn(project)).toEqual(['project']);
  });

  test('a named file that is missing is an error that says what names it', async () => {
    const project = createProject({ 'switchboard.config.json': { serversFile: 'no.json' } });
    expect(await project.loadError()).toMatchInlineSnapshot(
      `"CONFIG_INVALID: File not found: <project>/no.json. Correct "serversFile" in <project>/switchboard.config.json, or remove it."`,
    );
    expect(await project.loadError({ serversFile: 'never.json' })).toMatchInlineSnapshot(
      `"CONFIG_INVALID: File not found: <project>/never.json. Correct --servers, or remove it."`,
    );
  });

  test('a script is not run, whatever its name', async () => {
    const project = createProject({ 'gateway.js': 'throw new Error("run")' });
    expect(await project.loadError({ serversFile: 'gateway.js' })).toContain(
      'gateway.js:1:1: Invalid JSON',
    );
  });
});

test('every other declaration takes precedence, and declarations are not merged', async () => {
  const weak = { command: 'weak', description: 'weak', suiteName: 'weak' };
  const project = createProject({
    'switchboard.config.json': { mcpServers: { main: { command: 'strong' } } },
    '../home/.switchboard/switchboard.config.json': {
      mcpServers: { user: { command: 'strong' }, main: weak },
    },
    'mcps/a/.mcp.json': { name: 'file', command: 'strong' },
    'mcps/b/.mcp.json': { name: 'user', ...weak },
    [OWN]: { main: weak, user: weak, file: weak, own: { command: 'strong' } },
    [OF_USER]: { own: weak },
  });
  const { children, warnings } = await project.load();
  expect([...children.values()].map(({ name, show }) => [name, show])).toEqual([
    ['main', 'suite'],
    ['user', 'suite'],
    ['file', 'suite'],
    ['own', 'flip'],
  ]);
  for (const child of children.values()) {
    expect(child).toMatchObject({
      command: { cmd: 'strong' },
      description: undefined,
      suiteName: undefined,
    });
  }
  expect(warnings).toEqual([]);
});

describe('its content', () => {
  test('may have comments, trailing commas and a BOM; all server keys apply', async () => {
    const project = createProject({
      [OWN]:
        '\uFEFF{ // mine\n"a": {"command": "x", "cwd": "sub", "env": {"A": 1}, "stderr": "drop",},\n}',
    });
    expect((await project.load()).children.get('a')).toMatchObject({
      command: { cmd: 'x', args: [], env: { A: '1' } },
      cwd: join(project.folder, 'sub'),
      stderr: 'drop',
    });
  });

  test('may be a host’s file with mcpServers', async () => {
    const project = createProject({
      [OWN]: { $schema: 'x', mcpServers: { a: CHILD, command: CHILD, url: CHILD }, inputs: [] },
    });
    const { children, warnings } = await project.load();
    expect([...children.keys()]).toEqual(['a', 'command', 'url']);
    expect(warnings).toEqual([]);
    project.write(OWN, { mcpServers: {} });
    expect(await namesIn(project)).toEqual([]);
  });

  test.each([{ command: 'x' }, { command: { cmd: 'x' } }, { url: 'https://x' }])(
    'may be a server named mcpServers: %j',
    async (entry) => {
      const project = createProject({ [OWN]: { mcpServers: entry, a: CHILD } });
      expect(await namesIn(project)).toEqual(['mcpServers', 'a']);
    },
  );

  test('a server next to mcpServers is a warning', async () => {
    const project = createProject({ [OWN]: { mcpServers: { a: CHILD }, b: CHILD, c: {} } });
    const { children, warnings } = await project.load();
    expect([...children.keys()]).toEqual(['a']);
    expect(warnings.map(project.plain)).toEqual([
      '<project>/.switchboard/servers.json: "b" is next to "mcpServers" instead of inside it (ignored).',
    ]);
  });

  test('has warnings about unknown keys, with their location', async () => {
    const project = createProject({
      [OWN]: { a: { ...CHILD, autoStart: true } },
      [OF_USER]: { mcpServers: { 'b c': { url: 'https://x', header: {}, oauth: { id: 1 } } } },
    });
    expect((await project.load()).warnings.map(project.plain)).toMatchInlineSnapshot(`
      [
        "<project>/.switchboard/servers.json: a.autoStart: unknown key (ignored). Did you mean "start"?",
        "<home>/.switchboard/servers.json: mcpServers["b c"].header: unknown key (ignored). Did you mean "headers"?",
        "<home>/.switchboard/servers.json: mcpServers["b c"].oauth.id: unknown key (ignored).",
      ]
    `);
  });

  test('with a mistake in an entry disables only that server, also one level down', async () => {
    const project = createProject({
      [OWN]: '{\n  "a": { "command": 42 },\n  "b": "npx",\n  "__proto__": { "show": "on" }\n}',
    });
    expect(await project.problems()).toMatchInlineSnapshot(`
      "Server "a" has an invalid configuration: <project>/.switchboard/servers.json:2:10: a.command: expected a string or an object, got 42. Fix it, then run: switchboard reload
      Server "b" has an invalid configuration: <project>/.switchboard/servers.json:3:3: b: expected an object, got a string. Fix it, then run: switchboard reload
      Server "__proto__" has an invalid configuration: <project>/.switchboard/servers.json:4:18: __proto__.show: expected "suite", "flip", "direct" or "off", got "on". Fix it, then run: switchboard reload"
    `);
    project.write(
      OWN,
      '{\n  "mcpServers": {\n    "a": { "command": 42 },\n    "__proto__": { "args": "x" }\n  }\n}',
    );
    expect(await project.problems()).toMatchInlineSnapshot(`
      "Server "a" has an invalid configuration: <project>/.switchboard/servers.json:3:12: mcpServers.a.command: expected a string or an object, got 42. Fix it, then run: switchboard reload
      Server "__proto__" has an invalid configuration: <project>/.switchboard/servers.json:4:20: mcpServers.__proto__.args: expected an array, got a string. Fix it, then run: switchboard reload"
    `);
  });

  test('without an object of servers is an error', async () => {
    const project = createProject({ [OWN]: '{ "mcpServers": [] }' });
    expect(await project.loadError()).toMatchInlineSnapshot(
      `"CONFIG_INVALID: <project>/.switchboard/servers.json:1:3: mcpServers: expected an object, got an array. For all keys and what they mean, run: switchboard config schema"`,
    );
    project.write(OWN, '[]');
    expect(await project.loadError()).toMatchInlineSnapshot(
      `"CONFIG_INVALID: <project>/.switchboard/servers.json:1:1: expected an object, got an array. For all keys and what they mean, run: switchboard config schema"`,
    );
    project.write(OWN, '['.repeat(20_000));
    expect(await project.loadError()).toContain('deeply nested');
  });

  test('names of Object.prototype are ordinary names', async () => {
    const names = ['__proto__', 'constructor', 'toString'];
    const servers = names.map((name) => `"${name}": {"command": "x", "env": {"__proto__": "v"}}`);
    for (const text of [`{${servers.join()}}`, `{"mcpServers": {${servers.join()}}}`]) {
      const project = createProject({ [OWN]: text });
      expect(await namesIn(project)).toEqual(names);
      const { children } = await project.load();
      expect(Object.keys(children.get('__proto__')?.command?.env ?? {})).toEqual(['__proto__']);
    }
  });
});

describe('plain variables', () => {
  const ENV = { SET: 'value', EMPTY: '' };

  test.each([
    ['$SET', 'value'],
    ['a$SET/$SET', 'avalue/value'],
    ['${SET}', 'value'],
    ['$UNSET $ $1 $$SET US$', '$UNSET $ $1 $$SET US$'],
    ['$EMPTY', '$EMPTY'],
    ['${UNSET:-$SET}', '$SET'],
    ['$${SET}', '${SET}'],
    ['$SET${SET}$SET', 'valuevaluevalue'],
  ])('%s becomes %s', async (text, expected) => {
    const project = createProject({
      [OWN]: {
        hosts: { command: text, args: [text], env: { A: text, B: 1 } },
        files: { command: { cmd: text, args: [text], env: { A: text, B: 1 } } },
      },
    });
    for (const child of (await project.load()).children.values()) {
      expect(expandCommand(child, ENV)).toEqual({
        cmd: expected,
        args: [expected],
        env: { A: expected, B: '1' },
      });
    }
  });

  test('in url and headers are expanded on connect, and elsewhere are plain text', async () => {
    const project = createProject({
      [OWN]: { a: { url: 'https://$HOST/', headers: { K: 'Bearer $TOKEN' } } },
      'switchboard.config.json': { mcpServers: { b: { command: 'x', args: ['$SET'] } } },
    });
    const { children } = await project.load();
    expect(children.get('a')?.remote).toMatchObject({
      url: 'https://${HOST:-$HOST}/',
      headers: { K: 'Bearer ${TOKEN:-$TOKEN}' },
    });
    expect(children.get('b')?.command?.args).toEqual(['$SET']);
  });
});
