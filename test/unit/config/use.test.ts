import { describe, expect, test } from 'vitest';
import { createProject, type Project } from './temp-project.ts';

const CHILD = { command: 'node', args: ['a.js'] };
const USER_FILE = '../home/.switchboard/switchboard.config.json';

/** What is settled about each server, with the reasons. */
async function usesIn(project: Project, env: Record<string, string> = {}) {
  const { children } = await project.load({ env });
  return Object.fromEntries(
    [...children.values()].map((child) => [
      child.name,
      [
        `${child.show}: ${project.plain(child.showBecause)}`,
        `${child.start}: ${project.plain(child.startBecause)}`,
        `${child.idleMs}: ${project.plain(child.idleBecause)}`,
      ],
    ]),
  );
}

test('by default a server is a suite, lazy, and stopped after ten minutes', async () => {
  const project = createProject({
    'switchboard.config.json': { mcpServers: { main: CHILD } },
    'mcps/own/.mcp.json': { name: 'own', ...CHILD },
  });
  const usual = ['suite: default', 'lazy: default', '600000: default'];
  expect(await usesIn(project)).toEqual({ main: usual, own: usual });
});

test('each kind of server has its settings with their reasons', async () => {
  const project = createProject({
    'switchboard.config.json': {
      mcpServers: {
        flip: { ...CHILD, show: 'flip' },
        direct: { ...CHILD, show: 'direct' },
        off: { ...CHILD, show: 'off' },
        disabled: { ...CHILD, disabled: true, show: 'direct' },
        enabled: { ...CHILD, disabled: false },
        eager: { ...CHILD, start: 'eager' },
        lazy: { ...CHILD, show: 'flip', start: 'lazy', idleMs: 1000 },
        brief: { ...CHILD, start: 'eager', idleMs: 5 },
      },
    },
    '.switchboard/servers.json': { listed: CHILD, suite: { ...CHILD, show: 'suite' } },
  });
  expect(await usesIn(project)).toMatchInlineSnapshot(`
    {
      "brief": [
        "suite: default",
        "eager: "start" in <project>/switchboard.config.json",
        "5: "idleMs" in <project>/switchboard.config.json",
      ],
      "direct": [
        "direct: "show" in <project>/switchboard.config.json",
        "lazy: default",
        "600000: default",
      ],
      "disabled": [
        "off: "disabled": true in <project>/switchboard.config.json",
        "lazy: default",
        "600000: default",
      ],
      "eager": [
        "suite: default",
        "eager: "start" in <project>/switchboard.config.json",
        "0: default for eager servers",
      ],
      "enabled": [
        "suite: default",
        "lazy: default",
        "600000: default",
      ],
      "flip": [
        "flip: "show" in <project>/switchboard.config.json",
        "eager: default for flip servers",
        "0: default for flip servers",
      ],
      "lazy": [
        "flip: "show" in <project>/switchboard.config.json",
        "lazy: "start" in <project>/switchboard.config.json",
        "1000: "idleMs" in <project>/switchboard.config.json",
      ],
      "listed": [
        "flip: default for servers declared in <project>/.switchboard/servers.json",
        "eager: default for flip servers",
        "0: default for flip servers",
      ],
      "off": [
        "off: "show" in <project>/switchboard.config.json",
        "lazy: default",
        "600000: default",
      ],
      "suite": [
        "suite: "show" in <project>/.switchboard/servers.json",
        "lazy: default",
        "600000: default",
      ],
    }
  `);
});

