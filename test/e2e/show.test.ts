// `switchboard show`: what it says about servers, which file it writes, and how carefully.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Outcome, type RunOptions, runSwitchboard } from '../support/command.ts';
import { createProject, PROGRAM, type Project } from '../support/project.ts';
import { RawHost, toolsOf } from '../support/raw-host.ts';
import { MOCK_CHILD } from '../support/servers.ts';

const OWN = 'switchboard.config.json';
const OF_USER = 'home/.switchboard/switchboard.config.json';
const BACKUPS = 'home/.switchboard/backups';

/** Runs `switchboard show`; what differs between machines and runs is made the same. */
async function show(project: Project, words: readonly string[], options: RunOptions = {}) {
  const { status, stdout, stderr } = await runSwitchboard(project, ['show', ...words], options);
  const steady = (text: string) =>
    text
      .replaceAll(project.dir, '<project>')
      .replaceAll(/(backups\/switchboard\.config\.json)\.\w{8}\.[\w.-]+\w/g, '$1.<time>');
  return { status, stdout: steady(stdout), stderr: steady(stderr) };
}

/** The same where it must succeed. */
async function showWell(project: Project, words: readonly string[], options: RunOptions = {}) {
  const { status, stdout, stderr } = await show(project, words, options);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return stdout;
}

/** The same where it must fail: what it says. */
async function showBadly(project: Project, words: readonly string[], options: RunOptions = {}) {
  const { status, stdout, stderr } = await show(project, words, options);
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  return stderr;
}

const textOf = (project: Project, file: string) => readFileSync(join(project.dir, file), 'utf8');
const jsonOf = (project: Project, file: string) => JSON.parse(textOf(project, file)) as unknown;
const modeOf = (project: Project, file: string) => statSync(join(project.dir, file)).mode & 0o777;
const backupsOf = (project: Project) => {
  const folder = join(project.dir, BACKUPS);
  return existsSync(folder) ? readdirSync(folder).map((name) => join(BACKUPS, name)) : [];
};

describe('without a mode, shows how servers are shown', () => {
  const files = {
    [OWN]: {
      mcpServers: {
        memory: MOCK_CHILD,
        github: { ...MOCK_CHILD, show: 'direct', suiteName: 'gh' },
        old: { ...MOCK_CHILD, disabled: true },
      },
      suites: { memory: { idleMs: 90_000 } },
    },
    'home/.switchboard/servers.json': { playwright: MOCK_CHILD },
  };

  test('all of them', async () => {
    expect(await showWell(createProject(files), [])).toMatchInlineSnapshot(`
      "memory      suite   memory_suite
      github      direct  its own tools
      old         off     "disabled": true in <project>/switchboard.config.json
      playwright  flip    its own tools, while activated with gateway_activate
      "
    `);
    expect(await showWell(createProject(), [])).toMatchInlineSnapshot(`
      "No servers are configured. Add one under "mcpServers" in switchboard.config.json,
      or import a host's: switchboard import <file>
      "
    `);
  });

  test('one of them, with the reason', async () => {
    const project = createProject(files);
    const says: string[] = [];
    for (const name of ['memory', 'github', 'old', 'playwright']) {
      says.push(await showWell(project, [name]));
    }
    expect(says.join('\n')).toMatchInlineSnapshot(`
      "memory is shown as suite
        reason    default
        tools     memory_suite
        start     lazy, on first use (default)
        stop      after 90 s without a call (suites.memory.idleMs in <project>/switchboard.config.json)
        declared  <project>/switchboard.config.json

      github is shown as direct
        reason    "show" in <project>/switchboard.config.json
        tools     its own (list them with: switchboard tools github)
        suite     gh, can always be called
        start     lazy, on first use (default)
        stop      after 10 min without a call (default)
        declared  <project>/switchboard.config.json

      old is shown as off
        reason    "disabled": true in <project>/switchboard.config.json
        tools     none
        declared  <project>/switchboard.config.json

      playwright is shown as flip
        reason    default for servers declared in <project>/home/.switchboard/servers.json
        tools     its own, while activated with gateway_activate (list them with: switchboard tools playwright)
        suite     playwright_suite, can always be called
        start     eager, as soon as a host connects (default for flip servers)
        stop      never when idle (default for flip servers)
        declared  <project>/home/.switchboard/servers.json
      "
    `);
  });

  test('with their tool names, once listed', async () => {
    const project = createProject(files);
    expect((await runSwitchboard(project, ['tools'])).status).toBe(0);
    expect(await showWell(project, [])).toContain('its own tools (4), while activated');
    expect(await showWell(project, ['github'])).toContain(
      'its own: click, echo, navigate, type_text\n',
    );
    // The same names are taken by github, whose tools are always listed.
    expect(await showWell(project, ['playwright'])).toContain(
      'while activated with gateway_activate: playwright_click, playwright_echo, playwright_navigate, playwright_type_text\n',
    );
  });

  test('as JSON', async () => {
    const project = createProject(files);
    const all = JSON.parse(await showWell(project, ['--json'])) as { children: object[] };
    expect(all.children).toHaveLength(4);
    const one = JSON.parse(await showWell(project, ['github', '--json'])) as unknown;
    expect(one).toEqual({
      children: [
        {
          name: 'github',
          show: 'direct',
          showBecause: '"show" in <project>/switchboard.config.json',
          suite: 'gh',
          start: 'lazy',
          startBecause: 'default',
          idleMs: 600_000,
          idleBecause: 'default',
          origin: '<project>/switchboard.config.json',
        },
      ],
    });
    expect(all.children).toContainEqual((one as typeof all).children[0]);
  });
});

