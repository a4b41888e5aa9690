import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createSuiteTool } from '../../../src/surface/suite-tool.ts';
import { childConfig } from '../../support/child-config.ts';
import { createProject, type Project } from './temp-project.ts';

const CHILD = { command: 'node' };
const FILE = 'mcp-descriptions.json';

function projectWith(descriptions: string | object, servers: object = { memory: CHILD }): Project {
  return createProject({
    'switchboard.config.json': { mcpServers: servers },
    [FILE]: descriptions,
  });
}

async function textsOf(project: Project, name = 'memory') {
  const { children, warnings } = await project.load();
  const child = children.get(name);
  return {
    description: child?.notedDescription,
    role: child?.role,
    warnings: warnings.map(project.plain),
  };
}

const SOUND = { warnings: [] };

describe('reads both formats', () => {
  test('descriptions for the host and for the assistant, by name', async () => {
    const project = projectWith({
      mcps: { memory: { switchboard: 'Use it to remember.', claude: 'You keep notes.' } },
    });
    expect(await textsOf(project)).toEqual({
      description: 'Use it to remember.',
      role: 'You keep notes.',
      ...SOUND,
    });
    expect((await project.load()).files).toContain(join(project.folder, FILE));
  });

  test('plain strings are for the host', async () => {
    const project = projectWith({ type: 'object', properties: { memory: 'Use it to remember.' } });
    expect(await textsOf(project)).toEqual({
      description: 'Use it to remember.',
      role: undefined,
      ...SOUND,
    });
  });

  test('both in one file are combined, and comments and a byte order mark are allowed', async () => {
    const project = projectWith(`\ufeff{
      // ours
      "properties": { "memory": "from properties", "other": "x", },
      "mcps": { "memory": { "claude": "a role" }, "other": "from mcps" },
    }`);
    expect(await textsOf(project)).toEqual({
      description: 'from properties',
      role: 'a role',
      ...SOUND,
    });
  });

  test('a server may have any name', async () => {
    const project = projectWith('{"mcps": {"__proto__": {"claude": "a role"}}}', {});
    project.write('switchboard.config.json', '{"mcpServers": {"__proto__": {"command": "node"}}}');
    expect(await textsOf(project, '__proto__')).toMatchObject({ role: 'a role', ...SOUND });
  });
});

describe('precedence', () => {
  test('each text comes from the file with the highest precedence that has it', async () => {
    const project = createProject({
      'switchboard.config.json': { mcpServers: { a: CHILD, b: CHILD, c: CHILD } },
      [FILE]: { mcps: { a: { switchboard: 'root' } } },
      [`.switchboard/${FILE}`]: {
        mcps: { a: { switchboard: '2', claude: 'project' }, b: 'project' },
      },
    });
    const home = join(project.homeFolder, '.switchboard');
    mkdirSync(home);
    writeFileSync(join(home, FILE), JSON.stringify({ mcps: { a: 'home', b: 'home', c: 'home' } }));
    expect(await textsOf(project, 'a')).toMatchObject({ description: 'root', role: 'project' });
    expect(await textsOf(project, 'b')).toMatchObject({ description: 'project' });
    expect(await textsOf(project, 'c')).toMatchObject({ description: 'home' });
  });

  test('an exact name before a normalized one', async () => {
    const project = projectWith(
      { mcps: { 'mcp-server-memory': 'long', memory: 'short' } },
      { memory: CHILD, Memory_MCP: CHILD, memo: CHILD },
    );
    expect(await textsOf(project, 'memory')).toMatchObject({ description: 'short' });
    expect(await textsOf(project, 'Memory_MCP')).toMatchObject({ description: 'long' });
    expect(await textsOf(project, 'memo')).toMatchObject({ description: undefined });
  });

  const noted = { name: 'memory', notedDescription: 'Noted.' };
  test.each([
    ['', noted, /^Noted\.$/],
    [', also before that of the server', { ...noted, description: 'notes' }, /^Noted\.$/],
    [' but for that in suites', { ...noted, suiteDescription: 'Suites.' }, /^Suites\.$/],
    [' but for that in its own file', { ...noted, switchboardDescription: 'Own.' }, /^Own\.$/],
  ] as const)('the noted text is what the host reads%s', (_, config, expected) => {
    const { description } = createSuiteTool('memory_suite', childConfig(config));
    expect(description).toMatch(expected);
  });
});

describe('mistakes are warnings, and the rest applies', () => {
  test('not JSON', async () => {
    const project = projectWith('{\n  "mcps": {\n    memory: 1\n}}');
    expect((await textsOf(project)).warnings).toMatchInlineSnapshot(`
      [
        "<project>/mcp-descriptions.json:3:5: Invalid JSON: invalid value; strings and keys need double quotes. The file is ignored.",
      ]
    `);
    expect((await project.load()).children.size).toBe(1);
  });

  test('wrong types and unknown keys', async () => {
    const project = projectWith(`{
  "mcps": {
    "memory": { "switchboard": "kept", "claude": 7, "cluade": "x" },
    "other": ["x"]
  },
  "properties": "x",
  "mcp": {},
  "title": "ours"
}`);
    const { description, role, warnings } = await textsOf(project);
    expect({ description, role }).toEqual({ description: 'kept', role: undefined });
    expect(warnings).toMatchInlineSnapshot(`
      [
        "<project>/mcp-descriptions.json:3:40: mcps.memory.claude: expected a string (ignored).",
        "<project>/mcp-descriptions.json:3:53: mcps.memory.cluade: unknown key (ignored). Did you mean "claude"?",
        "<project>/mcp-descriptions.json:4:5: mcps.other: expected a string, or an object with "switchboard" and "claude" (ignored).",
        "<project>/mcp-descriptions.json:6:3: properties: expected servers by name (ignored).",
        "<project>/mcp-descriptions.json:7:3: mcp: unknown key (ignored). Did you mean "mcps"?",
      ]
    `);
  });

  test.each(['[]', '"text"', '{}', '{"memory": {"claude": "x"}}'])('%s', async (text) => {
    expect((await textsOf(projectWith(text))).warnings).toEqual([
      `<project>/${FILE}:1:1: Expected servers by name under "mcps". Nothing in this file is used.`,
    ]);
  });

  test('a folder with that name', async () => {
    const project = createProject({
      'switchboard.config.json': { mcpServers: { memory: CHILD } },
      [`${FILE}/x`]: '',
    });
    expect((await textsOf(project)).warnings).toEqual([
      `<project>/${FILE}: Not a regular file. The file is ignored.`,
    ]);
  });

  test('empty strings count as unset', async () => {
    const project = projectWith({ mcps: { memory: { switchboard: ' ', claude: '' } } });
    expect(await textsOf(project)).toEqual({ description: undefined, role: undefined, ...SOUND });
  });
});