test('suites.<name> takes precedence, the project’s over the user’s', async () => {
  const project = createProject({
    'switchboard.config.json': {
      mcpServers: { a: { ...CHILD, show: 'direct', start: 'eager', idleMs: 1 } },
      suites: { a: { show: 'flip' }, 'two words': { show: 'off' }, back: { show: 'suite' } },
    },
    [USER_FILE]: {
      mcpServers: { back: CHILD },
      suites: { a: { show: 'suite', start: 'lazy' }, back: { show: 'direct', idleMs: 0 } },
    },
    '.switchboard/servers.json': { 'two words': CHILD },
  });
  expect(await usesIn(project)).toMatchInlineSnapshot(`
    {
      "a": [
        "flip: suites.a.show in <project>/switchboard.config.json",
        "lazy: suites.a.start in <home>/.switchboard/switchboard.config.json",
        "1: "idleMs" in <project>/switchboard.config.json",
      ],
      "back": [
        "suite: suites.back.show in <project>/switchboard.config.json",
        "lazy: default",
        "0: suites.back.idleMs in <home>/.switchboard/switchboard.config.json",
      ],
      "two words": [
        "off: suites["two words"].show in <project>/switchboard.config.json",
        "lazy: default",
        "600000: default",
      ],
    }
  `);
});

test('an undefined key in a JavaScript file counts as unset', async () => {
  const project = createProject({
    'switchboard.config.mjs':
      'export default { suites: { a: { show: undefined, start: undefined, framing: undefined, expose: { allow: undefined } } } }',
    [USER_FILE]: {
      mcpServers: { a: CHILD },
      suites: {
        a: { show: 'flip', start: 'lazy', framing: 'newline', expose: { allow: ['x'] } },
      },
    },
  });
  expect((await project.load()).children.get('a')).toMatchObject({
    show: 'flip',
    start: 'lazy',
    framing: 'newline',
    expose: { allow: ['x'] },
  });
});

test('a server that is off is still known, and hides declarations with lower precedence', async () => {
  const project = createProject({
    'switchboard.config.json': {
      mcpServers: { on: CHILD, off: { ...CHILD, disabled: true } },
      suites: { off: { suiteName: 'x' } },
    },
    'mcps/off/.mcp.json': { name: 'off', command: { cmd: 'other' } },
  });
  const { children, warnings } = await project.load();
  expect([...children.values()].map(({ name, show }) => [name, show])).toEqual([
    ['on', 'suite'],
    ['off', 'off'],
  ]);
  expect(children.get('off')?.command?.cmd).toBe('node');
  expect(warnings).toEqual([]);
});

describe('SWITCHBOARD_CHILD_IDLE_MS', () => {
  const files = {
    'switchboard.config.json': {
      mcpServers: { usual: CHILD, own: { ...CHILD, idleMs: 7 }, warm: { ...CHILD, show: 'flip' } },
    },
  };

  test('replaces only the default of ten minutes', async () => {
    const uses = await usesIn(createProject(files), { SWITCHBOARD_CHILD_IDLE_MS: '5000' });
    expect(Object.values(uses).map(([, , idle]) => idle)).toEqual([
      '5000: SWITCHBOARD_CHILD_IDLE_MS',
      '7: "idleMs" in <project>/switchboard.config.json',
      '0: default for flip servers',
    ]);
  });

  test.each([
    ['', 600_000],
    ['0', 0],
    ['2147483647', 2 ** 31 - 1],
  ])('may be "%s"', async (text, idleMs) => {
    const { children } = await createProject(files).load({
      env: { SWITCHBOARD_CHILD_IDLE_MS: text },
    });
    expect(children.get('usual')?.idleMs).toBe(idleMs);
  });

  test.each(['soon', ' ', '-1', 'Infinity', '2147483648', '5s'])('cannot be "%s"', async (text) => {
    const project = createProject(files);
    expect(await project.loadError({ env: { SWITCHBOARD_CHILD_IDLE_MS: text } })).toBe(
      'CONFIG_INVALID: SWITCHBOARD_CHILD_IDLE_MS must be a number from 0 to 2147483647. Idle servers are stopped after this many milliseconds (0 = never).',
    );
  });
});

test('flip.suites comes from the file with the highest precedence', async () => {
  const project = createProject({
    'switchboard.config.json': { flip: {} },
    [USER_FILE]: { flip: { suites: 'always' } },
  });
  expect((await project.load()).flipSuites).toBe('always');
  project.write('switchboard.config.json', { flip: { suites: 'never' } });
  expect((await project.load()).flipSuites).toBe('never');
});