describe('with a mode, writes it', () => {
  test('and reports the effect, the reason, and how to reload', async () => {
    const project = createProject({ [OWN]: { mcpServers: { memory: MOCK_CHILD } } });
    const before = textOf(project, OWN);
    expect(await showWell(project, ['memory', 'flip'])).toMatchInlineSnapshot(`
      "Wrote <project>/switchboard.config.json.
      Backup: <project>/home/.switchboard/backups/switchboard.config.json.<time>
      memory is shown as flip
        reason    suites.memory.show in <project>/switchboard.config.json
        tools     its own, while activated with gateway_activate (list them with: switchboard tools memory)
        suite     memory_suite, can always be called
        start     eager, as soon as a host connects (default for flip servers)
        stop      never when idle (default for flip servers)
        declared  <project>/switchboard.config.json

      Running sessions apply this by themselves. If one doesn't, run: switchboard reload
      "
    `);
    expect(jsonOf(project, OWN)).toEqual({
      mcpServers: { memory: MOCK_CHILD },
      suites: { memory: { show: 'flip' } },
    });
    const [backup = '', ...more] = backupsOf(project);
    expect(more).toEqual([]);
    expect(textOf(project, backup)).toBe(before);
    expect([modeOf(project, backup), modeOf(project, BACKUPS)]).toEqual([0o600, 0o700]);
    expect(readdirSync(project.dir).sort()).toEqual(['home', OWN]);
  });

  test('so that the next session sees it', async () => {
    const project = createProject({ [OWN]: { mcpServers: { a: MOCK_CHILD, b: MOCK_CHILD } } });
    await showWell(project, ['a', 'off']);
    await showWell(project, ['b', 'flip', '--start', 'lazy']);
    const host = await RawHost.connect(project);
    const tools = toolsOf(await host.request('tools/list'));
    expect(tools.map(({ name }) => name)).toEqual([
      'gateway_activate',
      'gateway_deactivate',
      'gateway_status',
    ]);
  });

  test('with start and stop settings, or only those', async () => {
    const project = createProject({ [OWN]: { mcpServers: { memory: MOCK_CHILD } } });
    await showWell(project, ['memory', 'direct', '--start', 'eager', '--idle-ms', '0']);
    expect(jsonOf(project, OWN)).toMatchObject({
      suites: { memory: { show: 'direct', start: 'eager', idleMs: 0 } },
    });
    const says = await showWell(project, ['memory', '--idle-ms', '1500']);
    expect(says).toContain('after 1.5 s without a call (suites.memory.idleMs in <project>');
    expect(jsonOf(project, OWN)).toMatchObject({
      suites: { memory: { show: 'direct', start: 'eager', idleMs: 1500 } },
    });
  });

  test('everything requested, even if only part of it changes: the rest may depend on it', async () => {
    const project = createProject({
      [OWN]: { mcpServers: { m: { ...MOCK_CHILD, show: 'flip' } } },
    });
    await showWell(project, ['m', 'suite', '--start', 'eager']);
    expect(jsonOf(project, OWN)).toMatchObject({
      suites: { m: { show: 'suite', start: 'eager' } },
    });
  });

  test('as JSON', async () => {
    const project = createProject({ [OWN]: { mcpServers: { memory: MOCK_CHILD } } });
    expect(JSON.parse(await showWell(project, ['memory', 'flip', '--json']))).toMatchObject({
      children: [{ name: 'memory', show: 'flip' }],
      change: {
        file: '<project>/switchboard.config.json',
        isChanged: true,
        backup: '<project>/home/.switchboard/backups/switchboard.config.json.<time>',
      },
    });
    expect(JSON.parse(await showWell(project, ['memory', 'flip', '--json']))).toMatchObject({
      children: [{ name: 'memory', show: 'flip' }],
      change: { isChanged: false },
    });
  });

  test('over "disabled" in the declaration', async () => {
    const project = createProject({
      [OWN]: { mcpServers: { memory: { ...MOCK_CHILD, disabled: true } } },
    });
    expect(await showWell(project, ['memory', 'suite'])).toContain('memory is shown as suite');
  });

  test('for any name', async () => {
    const names = ['a.b', 'say "hi"', '__proto__', 'constructor', 'two words', '-x'];
    const servers = names.map((name) => `${JSON.stringify(name)}: ${JSON.stringify(MOCK_CHILD)}`);
    const project = createProject({ [OWN]: `{"mcpServers": {${servers.join()}}}` });
    for (const name of names) await showWell(project, ['--', name, 'off']);
    const { suites } = jsonOf(project, OWN) as { suites: object };
    expect(Object.entries(suites)).toEqual(names.map((name) => [name, { show: 'off' }]));
  });
});

