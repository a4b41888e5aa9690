import { expect, test } from 'vitest';
import { createProject } from './temp-project.ts';

const COMMAND = { cmd: 'node' };

test('both default places are searched, .switchboard first', async () => {
  const project = createProject({
    'mcps/a/.mcp.json': { name: 'a', command: COMMAND },
    '.switchboard/mcps/z/.mcp.json': { name: 'z', command: COMMAND },
    '.switchboard/mcps/y/.mcp.json': { name: 'y', command: COMMAND },
    'mcps/empty/readme.md': '',
    'mcps/file': '',
  });
  const { children, warnings } = await project.load();
  expect([...children.keys()]).toEqual(['y', 'z', 'a']);
  expect(warnings).toEqual([]);
});

test('a file without a name is ignored, one with an invalid value disables only its server', async () => {
  const project = createProject({
    'mcps/a/.mcp.json': '{ "name": "a", "command": ',
    'mcps/b/.mcp.json': { description: 'no name' },
    'mcps/c/.mcp.json': { name: 42 },
    'mcps/d/.mcp.json': { name: '' },
    'mcps/e/.mcp.json': '["e"]',
    'mcps/f/.mcp.json': { name: 'f', command: { cmd: 42 }, framing: 'lines' },
    'mcps/g/.mcp.json': { mcpServers: { x: { command: 'y' } } },
    'mcps/h/.mcp.json': { name: 'h', command: COMMAND, expose: { denied: ['x'] } },
    'mcps/i/.mcp.json/folder': '',
    'mcps/z/.mcp.json': '\uFEFF{ "name": "z", /* fine */ "command": { "cmd": "node" }, }',
  });
  const { children, warnings } = await project.load();
  expect([...children.keys()]).toEqual(['f', 'h', 'z']);
  expect(warnings.map(project.plain)).toMatchInlineSnapshot(`
    [
      "<project>/mcps/a/.mcp.json:1:27: Invalid JSON: expected a value. The file is ignored.",
      "<project>/mcps/b/.mcp.json:1:1: name: expected a string, got nothing. The file is ignored.",
      "<project>/mcps/c/.mcp.json:2:3: name: expected a string, got 42. The file is ignored.",
      "<project>/mcps/d/.mcp.json:2:3: name: expected a non-empty string, got an empty string. The file is ignored.",
      "<project>/mcps/e/.mcp.json:1:1: expected an object, got an array. The file is ignored.",
      "<project>/mcps/g/.mcp.json: "mcpServers" belongs in switchboard.config.json. A child file declares one server and needs a "name". The file is ignored.",
      "<project>/mcps/i/.mcp.json: Not a regular file. The file is ignored.",
    ]
  `);
  expect(await project.problems()).toMatchInlineSnapshot(`
    "Server "f" has an invalid configuration:
    <project>/mcps/f/.mcp.json:4:5: command.cmd: expected a string, got 42.
    <project>/mcps/f/.mcp.json:6:3: framing: expected "auto", "newline" or "content-length", got "lines". Fix it, then run: switchboard reload
    Server "h" has an invalid configuration: <project>/mcps/h/.mcp.json:7:5: expose.denied: unknown key. Did you mean "deny"? Fix it, then run: switchboard reload"
  `);
});

test('the first of two files with the same name is used, and both are reported', async () => {
  const project = createProject({
    '.switchboard/mcps/a/.mcp.json': { name: 'same', command: { cmd: 'first' } },
    'mcps/a/.mcp.json': { name: 'same', command: { cmd: 'second' } },
  });
  const { children, warnings } = await project.load();
  expect(children.get('same')?.command?.cmd).toBe('first');
  expect(warnings.map(project.plain)).toMatchInlineSnapshot(`
    [
      "Server "same" is declared twice: using <project>/.switchboard/mcps/a/.mcp.json, ignoring <project>/mcps/a/.mcp.json.",
    ]
  `);
});

test('the three descriptions are kept apart', async () => {
  const project = createProject({
    'mcps/a/.mcp.json': {
      name: 'a',
      command: COMMAND,
      description: 'plain',
      switchboardDescription: 'whole',
    },
    'switchboard.config.json': { suites: { a: { description: 'suite' } } },
  });
  expect((await project.load()).children.get('a')).toMatchObject({
    description: 'plain',
    switchboardDescription: 'whole',
    suiteDescription: 'suite',
  });
});

test('a file that nests endlessly, or is not a regular file, affects only itself', async () => {
  const project = createProject({
    'mcps/deep/.mcp.json': '['.repeat(20_000),
    'mcps/folder/.mcp.json/x': '',
    'mcps/good/.mcp.json': { name: 'good', command: { cmd: 'node' } },
  });
  const { children, warnings } = await project.load();
  expect([...children.keys()]).toEqual(['good']);
  expect(warnings.join('\n')).toContain('deeply nested');
});
