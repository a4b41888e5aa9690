// Where the configuration comes from and what is said about it, seen through the running program.
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runSwitchboard } from '../support/command.ts';
import { createProject, type Project } from '../support/project.ts';
import { type HostOptions, RawHost, textOf, toolsOf } from '../support/raw-host.ts';
import { MOCK_CHILD, testServer } from '../support/servers.ts';

const MCP_SERVERS = { one: MOCK_CHILD };
const JSON_TEXT = JSON.stringify({ mcpServers: MCP_SERVERS });

async function suitesIn(project: Project, options: HostOptions = {}): Promise<string[]> {
  const host = await RawHost.connect(project, options);
  return toolsOf(await host.request('tools/list')).map(({ name }) => name);
}

/** Starts the server in a project whose configuration is wrong; gives what it says. */
async function refusalIn(project: Project, options: { env?: Record<string, string> } = {}) {
  const { status, stdout, stderr } = await runSwitchboard(project, [], options);
  expect(stdout).toBe('');
  expect(status).toBe(2);
  return stderr.replaceAll(project.dir, '<project>');
}

describe('the project’s file', () => {
  test.each([
    { file: 'switchboard.config.json', text: JSON_TEXT },
    {
      file: 'switchboard.config.json',
      text: `\uFEFF// with comments\n{ "$schema": "./x.json", "mcpServers": ${JSON.stringify(MCP_SERVERS)}, }\n`,
    },
    { file: 'switchboard.config.jsonc', text: `/* comment */ ${JSON_TEXT}` },
    { file: 'switchboard.config.js', text: `module.exports = ${JSON_TEXT};\n` },
    { file: 'switchboard.config.cjs', text: `module.exports = ${JSON_TEXT};\n` },
    { file: 'switchboard.config.mjs', text: `export default ${JSON_TEXT};\n` },
    { file: 'switchboard.config.mjs', text: `export default async () => (${JSON_TEXT});\n` },
    {
      file: 'switchboard.config.mjs',
      text: `export const mcpServers = ${JSON.stringify(MCP_SERVERS)};\n`,
    },
  ])('may be $file: $text', async ({ file, text }) => {
    expect(await suitesIn(createProject({ [file]: text }))).toEqual(['one_suite']);
  });

  test('is read as JSON if there are JSON and JavaScript files', async () => {
    const project = createProject({
      'switchboard.config.json': JSON_TEXT,
      'switchboard.config.js': 'throw new Error("must not run");\n',
    });
    expect(await suitesIn(project)).toEqual(['one_suite']);
  });

  test('may be a script that prints: stdout still belongs to the protocol', async () => {
    const text = `console.log('configured'); export default ${JSON_TEXT};\n`;
    const host = await RawHost.connect(createProject({ 'switchboard.config.mjs': text }));
    expect(host.impure).toEqual([]);
  });

  test('is named on stderr if it is a script, because it runs the project’s code', async () => {
    const project = createProject({ 'switchboard.config.mjs': `export default ${JSON_TEXT};\n` });
    const host = await RawHost.connect(project);
    expect(await host.lastWords()).toContain(join(project.dir, 'switchboard.config.mjs'));
  });

  test('is not searched for in parent folders', async () => {
    const project = createProject({ 'switchboard.config.json': JSON_TEXT, 'sub/x': '' });
    const below = { ...project, dir: join(project.dir, 'sub') };
    expect(await suitesIn(below)).toEqual([]);
  });

  test('can be replaced by --config or SWITCHBOARD_CONFIG, the flag first', async () => {
    const servers = (name: string) => ({ mcpServers: { [name]: MOCK_CHILD } });
    const project = createProject({
      'switchboard.config.json': servers('own'),
      'other/by-flag.json': servers('flag'),
      'other/by-env.json': servers('env'),
    });
    const env = { SWITCHBOARD_CONFIG: 'other/by-env.json' };
    const args = ['--config', 'other/by-flag.json'];
    expect(await suitesIn(project)).toEqual(['own_suite']);
    expect(await suitesIn(project, { env })).toEqual(['env_suite']);
    expect(await suitesIn(project, { env, args })).toEqual(['flag_suite']);
    expect(await suitesIn(project, { args: ['serve', ...args] })).toEqual(['flag_suite']);
  });

  test('that is named but does not exist is an error', async () => {
    const env = { SWITCHBOARD_CONFIG: 'nowhere.json' };
    expect(await refusalIn(createProject(), { env })).toMatchInlineSnapshot(`
      "switchboard: Configuration file not found: <project>/nowhere.json.
      Correct SWITCHBOARD_CONFIG, or remove it.
      "
    `);
  });

  test('is the one in WORKSPACE_DIR if that is set', async () => {
    const project = createProject({
      'elsewhere/switchboard.config.json': {
        mcpServers: { there: { ...testServer('toolbox') } },
      },
      'elsewhere/mcps/child/.mcp.json': { name: 'child' },
      'switchboard.config.json': JSON_TEXT,
    });
    const env = { WORKSPACE_DIR: join(project.dir, 'elsewhere') };
    expect(await suitesIn(project, { env })).toEqual(['there_suite', 'child_suite']);
    const host = await RawHost.connect(project, { env });
    const where = JSON.parse(textOf(await host.call('there', 'where_am_i'))) as { cwd: string };
    expect(where.cwd).toMatch(/elsewhere$/);
  });
});