describe('writes to the effective file', () => {
  const suites = { memory: { show: 'direct' } };
  const mcpServers = { memory: MOCK_CHILD };
  const other = { mcpServers: { other: MOCK_CHILD } };

  test.each<[string, Record<string, object>, string[], string]>([
    ['declared in the project’s file', { [OWN]: { mcpServers } }, [], OWN],
    ['declared in the user’s file', { [OWN]: other, [OF_USER]: { mcpServers } }, [], OF_USER],
    [
      'declared in the project’s servers.json',
      { '.switchboard/servers.json': mcpServers, [OF_USER]: other },
      [],
      OWN,
    ],
    [
      'declared in the user’s servers.json',
      { 'home/.switchboard/servers.json': mcpServers, [OWN]: other },
      [],
      OF_USER,
    ],
    [
      'declared in a child file',
      { 'mcps/m/.mcp.json': { name: 'memory', ...MOCK_CHILD }, [OF_USER]: other },
      [],
      OWN,
    ],
    [
      'declared in the project, but spoken of by the user',
      { [OWN]: { mcpServers }, [OF_USER]: { suites } },
      [],
      OF_USER,
    ],
    [
      'declared by the user, but spoken of in the project',
      { [OWN]: { suites }, [OF_USER]: { mcpServers, suites } },
      [],
      OWN,
    ],
    ['--user', { [OWN]: { mcpServers } }, ['--user'], OF_USER],
    ['--project', { [OF_USER]: { mcpServers } }, ['--project'], OWN],
    ['--config', { 'more/c.json': { mcpServers } }, ['--config', 'more/c.json'], 'more/c.json'],
  ])('%s', async (_, files, words, expected) => {
    const project = createProject(files);
    const before = new Map(Object.keys(files).map((file) => [file, textOf(project, file)]));
    const says = await showWell(project, ['memory', 'off', ...words]);
    expect(says).toContain(`Wrote <project>/${expected}.\n`);
    expect(says).toContain('memory is shown as off\n');
    expect(jsonOf(project, expected)).toMatchObject({ suites: { memory: { show: 'off' } } });
    for (const [file, text] of before) {
      expect(textOf(project, file) === text).toBe(file !== expected);
    }
    expect(backupsOf(project)).toHaveLength(before.has(expected) ? 1 : 0);
  });

  test('a .jsonc if that is the file', async () => {
    const project = createProject({ 'switchboard.config.jsonc': { mcpServers } });
    expect(await showWell(project, ['memory', 'off'])).toContain('switchboard.config.jsonc.\n');
    expect(existsSync(join(project.dir, OWN))).toBe(false);
  });

  test('a new file, private if it is the user’s', async () => {
    const project = createProject({ 'home/.switchboard/servers.json': mcpServers });
    await showWell(project, ['memory', 'suite']);
    expect(textOf(project, OF_USER)).toBe(
      '{\n  "suites": {\n    "memory": {\n      "show": "suite"\n    }\n  }\n}\n',
    );
    expect(modeOf(project, OF_USER)).toBe(0o600);
  });

  test('a new file with the schema, if the project has it', async () => {
    const schema = './node_modules/switchboard/switchboard.config.schema.json';
    const project = createProject({
      'mcps/m/.mcp.json': { name: 'memory', ...MOCK_CHILD },
      [schema]: {},
    });
    await showWell(project, ['memory', 'off']);
    expect(jsonOf(project, OWN)).toEqual({
      $schema: schema,
      suites: { memory: { show: 'off' } },
    });
  });

  test('and fails if something with higher precedence remains', async () => {
    const project = createProject({
      [OWN]: { mcpServers },
      'other.json': { mcpServers, suites },
    });
    const env = { SWITCHBOARD_CONFIG: 'other.json' };
    expect(await showBadly(project, ['memory', 'flip', '--user'], { env })).toMatchInlineSnapshot(`
      "switchboard: Nothing was changed: in this project, show of server "memory" is direct (suites.memory.show in <project>/other.json).
      That setting takes precedence. Change it there, or leave out --user.
      "
    `);
    expect(existsSync(join(project.dir, OF_USER))).toBe(false);
  });
});

