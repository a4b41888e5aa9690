// A mistake in one server's entry costs that server and nothing else.
import { describe, expect, test } from 'vitest';
import type { SwitchboardError } from '../../../src/base/errors.ts';
import { isObject } from '../../../src/base/object.ts';
import { expandCommand } from '../../../src/config/server/expand.ts';
import { createProject, type Project } from './temp-project.ts';

const GOOD = { command: 'node', args: ['good.js'] };
const INVALID: readonly [string, unknown][] = [
  ['args as a string', { command: 'npx', args: 'a b' }],
  ['null', null],
  ['a string', 'npx -y foo'],
  ['a number', 7],
  ['an array', ['npx']],
  ['env with an object', { command: 'npx', env: { A: {} } }],
  ['env with null', { command: 'npx', env: { A: null } }],
  ['a command that is a number', { command: 7 }],
  ['a command without cmd', { command: { args: [] } }],
  ['headers with a number', { url: 'https://x', headers: { A: 1 } }],
  ['an unknown show', { command: 'npx', show: 'loud' }],
  ['an unknown key of expose', { command: 'npx', expose: { denied: ['x'] } }],
];

/** What comes of using `good` and `bad`. */
async function useBoth(project: Project): Promise<Record<string, unknown>> {
  const { children } = await project.load();
  const outcomes = ['good', 'bad'].map((name) => {
    const child = children.get(name);
    if (!child) return [name, 'missing'];
    try {
      return [name, expandCommand(child, {}).args];
    } catch (error) {
      const { code, message } = error as SwitchboardError;
      const says = /^Server "(.*)" has an invalid configuration:[ \n](.*?):/.exec(message);
      return [name, [code, says?.[1], says?.[2] === child.origin]];
    }
  });
  return Object.fromEntries(outcomes) as Record<string, unknown>;
}

const ONLY_BAD_FAILS = { good: ['good.js'], bad: ['CONFIG_INVALID', 'bad', true] };

describe.each(INVALID)('%s', (_, entry) => {
  test('in the project’s mcpServers', async () => {
    const config = { mcpServers: { bad: entry, good: GOOD } };
    expect(await useBoth(createProject({ 'switchboard.config.json': config }))).toEqual(
      ONLY_BAD_FAILS,
    );
  });

  test('in the user’s mcpServers', async () => {
    const config = { mcpServers: { bad: entry, good: GOOD } };
    const file = '../home/.switchboard/switchboard.config.json';
    expect(await useBoth(createProject({ [file]: config }))).toEqual(ONLY_BAD_FAILS);
  });

  test.each(['.switchboard/servers.json', '../home/.switchboard/servers.json'])(
    'in %s, at its top and under mcpServers',
    async (file) => {
      const servers = { bad: entry, good: GOOD };
      expect(await useBoth(createProject({ [file]: servers }))).toEqual(ONLY_BAD_FAILS);
      expect(await useBoth(createProject({ [file]: { mcpServers: servers } }))).toEqual(
        ONLY_BAD_FAILS,
      );
    },
  );

  test('in a JavaScript configuration', async () => {
    const config = JSON.stringify({ mcpServers: { bad: entry, good: GOOD } });
    const project = createProject({ 'switchboard.config.mjs': `export default ${config}` });
    expect(await useBoth(project)).toEqual(ONLY_BAD_FAILS);
  });

  test.runIf(isObject(entry))('in a child file', async () => {
    const project = createProject({
      'mcps/bad/.mcp.json': { name: 'bad', ...(entry as object) },
      'mcps/good/.mcp.json': { name: 'good', ...GOOD },
    });
    expect(await useBoth(project)).toEqual(ONLY_BAD_FAILS);
  });
});

describe('under suites', () => {
  test.each([
    null,
    'flip',
    { show: 'loud' },
    { suitName: 'x' },
    { expose: { deny: 'delete_*' } },
    { expose: { denied: ['delete_*'] } },
    { assistant: 'yes' },
  ])('%j disables only its server', async (suite) => {
    const project = createProject({
      'switchboard.config.json': {
        mcpServers: { good: GOOD, bad: { ...GOOD, show: 'direct' } },
        suites: { bad: suite, good: { show: 'flip' } },
      },
    });
    expect(await useBoth(project)).toEqual(ONLY_BAD_FAILS);
    const { children } = await project.load();
    expect(children.get('good')?.show).toBe('flip');
    // What isn't known to be allowed isn't listed from the catalog either.
    expect(children.get('bad')).toMatchObject({ command: undefined, remote: undefined });
  });
});

test('the entry’s valid keys still apply', async () => {
  const project = createProject({
    'switchboard.config.json': {
      mcpServers: {
        a: { command: 7, show: 'flip', description: 'tea' },
        b: { command: 7, disabled: true },
      },
    },
  });
  const { children } = await project.load();
  expect(children.get('a')).toMatchObject({ show: 'flip', description: 'tea' });
  expect(children.get('b')).toMatchObject({ show: 'off' });
});

test('it keeps its name: a declaration with lower precedence does not replace it', async () => {
  const project = createProject({
    'switchboard.config.json': { mcpServers: { a: { command: 7 } } },
    '../home/.switchboard/switchboard.config.json': { mcpServers: { a: GOOD } },
  });
  expect(await project.problems()).toMatchInlineSnapshot(
    `"Server "a" has an invalid configuration: <project>/switchboard.config.json:4:7: mcpServers.a.command: expected a string or an object, got 7. Fix it, then run: switchboard reload"`,
  );
});

test('a class instance is invalid', async () => {
  const project = createProject({
    'switchboard.config.mjs': `class Entry { command = 'x' }
      export default { mcpServers: { bad: new Entry(), good: ${JSON.stringify(GOOD)} } }`,
  });
  expect(await useBoth(project)).toEqual(ONLY_BAD_FAILS);
  expect(await project.problems()).toMatchInlineSnapshot(
    `"Server "bad" has an invalid configuration: <project>/switchboard.config.mjs: mcpServers.bad: class instances are not allowed. Fix it, then run: switchboard reload"`,
  );
});

test('mistakes outside of entries still reject the file, and all are reported', async () => {
  const project = createProject({
    'switchboard.config.json': '{ "mcpServers": { "a": null }, "timeout": 5 }',
  });
  expect(await project.loadError()).toMatchInlineSnapshot(`
    "CONFIG_INVALID: <project>/switchboard.config.json:1:19: mcpServers.a: expected an object, got null.
    <project>/switchboard.config.json:1:32: timeout: unknown key. Did you mean "timeouts"? For all keys and what they mean, run: switchboard config schema"
  `);
});