describe('the user’s file', () => {
  const user = {
    mcpServers: { mine: MOCK_CHILD, both: { ...MOCK_CHILD, description: 'of the user' } },
    introspection: { mode: 'redacted', summaryMaxChars: 20 },
  };
  const files = {
    'switchboard.config.json': {
      mcpServers: { both: { ...MOCK_CHILD, description: 'of the project' } },
      introspection: { mode: 'summary' },
    },
  };

  test('is in ~/.switchboard: its servers come after the project’s, which take precedence if approved', async () => {
    const project = createProject({ ...files, 'home/.switchboard/switchboard.config.json': user });
    await runSwitchboard(project, ['trust', 'approve', 'both']);
    const host = await RawHost.connect(project);
    const tools = toolsOf(await host.request('tools/list'));
    expect(tools.map(({ name, description }) => [name, description])).toEqual([
      ['both_suite', "Use this tool for of the project. Actions: 'introspect' | 'call'."],
      ['mine_suite', "Use this tool for mine. Actions: 'introspect' | 'call'."],
    ]);
    const subtools = toolsOf(await host.introspect('mine'));
    expect(subtools).toHaveLength(4);
    for (const tool of subtools) {
      expect(Object.keys(tool)).toEqual(['name', 'summary', 'inputSchema']);
      expect(tool['summary']).toMatch(/^.{1,20}$/);
    }
  });

  test('is in SWITCHBOARD_HOME if that is set', async () => {
    const project = createProject({
      'my home/switchboard.config.mjs': `export default ${JSON_TEXT}`,
    });
    const env = { SWITCHBOARD_HOME: join(project.dir, 'my home') };
    expect(await suitesIn(project, { env })).toEqual(['one_suite']);
    expect(await suitesIn(project)).toEqual([]);
  });

  test('that is invalid is also an error', async () => {
    const project = createProject({
      'home/.switchboard/switchboard.config.json': { mcpServer: {} },
    });
    expect(await refusalIn(project)).toMatchInlineSnapshot(`
      "switchboard: <project>/home/.switchboard/switchboard.config.json:2:3: mcpServer: unknown key. Did you mean "mcpServers"?
      For all keys and what they mean, run: switchboard config schema
      "
    `);
  });
});