describe('writes nothing', () => {
  test('if it already applies, by any rule', async () => {
    const project = createProject({
      [OWN]: { mcpServers: { a: MOCK_CHILD }, suites: { a: { start: 'eager' } } },
      '.switchboard/servers.json': { b: MOCK_CHILD },
    });
    const file = join(project.dir, OWN);
    const before = { text: textOf(project, OWN), inode: statSync(file).ino };
    for (const words of [
      ['a', 'suite'],
      ['b', 'flip'],
      ['a', '--start', 'eager'],
    ]) {
      expect(await showWell(project, words)).toMatch(/^Already set\. Nothing was changed\.\n/);
    }
    await showWell(project, ['a', '--start', 'eager', '--project']);
    expect({ text: textOf(project, OWN), inode: statSync(file).ino }).toEqual(before);
    expect(backupsOf(project)).toEqual([]);
    // A file that was asked for gets it all the same.
    await showWell(project, ['b', 'flip', '--project']);
    expect(jsonOf(project, OWN)).toMatchObject({ suites: { b: { show: 'flip' } } });
  });

  test.each([
    [['memry', 'flip'], 'No server is named "memry".\nDid you mean memory?\n'],
    [['memry'], 'No server is named "memry".'],
    [['memory', 'flop'], 'Invalid value for show: "flop".\nUse one of: suite, flip, direct, off.'],
    [['memory', ''], 'Invalid value for show: "".'],
    [['memory', '--start', 'now'], 'Invalid value for --start: "now".\nUse one of: lazy, eager.'],
    [
      ['memory', '--idle-ms', 'soon'],
      'Invalid value for --idle-ms: "soon".\nUse a number from 0 (never) to 2147483647.',
    ],
    [['memory', '--idle-ms', '2147483648'], 'Invalid value for --idle-ms: "2147483648".'],
    [['memory', 'flip', '--user', '--project'], 'Use either --user or --project, not both.'],
    [['memory', '--user'], '--user and --project require a change.'],
    [['--start', 'lazy'], 'Missing server name.'],
    [['memory', 'flip', 'more'], 'Too many arguments'],
  ])('for %j', async (words, says) => {
    const project = createProject({ [OWN]: { mcpServers: { memory: MOCK_CHILD } } });
    const before = textOf(project, OWN);
    expect(await showBadly(project, words)).toContain(says);
    expect(textOf(project, OWN)).toBe(before);
    expect(existsSync(join(project.dir, 'home'))).toBe(false);
  });

  test('to a JavaScript configuration, and says what to add', async () => {
    const file = 'switchboard.config.mjs';
    const text = `export default ${JSON.stringify({ mcpServers: { memory: MOCK_CHILD } })};\n`;
    const project = createProject({ [file]: text });
    expect(await showBadly(project, ['memory', 'flip', '--idle-ms', '5'])).toMatchInlineSnapshot(`
      "switchboard: <project>/switchboard.config.mjs is JavaScript, which Switchboard can't edit.
      Add this to its export: {"suites":{"memory":{"show":"flip","idleMs":5}}}
      "
    `);
    expect(textOf(project, file)).toBe(text);
    // The user's file is JSON, or can be.
    expect(await showWell(project, ['memory', 'flip', '--user'])).toContain('is shown as flip');
  });

  test('to a file that does not parse or is invalid', async () => {
    const project = createProject({ [OWN]: '{"mcpServers": {}' });
    expect(await showBadly(project, ['memory', 'flip'])).toContain(`${OWN}:1:18: Invalid JSON`);
    expect(textOf(project, OWN)).toBe('{"mcpServers": {}');
    project.write(OWN, '{"suites": []}');
    expect(await showBadly(project, ['memory', 'flip'])).toContain('suites: expected an object');
    expect(textOf(project, OWN)).toBe('{"suites": []}');
  });

  test('to an unwritable folder, and says so', async () => {
    const project = createProject({ [OWN]: { mcpServers: { memory: MOCK_CHILD } } });
    const { status, stderr } = runWithoutRights(project, ['show', 'memory', 'flip']);
    expect(status).toBe(2);
    expect(stderr.replaceAll(project.dir, '<project>')).toMatchInlineSnapshot(`
      "switchboard: Cannot write <project>/switchboard.config.json.
      EACCES: permission denied, mkdir '<project>/home/.switchboard'.
      "
    `);
    expect(jsonOf(project, OWN)).toEqual({ mcpServers: { memory: MOCK_CHILD } });
  });

  test('without a backup', async () => {
    const project = createProject({
      [OWN]: { mcpServers: { memory: MOCK_CHILD } },
      [BACKUPS]: 'a file in the place of the folder',
    });
    expect(await showBadly(project, ['memory', 'flip'])).toContain('Cannot write ');
    expect(jsonOf(project, OWN)).toEqual({ mcpServers: { memory: MOCK_CHILD } });
    expect(readdirSync(project.dir).sort()).toEqual(['home', OWN]);
  });
});

