import { utimesSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parseJsonc } from '../../../src/config/files/files.ts';
import { createProject } from './temp-project.ts';

describe('JSON', () => {
  test.each(['json', 'jsonc'])('.%s may have comments, trailing commas and a BOM', async (end) => {
    const project = createProject({
      [`switchboard.config.${end}`]: '\uFEFF{\n// one\n"mcpServers": {"a": {"command": "x",},},\n}',
    });
    expect((await project.load()).children.get('a')?.command?.cmd).toBe('x');
  });

  test.each(['', '// with a comment\n'])('%s endless nesting is rejected', async (before) => {
    const nested = (depth: number) => `${before}${'['.repeat(depth)}${']'.repeat(depth)}`;
    const refused = { problem: '1:1: Too deeply nested.' };
    expect(await parseJsonc(nested(100_000))).toEqual(refused);
    expect(await parseJsonc(nested(300))).toEqual(refused);
    expect(await parseJsonc(nested(100))).toHaveProperty('value');
  });

  test('a file that is not JSON is rejected with the location', async () => {
    const contents = [
      '{\n  "timeouts": {\n    "rpcMs": 5',
      '',
      '{\n  "suites": {}\n  "timeouts": {}\n}',
      "{ 'suites': {} }",
      '{ "suites": "C:\\dir" }',
      '{}\n{}',
    ];
    expect(await errorsOf('switchboard.config.json', contents)).toMatchInlineSnapshot(`
      [
        "CONFIG_INVALID: <project>/switchboard.config.json:3:15: Invalid JSON: expected }. The file must be JSON. Comments and trailing commas are allowed.",
        "CONFIG_INVALID: <project>/switchboard.config.json:1:1: Invalid JSON: expected a value. The file must be JSON. Comments and trailing commas are allowed.",
        "CONFIG_INVALID: <project>/switchboard.config.json:3:3: Invalid JSON: expected a comma. The file must be JSON. Comments and trailing commas are allowed.",
        "CONFIG_INVALID: <project>/switchboard.config.json:1:3: Invalid JSON: invalid value; strings and keys need double quotes. The file must be JSON. Comments and trailing commas are allowed.",
        "CONFIG_INVALID: <project>/switchboard.config.json:1:13: Invalid JSON: invalid escape; write \\\\ for a backslash. The file must be JSON. Comments and trailing commas are allowed.",
        "CONFIG_INVALID: <project>/switchboard.config.json:2:1: Invalid JSON: expected the end of the file. The file must be JSON. Comments and trailing commas are allowed.",
      ]
    `);
  });

  test('a UTF-16 file is rejected with a hint', async () => {
    const text = Buffer.from('\uFEFF{ "mcpServers": {} }', 'utf16le').toString('utf8');
    expect(await parseJsonc(text)).toEqual({
      problem: '1:1: The file is UTF-16. Save it as UTF-8.',
    });
  });

  test('an unreadable file is named', async () => {
    const project = createProject({ 'switchboard.config.json/file': '' });
    expect(await project.loadError()).toMatchInlineSnapshot(
      `"CONFIG_INVALID: <project>/switchboard.config.json: Not a regular file. Make the file readable, or remove it."`,
    );
  });
});

describe('JavaScript', () => {
  const CONFIG = '{ mcpServers: { a: { command: "x" } } }';

  test.each([
    ['js', `module.exports = ${CONFIG}`],
    ['cjs', `module.exports = ${CONFIG}`],
    ['cjs', `exports.__esModule = true; exports.default = ${CONFIG}`],
    ['mjs', `export default ${CONFIG}`],
    ['mjs', `export const mcpServers = { a: { command: "x" } }`],
    ['mjs', `export default () => (${CONFIG})`],
    ['mjs', `export default async () => (${CONFIG})`],
    ['mjs', `export default Promise.resolve(${CONFIG})`],
  ])('.%s with %s is read', async (end, content) => {
    const project = createProject({ [`switchboard.config.${end}`]: content });
    const { children, files } = await project.load();
    expect(children.get('a')?.command?.cmd).toBe('x');
    expect(files.map(project.plain)).toEqual([`<project>/switchboard.config.${end}`]);
  });

  test('a file without a configuration is rejected by name', async () => {
    const contents = [
      'throw new Error("no database")',
      'export default () => Promise.reject("no network")',
      'export default "x"',
      'const config = {}',
      'export default { timeouts: { rpcMs: "fast" } }',
      'export default { mcpServers: new Map() }',
      'export default new (class Mine {})()',
    ];
    expect(await errorsOf('switchboard.config.mjs', contents)).toMatchInlineSnapshot(`
      [
        "CONFIG_INVALID: <project>/switchboard.config.mjs failed: no database. It must export an object as default or module.exports.",
        "CONFIG_INVALID: <project>/switchboard.config.mjs failed: no network. It must export an object as default or module.exports.",
        "CONFIG_INVALID: <project>/switchboard.config.mjs: expected an object, got a string. For all keys and what they mean, run: switchboard config schema",
        "CONFIG_INVALID: <project>/switchboard.config.mjs: expected an object, got nothing. For all keys and what they mean, run: switchboard config schema",
        "CONFIG_INVALID: <project>/switchboard.config.mjs: timeouts.rpcMs: expected a number, got "fast". For all keys and what they mean, run: switchboard config schema",
        "CONFIG_INVALID: <project>/switchboard.config.mjs: mcpServers: expected an object, got an instance of Map. For all keys and what they mean, run: switchboard config schema",
        "CONFIG_INVALID: <project>/switchboard.config.mjs: class instances are not allowed. For all keys and what they mean, run: switchboard config schema",
      ]
    `);
  });

  test('the cause of a failure is kept', async () => {
    const project = createProject({ 'switchboard.config.mjs': 'throw new TypeError("deep")' });
    await expect(project.load()).rejects.toMatchObject({ cause: { message: 'deep' } });
  });

  test.each([
    ['mjs', 'export default'],
    ['cjs', 'module.exports ='],
  ])('a changed .%s file is read again', async (end, beginning) => {
    const file = `switchboard.config.${end}`;
    const project = createProject({ [file]: `${beginning} { limits: { messageBytes: 2000 } }` });
    expect((await project.load()).messageBytes).toBe(2000);
    const path = project.write(file, `${beginning} { limits: { messageBytes: 3000 } }`);
    utimesSync(path, 1, 1);
    expect((await project.load()).messageBytes).toBe(3000);
  });
});

async function errorsOf(file: string, contents: readonly string[]): Promise<string[]> {
  const errors: string[] = [];
  for (const content of contents) errors.push(await createProject({ [file]: content }).loadError());
  return errors;
}