describe('an invalid file exits with 2 and a location', () => {
  test.each([
    {
      what: 'an unknown key',
      text: '{\n  "mcpServers": {},\n  "discoverGlob": []\n}\n',
      says: '<file>:3:3: discoverGlob: unknown key. Did you mean "discoverGlobs"?',
    },
    {
      what: 'a wrong type',
      text: '{ "discoverGlobs": "x" }',
      says: '<file>:1:3: discoverGlobs: expected an array, got a string.',
    },
    {
      what: 'a number out of range',
      text: '{\n  "timeouts": {\n    "rpcMs": -5\n  }\n}',
      says: '<file>:3:5: timeouts.rpcMs: expected a number of at least 1, got -5.',
    },
    {
      what: 'a word that is none of the choices',
      text: '{ "introspection": { "mode": "loud" } }',
      says: '<file>:1:22: introspection.mode: expected "summary", "full" or "redacted", got "loud".',
    },
    {
      what: 'broken JSON',
      text: '{\n  "mcpServers": {\n',
      says: '<file>:3:1: Invalid JSON: expected }.',
    },
    { what: 'nothing at all', text: '', says: '<file>:1:1: Invalid JSON: expected a value.' },
  ])('$what', async ({ text, says }) => {
    const project = createProject({ 'switchboard.config.json': text });
    const said = (await refusalIn(project)).replaceAll(
      '<project>/switchboard.config.json',
      '<file>',
    );
    expect(said.split('\n')[0]).toBe(`switchboard: ${says}`);
  });

  test('lists all mistakes in file order', async () => {
    const project = createProject({
      'switchboard.config.json':
        '{\n  "timeout": {},\n  "mcpServers": {\n    "a": { "command": 7, "args": "x" }\n  }\n}\n',
    });
    expect(await refusalIn(project)).toMatchInlineSnapshot(`
      "switchboard: <project>/switchboard.config.json:2:3: timeout: unknown key. Did you mean "timeouts"?
      <project>/switchboard.config.json:4:12: mcpServers.a.command: expected a string or an object, got 7.
      <project>/switchboard.config.json:4:26: mcpServers.a.args: expected an array, got a string.
      For all keys and what they mean, run: switchboard config schema
      "
    `);
  });

  test('a script that throws', async () => {
    const project = createProject({
      'switchboard.config.mjs': 'throw new Error("no luck today");\n',
    });
    expect(await refusalIn(project)).toMatchInlineSnapshot(`
      "switchboard: <project>/switchboard.config.mjs failed: no luck today.
      It must export an object as default or module.exports.
      "
    `);
  });

  test('does not repeat a misplaced secret', async () => {
    const mcpServers = { a: { command: 'x', env: 'sk-canary-123456' } };
    const project = createProject({ 'switchboard.config.json': { mcpServers, timeout: 1 } });
    expect(await refusalIn(project)).not.toContain('canary');
  });
});

describe('child files', () => {
  test('are found in both places, .switchboard first, and the first with a name is used', async () => {
    const project = createProject({
      'mcps/a/.mcp.json': { name: 'a', description: 'the second' },
      '.switchboard/mcps/z/.mcp.json': { name: 'a', description: 'the first' },
      '.switchboard/mcps/b/.mcp.json': { name: 'b' },
      'mcps/not-one/readme.txt': 'nothing here',
    });
    const host = await RawHost.connect(project);
    const tools = toolsOf(await host.request('tools/list'));
    expect(tools.map(({ name }) => name)).toEqual(['b_suite', 'a_suite']);
    expect(tools[1]?.['description']).toContain('the first');
    expect((await host.lastWords()).replaceAll(project.dir, '<project>')).toMatchInlineSnapshot(`
      "switchboard: warn: Server "a" is declared twice: using <project>/.switchboard/mcps/z/.mcp.json, ignoring <project>/mcps/a/.mcp.json.
      "
    `);
  });

  test('that are broken each produce a warning, and the others are listed', async () => {
    const project = createProject({
      'mcps/1/.mcp.json': 'not JSON',
      'mcps/2/.mcp.json': { description: 'no name' },
      'mcps/3/.mcp.json': { name: 7 },
      'mcps/4/.mcp.json': { name: 'd', command: { cmd: 'x' }, comand: 'y' },
      'mcps/5/.mcp.json': { mcpServers: {} },
      'mcps/6/.mcp.json': { name: 'good' },
    });
    const host = await RawHost.connect(project);
    const tools = toolsOf(await host.request('tools/list'));
    expect(tools.map(({ name }) => name)).toEqual(['d_suite', 'good_suite']);
    expect((await host.lastWords()).replaceAll(project.dir, '<project>')).toMatchInlineSnapshot(`
      "switchboard: warn: <project>/mcps/1/.mcp.json:1:1: Invalid JSON: invalid value; strings and keys need double quotes. The file is ignored.
      switchboard: warn: <project>/mcps/2/.mcp.json:1:1: name: expected a string, got nothing. The file is ignored.
      switchboard: warn: <project>/mcps/3/.mcp.json:2:3: name: expected a string, got 7. The file is ignored.
      switchboard: warn: <project>/mcps/4/.mcp.json: comand: unknown key (ignored). Did you mean "command"?
      switchboard: warn: <project>/mcps/5/.mcp.json: "mcpServers" belongs in switchboard.config.json. A child file declares one server and needs a "name". The file is ignored.
      "
    `);
  });

  test('are searched for only in discoverGlobs', async () => {
    const project = createProject({
      'switchboard.config.json': { discoverGlobs: ['servers/**/{a,b}.json', 'more/*.json'] },
      'mcps/default/.mcp.json': { name: 'default' },
      'servers/deep/down/a.json': { name: 'a' },
      'servers/b.json': { name: 'b' },
      'servers/c.json': { name: 'c' },
      'more/m.json': { name: 'm' },
    });
    expect(await suitesIn(project)).toEqual(['b_suite', 'a_suite', 'm_suite']);
  });

  test('added later are not seen by a running session', async () => {
    const project = createProject({ 'mcps/a/.mcp.json': { name: 'a' } });
    const host = await RawHost.connect(project);
    const before = await host.request('tools/list');
    project.write('mcps/b/.mcp.json', { name: 'b' });
    expect((await host.request('tools/list')).result).toEqual(before.result);
    expect(await suitesIn(project)).toEqual(['a_suite', 'b_suite']);
  });

  test('are overridden by an mcpServers entry with the same name', async () => {
    const project = createProject({
      'switchboard.config.json': JSON_TEXT,
      'mcps/one/.mcp.json': { name: 'one', command: { cmd: 'no-such-program' } },
    });
    const host = await RawHost.connect(project);
    expect((await host.call('one', 'click')).result).toMatchObject({ ok: true });
  });
});