describe('preserves the file', () => {
  const server = `"memory": ${JSON.stringify(MOCK_CHILD)}`;

  test('with its comments, tabs, line ends, byte order mark and missing last line end', async () => {
    const text = `\uFEFF// mine\r\n{\r\n\t"mcpServers": { ${server} }, // one\r\n\t"suites": {\r\n\t\t"memory": {\r\n\t\t\t"stderr": "drop", // loud\r\n\t\t},\r\n\t},\r\n}`;
    const project = createProject({ [OWN]: text });
    await showWell(project, ['memory', 'direct']);
    expect(textOf(project, OWN)).toBe(
      text.replace('// loud\r\n', '// loud\r\n\t\t\t"show": "direct",\r\n'),
    );
  });

  test.each([0o600, 0o644, 0o660])('with its mode', async (mode) => {
    const project = createProject({ [OWN]: `{"mcpServers": {${server}}}` });
    chmodSync(join(project.dir, OWN), mode);
    await showWell(project, ['memory', 'off']);
    expect(modeOf(project, OWN)).toBe(mode);
  });

  function linkConfiguration(): Project {
    const project = createProject({
      'dotfiles/x': '',
      'mcps/m/.mcp.json': { name: 'memory', ...MOCK_CHILD },
    });
    symlinkSync('dotfiles/link.json', join(project.dir, OWN));
    symlinkSync('board.json', join(project.dir, 'dotfiles/link.json'));
    return project;
  }

  test('behind a link, which stays a link', async () => {
    const project = linkConfiguration();
    project.write('dotfiles/board.json', '{ "timeouts": { "rpcMs": 5 } }');
    await showWell(project, ['memory', 'off']);
    const link = join(project.dir, OWN);
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(readlinkSync(link)).toBe('dotfiles/link.json');
    expect(jsonOf(project, 'dotfiles/board.json')).toMatchObject({
      suites: { memory: { show: 'off' } },
    });
    expect(readdirSync(join(project.dir, 'dotfiles')).sort()).toEqual([
      'board.json',
      'link.json',
      'x',
    ]);
  });

  test('but not through a broken link', async () => {
    const project = linkConfiguration();
    const { status, stderr } = await runSwitchboard(project, ['show', 'memory', 'off']);
    expect(status).toBe(2);
    expect(stderr).toContain('which does not exist.\nCreate the target, or remove the link.\n');
    expect(readdirSync(join(project.dir, 'dotfiles')).sort()).toEqual(['link.json', 'x']);
  });

  test('despite unrelated files next to it', async () => {
    const project = createProject({
      [OWN]: `{"mcpServers": {${server}}}`,
      [`${OWN}.new`]: 'of a repository',
    });
    await showWell(project, ['memory', 'off']);
    expect(jsonOf(project, OWN)).toMatchObject({ suites: { memory: { show: 'off' } } });
    expect(textOf(project, `${OWN}.new`)).toBe('of a repository');
  });

  test('during concurrent writes: each is applied, and nothing is lost', async () => {
    const names = Array.from({ length: 8 }, (_, index) => `server${index}`);
    const mcpServers = Object.fromEntries(names.map((name) => [name, MOCK_CHILD]));
    const project = createProject({ [OWN]: { mcpServers } });
    const outcomes = await Promise.all(names.map((name) => show(project, [name, 'flip'])));
    expect(outcomes.map(({ status, stderr }) => ({ status, stderr }))).toEqual(
      names.map(() => ({ status: 0, stderr: '' })),
    );
    const { suites } = jsonOf(project, OWN) as { suites: Record<string, unknown> };
    expect(Object.keys(suites).sort()).toEqual(names);
    expect(readdirSync(project.dir).sort()).toEqual(['home', OWN]);
    expect(backupsOf(project)).toHaveLength(names.length);
  });
});

/** Runs the program as somebody who may read the project and write nowhere. */
function runWithoutRights(project: Project, args: readonly string[]): Outcome {
  const folders = [project.dir, join(project.dir, 'home')];
  mkdirSync(join(project.dir, 'home'), { recursive: true });
  writeFileSync(join(project.dir, 'home', 'x'), '');
  for (const folder of folders) chmodSync(folder, 0o555);
  // Nothing is forbidden to an administrator.
  const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], {
    cwd: project.dir,
    env: { ...project.env, SWITCHBOARD_TRUST: 'all' }, // the files are somebody else's
    encoding: 'utf8',
    ...nobody,
  });
  for (const folder of folders) chmodSync(folder, 0o755);
  return { status, stdout, stderr };
}