test('a folder without configuration has an empty list and no stderr output', async () => {
  const project = createProject();
  const host = await RawHost.connect(project);
  expect((await host.request('tools/list')).result).toEqual({ tools: [] });
  expect(await host.lastWords()).toBe('');
});

test('keys of other hosts in a pasted entry only cause a warning', async () => {
  const project = createProject({
    'switchboard.config.json': {
      mcpServers: { one: { ...MOCK_CHILD, type: 'stdio', alwaysAllow: ['x'], discription: 'y' } },
      suites: { oen: { suiteName: 'x' } },
    },
  });
  const host = await RawHost.connect(project);
  expect((await host.call('one', 'click')).result).toMatchObject({ ok: true });
  expect((await host.lastWords()).replaceAll(project.dir, '<project>')).toMatchInlineSnapshot(`
    "switchboard: warn: <project>/switchboard.config.json: mcpServers.one.alwaysAllow: unknown key (ignored).
    switchboard: warn: <project>/switchboard.config.json: mcpServers.one.discription: unknown key (ignored). Did you mean "description"?
    switchboard: warn: <project>/switchboard.config.json: suites.oen: no such server.
    "
  `);
});

describe('servers.json', () => {
  const GATEWAY = ['gateway_activate', 'gateway_deactivate', 'gateway_status'];

  test('has switchable servers, listed after all others', async () => {
    const project = createProject({
      'switchboard.config.json': JSON_TEXT,
      '.switchboard/servers.json': { two: MOCK_CHILD, one: { command: 'weaker' } },
      'home/.switchboard/servers.json': { three: MOCK_CHILD },
    });
    const host = await RawHost.connect(project);
    const tools = toolsOf(await host.request('tools/list'));
    expect(tools.map(({ name }) => name)).toEqual([...GATEWAY, 'one_suite']);
    expect(tools[0]?.['description']).toContain('Servers: "two", "three".');
  });

  test('can be replaced with --servers', async () => {
    const project = createProject({
      '.switchboard/servers.json': { usual: MOCK_CHILD },
      'more/servers.json': { mcpServers: { named: { ...MOCK_CHILD, show: 'suite' } } },
    });
    expect(await suitesIn(project)).toEqual(GATEWAY);
    expect(await suitesIn(project, { args: ['--servers', 'more/servers.json'] })).toEqual([
      'named_suite',
    ]);
  });

  test('without an object of servers exits with 2 and a location', async () => {
    const project = createProject({ '.switchboard/servers.json': '{\n  "mcpServers": ["a"]\n}' });
    expect(await refusalIn(project)).toContain(
      '<project>/.switchboard/servers.json:2:3: mcpServers: expected an object, got an array.',
    );
  });
});
