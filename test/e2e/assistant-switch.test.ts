// `switchboard assistant` on the built program: what it lays out, what is left when it is switched off
// again, and what it refuses. The assistant itself is not run here.
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Outcome, runSwitchboard } from '../support/command.ts';
import { createProject, type Project } from '../support/project.ts';

const FOLDER = '.switchboard/mcps/memory';
const MEMORY = {
  name: 'memory',
  description: 'notes',
  command: { cmd: 'npx', args: ['-y', '@modelcontextprotocol/server-memory'] },
};

/** Switching on needs a model, which is not asked. */
function run(project: Project, ...args: string[]): Promise<Outcome> {
  const env: Record<string, string> = args.includes('on') ? { OPENAI_API_KEY: 'some-key' } : {};
  return runSwitchboard(project, ['assistant', ...args], { env });
}

async function runWell(project: Project, ...args: string[]): Promise<string> {
  const { status, stdout, stderr } = await run(project, ...args);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return stdout.replaceAll(project.dir, '<project>');
}

async function runBadly(project: Project, ...args: string[]): Promise<string> {
  const { status, stderr } = await run(project, ...args);
  expect(status).toBe(2);
  return stderr.replaceAll(project.dir, '<project>');
}

/** Every file below a folder, with its mode and content; our own home is left out. */
function tree(folder: string): Record<string, string> {
  const files: Record<string, string> = {};
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
    if (path.split('/')[0] === 'home') continue;
    const stat = statSync(join(folder, path));
    files[path] = stat.isDirectory()
      ? 'a folder'
      : `${(stat.mode & 0o7777).toString(8)} ${readFileSync(join(folder, path), 'latin1')}`;
  }
  return files;
}

function backups({ dir }: Project): string[] {
  const folder = join(dir, 'home/.switchboard/backups');
  if (!existsSync(folder)) return [];
  return readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
}

/** The tools that a host is shown. */
async function toolsOf(project: Project): Promise<unknown> {
  const ask = (id: number, method: string, params: object) =>
    `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;
  const hello = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 't', version: '1' },
  };
  const input = ask(1, 'initialize', hello) + ask(2, 'tools/list', {});
  const { stdout } = await runSwitchboard(project, [], { input });
  const answers = stdout
    .trim()
    .split('\n')
    .map((line): { id: number; result: unknown } => JSON.parse(line));
  return answers.find(({ id }) => id === 2)?.result;
}

describe('without a model', () => {
  const env = { PATH: '/nowhere' }; // whatever is installed here
  const inFolder = { [`${FOLDER}/.mcp.json`]: MEMORY };
  const inConfiguration = {
    'switchboard.config.json': { mcpServers: { memory: { command: 'x' } } },
  };
  const MISSING =
    'The assistant for server "memory" was not turned on. No model is available for the assistant: no API key is set, and the program "claude" is not on the PATH.';

  test.each([
    ['with a folder of its own', inFolder],
    ['in the configuration', inConfiguration],
  ])('a server %s is left unchanged, and the missing part is named', async (_what, files) => {
    const project = createProject(files);
    const before = tree(project.dir);
    for (const more of [[], ['--dry-run']]) {
      const args = ['assistant', 'memory', 'on', ...more];
      const { status, stdout, stderr } = await runSwitchboard(project, args, { env });
      expect([status, stdout]).toEqual([2, '']);
      expect(stderr).toContain(MISSING);
      expect(stderr).toContain('Set ANTHROPIC_API_KEY, or OPENAI_API_KEY');
    }
    expect(tree(project.dir)).toEqual(before);
  });

  test.each([
    [
      { provider: 'claude-cli' },
      'The assistant uses the program "claude", which is not on the PATH.',
    ],
    [{ provider: 'anthropic' }, 'The assistant has no API key for the provider "anthropic".'],
    [{ apiKeyEnv: 'MY_KEY' }, 'MY_KEY'],
  ])('existing settings apply: %j', async (assistant, words) => {
    const user = { suites: { memory: { assistant } } };
    const project = createProject({
      'switchboard.config.json': {
        mcpServers: { memory: { command: 'x' } },
        suites: { memory: { assistant: false } },
      },
      'home/.switchboard/switchboard.config.json': user,
    });
    const args = ['assistant', 'memory', 'on'];
    const { status, stderr } = await runSwitchboard(project, args, { env });
    expect(status).toBe(2);
    expect(stderr).toContain(words);
  });

  test('a local model does not need a key', async () => {
    const project = createProject(inConfiguration);
    const args = ['assistant', 'memory', 'on'];
    const local = { ...env, OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' };
    expect((await runSwitchboard(project, args, { env: local })).status).toBe(0);
    // One that is on already is left alone.
    expect((await runSwitchboard(project, args, { env })).status).toBe(0);
  });
});

describe('a server with its own folder', () => {
  const SHAPES: [string, string, number][] = [
    ['plain', `${JSON.stringify(MEMORY, null, 2)}\n`, 0o644],
    ['on one line, for its owner alone', JSON.stringify(MEMORY), 0o600],
    [
      'with comments, CRLF and a byte order mark, executable',
      '\ufeff{\r\n  // mine\r\n  "name": "memory", /* x */\r\n\t"command": "node", "args": ["x.js",],\r\n}\r\n\r\n',
      0o755,
    ],
    [
      'with keys of others, and a secret',
      JSON.stringify({ ...MEMORY, foo: 1, env: { K: 'hunter2hunter2' } }),
      0o640,
    ],
    ['over the network', JSON.stringify({ name: 'memory', url: 'https://mcp.example/mcp' }), 0o644],
    ['without anything to start', '{"name": "memory"}', 0o644],
  ];

  test.each(SHAPES)('%s: switching on and off restores it', async (_, content, mode) => {
    const project = createProject();
    chmodSync(project.write(`${FOLDER}/.mcp.json`, content), mode);
    const before = tree(project.dir);
    const shown = await toolsOf(project);

    await runWell(project, 'memory', 'on');
    const on = tree(project.dir);
    expect(Object.keys(on).filter((path) => on[path] !== 'a folder')).toEqual([
      `${FOLDER}/.mcp.json`,
      `${FOLDER}/CLAUDE.md`,
      `${FOLDER}/memory-claude-wrapper.mjs`,
      `${FOLDER}/original/.mcp.json`,
    ]);
    expect(on[`${FOLDER}/original/.mcp.json`]).toBe(before[`${FOLDER}/.mcp.json`]);
    const { command } = JSON.parse(
      readFileSync(join(project.dir, FOLDER, '.mcp.json'), 'utf8'),
    ) as {
      command: unknown;
    };
    expect(command).toEqual({ cmd: 'node', args: ['memory-claude-wrapper.mjs'] });
    expect(on[`${FOLDER}/.mcp.json`]).not.toContain('hunter2');
    expect(await toolsOf(project)).toEqual(shown);

    expect(await runWell(project, 'memory', 'on')).toBe(
      'Server "memory" already has an assistant. Nothing was changed.\n',
    );
    expect(tree(project.dir)).toEqual(on);

    await runWell(project, 'memory', 'off');
    expect(tree(project.dir)).toEqual(before);
    expect(await runWell(project, 'memory', 'off')).toBe(
      'Server "memory" has no assistant. Nothing was changed.\n',
    );
    expect(tree(project.dir)).toEqual(before);
  });

  test('reports its changes, and a dry run makes none', async () => {
    const project = createProject({ [`${FOLDER}/.mcp.json`]: MEMORY });
    const before = tree(project.dir);
    const steps = (text: string) => text.replaceAll(/(home\/\.switchboard\/backups\/)\S+/g, '$1…');
    const rehearsed = steps(await runWell(project, 'memory', 'on', '--dry-run'));
    expect(tree(project.dir)).toEqual(before);
    expect(rehearsed).toMatchInlineSnapshot(`
      "would back up <project>/.switchboard/mcps/memory/.mcp.json to <project>/home/.switchboard/backups/…
      would write <project>/.switchboard/mcps/memory/original/.mcp.json
      would write <project>/.switchboard/mcps/memory/memory-claude-wrapper.mjs
      would write <project>/.switchboard/mcps/memory/CLAUDE.md
      would write <project>/.switchboard/mcps/memory/.mcp.json
      "
    `);
    const done = steps(await runWell(project, 'memory', 'on'));
    expect(done).toMatchInlineSnapshot(`
      "backed up <project>/.switchboard/mcps/memory/.mcp.json to <project>/home/.switchboard/backups/…
      wrote <project>/.switchboard/mcps/memory/original/.mcp.json
      wrote <project>/.switchboard/mcps/memory/memory-claude-wrapper.mjs
      wrote <project>/.switchboard/mcps/memory/CLAUDE.md
      wrote <project>/.switchboard/mcps/memory/.mcp.json
      Server "memory" now has an assistant.
      Running sessions apply this by themselves. If one doesn't, run: switchboard reload
      "
    `);
    const on = tree(project.dir);
    const { changes, dryRun } = JSON.parse(
      await runWell(project, 'memory', 'off', '--dry-run', '--json'),
    ) as { changes: object[]; dryRun: boolean };
    expect(dryRun).toBe(true);
    expect(changes).toEqual([
      { action: 'write', path: `<project>/${FOLDER}/.mcp.json` },
      { action: 'remove', path: `<project>/${FOLDER}/CLAUDE.md` },
      { action: 'remove', path: `<project>/${FOLDER}/memory-claude-wrapper.mjs` },
    ]);
    expect(tree(project.dir)).toEqual(on);
  });

  test('works in the other location and with an odd name', async () => {
    const project = createProject({
      'mcps/odd/.mcp.json': { ...MEMORY, name: '../my "server"' },
      'mcps/b/.mcp.json': { ...MEMORY, name: 'b' },
    });
    const before = tree(project.dir);
    await runWell(project, '../my "server"', 'on');
    expect(readdirSync(join(project.dir, 'mcps/odd')).sort()).toEqual([
      '.mcp.json',
      'CLAUDE.md',
      '__my_server_-claude-wrapper.mjs',
      'original',
    ]);
    expect(await runWell(project)).toMatchInlineSnapshot(`
      "b               off  <project>/mcps/b/.mcp.json
      ../my "server"  on   by files next to <project>/mcps/odd/.mcp.json
        model: none: No model is available for the assistant: no API key is set, and the program "claude" is not on the PATH. Set ANTHROPIC_API_KEY, or OPENAI_API_KEY (with OPENAI_BASE_URL for another provider), in the host's environment, or install Claude Code.
      "
    `);
    await runWell(project, '../my "server"', 'off');
    expect(tree(project.dir)).toEqual(before);
  });

  test('is not found twice by a wide pattern', async () => {
    const project = createProject({
      'switchboard.config.json': { discoverGlobs: ['**/.mcp.json'] },
      'servers/memory/.mcp.json': MEMORY,
    });
    await runWell(project, 'memory', 'on');
    const { stdout } = await runSwitchboard(project, ['config', 'check']);
    expect(stdout).toContain('1 server, 0 warnings.');
  });

  test('concurrent switches do not conflict', async () => {
    const project = createProject({ [`${FOLDER}/.mcp.json`]: MEMORY });
    const before = tree(project.dir);
    await Promise.all([1, 2, 3].map(() => runWell(project, 'memory', 'on')));
    const on = tree(project.dir);
    expect(on[`${FOLDER}/original/.mcp.json`]).toBe(before[`${FOLDER}/.mcp.json`]);
    await Promise.all([1, 2, 3].map(() => runWell(project, 'memory', 'off')));
    expect(tree(project.dir)).toEqual(before);
  });
});

describe('the role', () => {
  const roleOf = ({ dir }: Project) => readFileSync(join(dir, FOLDER, 'CLAUDE.md'), 'utf8');

  test('comes from mcp-descriptions.json and follows it', async () => {
    const project = createProject({
      [`${FOLDER}/.mcp.json`]: MEMORY,
      'mcp-descriptions.json': { mcps: { memory: { claude: 'You keep our notes.' } } },
    });
    const before = tree(project.dir);
    await runWell(project, 'memory', 'on');
    expect(roleOf(project)).toBe('You keep our notes.\n');
    project.write('mcp-descriptions.json', { mcps: { memory: { claude: 'You keep all notes.' } } });
    await runWell(project, 'memory', 'on');
    expect(roleOf(project)).toBe('You keep all notes.\n');
    await runWell(project, 'memory', 'off');
    expect(Object.keys(tree(project.dir))).toEqual(Object.keys(before));
  });

  test('or from the library, by its command, even on repair', async () => {
    const project = createProject({ [`${FOLDER}/.mcp.json`]: MEMORY });
    project.write(`${FOLDER}/.mcp.json`, { ...MEMORY, name: 'brain' });
    await runWell(project, 'brain', 'on');
    expect(roleOf(project)).toContain('`search_nodes`');
    rmSync(join(project.dir, FOLDER, 'CLAUDE.md'));
    await runWell(project, 'brain', 'on');
    expect(roleOf(project)).toContain('`search_nodes`');
  });

  test('or is made from name and description', async () => {
    const file = { name: 'stock', description: 'the stock of our shops', command: 'node' };
    const project = createProject({ [`${FOLDER}/.mcp.json`]: file });
    await runWell(project, 'stock', 'on');
    expect(roleOf(project)).toContain('MCP server "stock"');
    expect(roleOf(project)).toContain('the stock of our shops');
  });

  test('that already exists is used and kept', async () => {
    const project = createProject({
      [`${FOLDER}/.mcp.json`]: MEMORY,
      [`${FOLDER}/CLAUDE.md`]: 'mine, from before\n',
    });
    const before = tree(project.dir);
    expect(await runWell(project, 'memory', 'on')).toContain(
      `using your file <project>/${FOLDER}/CLAUDE.md`,
    );
    await runWell(project, 'memory', 'on');
    expect(await runWell(project, 'memory', 'off')).toContain(
      `kept your file <project>/${FOLDER}/CLAUDE.md`,
    );
    expect(tree(project.dir)).toEqual(before);
  });

  test('that was edited is kept and used again', async () => {
    const project = createProject({ [`${FOLDER}/.mcp.json`]: MEMORY });
    await runWell(project, 'memory', 'on');
    project.write(`${FOLDER}/CLAUDE.md`, 'now mine\n');
    for (const state of ['off', 'on', 'off', 'on']) {
      await runWell(project, 'memory', state);
      expect(roleOf(project)).toBe('now mine\n');
    }
  });
});

describe('repairs an interrupted switch', () => {
  const SCRIPT = `${FOLDER}/memory-claude-wrapper.mjs`;
  const OWN = `${FOLDER}/.mcp.json`;
  const ORIGINAL = `${FOLDER}/original/.mcp.json`;
  const ROLE = `${FOLDER}/CLAUDE.md`;

  /** A project switched on, with one of its files as it was before, and some taken away. */
  async function halfDone({ missing, isOff }: { missing: string[]; isOff: boolean }) {
    const project = createProject({ [OWN]: MEMORY });
    const before = tree(project.dir);
    await runWell(project, 'memory', 'on');
    const on = tree(project.dir);
    if (isOff) cpSync(join(project.dir, ORIGINAL), join(project.dir, OWN));
    for (const path of missing) rmSync(join(project.dir, path));
    return { project, before, on };
  }

  function withoutDigests(files: Record<string, string>): Record<string, string> {
    return { ...files, [SCRIPT]: (files[SCRIPT] ?? '').replaceAll(/as written: .*/g, '') };
  }

  test.each([
    ['switching on, after the first file', { missing: [SCRIPT, ROLE], isOff: true }],
    ['switching on, after the second', { missing: [ROLE], isOff: true }],
    ['switching on, before the last step', { missing: [], isOff: true }],
    ['switching off, after the first step', { missing: [ORIGINAL], isOff: true }],
    ['switching off, after the second', { missing: [ORIGINAL, ROLE], isOff: true }],
    ['files lost: the wrapper', { missing: [SCRIPT], isOff: false }],
    ['files lost: the role', { missing: [ROLE], isOff: false }],
  ])('%s', async (_, state) => {
    const one = await halfDone(state);
    await runWell(one.project, 'memory', 'on');
    const mended = tree(one.project.dir);
    // Without its wrapper a role is taken for the user's, which the new wrapper says.
    const isRoleOurs = !state.missing.includes(SCRIPT) || state.missing.includes(ROLE);
    expect(mended[SCRIPT]?.includes('by the user')).toBe(!isRoleOurs);
    expect(withoutDigests(mended)).toEqual(withoutDigests(one.on));

    const other = await halfDone(state);
    await runWell(other.project, 'memory', 'off');
    const { [ROLE]: _role, ...left } = tree(other.project.dir);
    expect(left).toEqual(other.before);
  });

  test('a foreign original is backed up before it is replaced', async () => {
    const project = createProject({
      [OWN]: MEMORY,
      [ORIGINAL]: { ...MEMORY, description: 'another' },
    });
    await runWell(project, 'memory', 'on');
    expect(readFileSync(join(project.dir, ORIGINAL), 'utf8')).toBe(JSON.stringify(MEMORY, null, 2));
    expect(readFileSync(join(project.dir, OWN), 'utf8')).toContain('"description": "notes"');
    expect(backups(project).some((text) => text.includes('another'))).toBe(true);
  });

  test('a missing original is reported', async () => {
    const { project } = await halfDone({ missing: [ORIGINAL], isOff: false });
    const before = tree(project.dir);
    for (const state of ['on', 'off']) {
      expect(await runBadly(project, 'memory', state)).toMatchInlineSnapshot(`
        "switchboard: <project>/.switchboard/mcps/memory/.mcp.json starts an assistant, but the server's own file is missing: <project>/.switchboard/mcps/memory/original/.mcp.json.
        Restore it. Backups of <project>/.switchboard/mcps/memory/.mcp.json are in <project>/home/.switchboard/backups.
        "
      `);
    }
    expect(tree(project.dir)).toEqual(before);
    expect(backups(project)).toContain(JSON.stringify(MEMORY, null, 2));
  });
});

describe('never loses the user’s changes', () => {
  test('keeps an edited wrapper when switching on and off', async () => {
    const project = createProject({ [`${FOLDER}/.mcp.json`]: MEMORY });
    const before = tree(project.dir);
    await runWell(project, 'memory', 'on');
    const script = join(project.dir, FOLDER, 'memory-claude-wrapper.mjs');
    const mine = `${readFileSync(script, 'utf8')}// mine\n`;
    writeFileSync(script, mine);
    expect(await runWell(project, 'memory', 'on')).toContain('using your file');
    expect(readFileSync(script, 'utf8')).toBe(mine);
    await runWell(project, 'memory', 'off');
    expect(tree(project.dir)).toEqual(before);
    expect(backups(project)).toContain(mine);
  });

  test('updates a wrapper from another installation', async () => {
    const project = createProject({ [`${FOLDER}/.mcp.json`]: MEMORY });
    await runWell(project, 'memory', 'on');
    const on = tree(project.dir);
    const { wrapperScript } = await import('../../src/install/assistant-texts.ts');
    const role = readFileSync(join(project.dir, FOLDER, 'CLAUDE.md'), 'utf8');
    const old = wrapperScript('memory', 'file:///gone/dist/assistant.js', role);
    project.write(`${FOLDER}/memory-claude-wrapper.mjs`, old);
    await runWell(project, 'memory', 'on');
    expect(tree(project.dir)).toEqual(on);
  });

  test('backs up changes to the file that starts the wrapper', async () => {
    const project = createProject({ [`${FOLDER}/.mcp.json`]: MEMORY });
    const before = tree(project.dir);
    await runWell(project, 'memory', 'on');
    const file = join(project.dir, FOLDER, '.mcp.json');
    const mine = readFileSync(file, 'utf8').replace('"notes"', '"my notes"');
    writeFileSync(file, mine);
    await runWell(project, 'memory', 'on');
    expect(readFileSync(file, 'utf8')).toBe(mine);
    await runWell(project, 'memory', 'off');
    expect(tree(project.dir)).toEqual(before);
    expect(backups(project)).toContain(mine);
  });

  test('changes to the original become the server’s', async () => {
    const project = createProject({ [`${FOLDER}/.mcp.json`]: MEMORY });
    await runWell(project, 'memory', 'on');
    const changed = project.write(`${FOLDER}/original/.mcp.json`, { ...MEMORY, args: ['new'] });
    const text = readFileSync(changed, 'utf8');
    await runWell(project, 'memory', 'off');
    expect(readFileSync(join(project.dir, FOLDER, '.mcp.json'), 'utf8')).toBe(text);
  });

  test('unrelated files with those names are left alone', async () => {
    const project = createProject({
      [`${FOLDER}/.mcp.json`]: MEMORY,
      [`${FOLDER}/original/.mcp.json`]: 'not even JSON',
      [`${FOLDER}/memory-claude-wrapper.mjs`]: 'console.log("mine");\n',
    });
    const before = tree(project.dir);
    await runWell(project, 'memory', 'off');
    expect(tree(project.dir)).toEqual(before);
  });
});

describe('refuses without changing anything if', () => {
  test.each([
    ['the folder', FOLDER],
    ['the file', `${FOLDER}/.mcp.json`],
    ['the folder of all servers', '.switchboard/mcps'],
    ['the folder above it', '.switchboard'],
  ])('%s is a link', async (_, path) => {
    const project = createProject({ [`${FOLDER}/.mcp.json`]: MEMORY });
    mkdirSync(join(project.dir, 'elsewhere'));
    renameSync(join(project.dir, path), join(project.dir, 'elsewhere/real'));
    symlinkSync(join(project.dir, 'elsewhere/real'), join(project.dir, path));
    const before = tree(project.dir);
    expect(await runBadly(project, 'memory', 'on')).toBe(
      `switchboard: <project>/${path} is a symbolic link, which Switchboard doesn't change.\n` +
        'To get the same effect, add this to switchboard.config.json: {"suites":{"memory":{"assistant":true}}}\n',
    );
    expect(tree(project.dir)).toEqual(before);
  });

  test('something else is in the original’s place', async () => {
    const project = createProject({
      [`${FOLDER}/.mcp.json`]: MEMORY,
      [`${FOLDER}/original`]: 'mine',
    });
    const before = tree(project.dir);
    expect(await runBadly(project, 'memory', 'on')).toContain('Cannot read or write');
    expect(tree(project.dir)).toEqual(before);
  });

  test('rules would not apply', async () => {
    const rules = { expose: { deny: ['delete_*'] } };
    const project = createProject({
      'servers/memory/.mcp.json': MEMORY,
      'switchboard.config.json': {
        discoverGlobs: ['servers/*/.mcp.json'],
        suites: { memory: rules },
      },
    });
    const before = tree(project.dir);
    expect(await runBadly(project, 'memory', 'on')).toMatchInlineSnapshot(`
      "switchboard: If another host starts the assistant for server "memory" from its folder, suites.memory.expose in <project>/switchboard.config.json would have no effect.
      Set "expose" in <project>/servers/memory/.mcp.json instead, or put {"suites":{"memory":{"assistant":true}}} in switchboard.config.json, which needs no files.
      "
    `);
    expect(tree(project.dir)).toEqual(before);
    project.write('switchboard.config.json', {
      discoverGlobs: ['servers/*/.mcp.json'],
      environment: 'minimal',
    });
    expect(await runBadly(project, 'memory', 'on')).toContain('environment in <project>');
    project.write('switchboard.config.json', { discoverGlobs: ['servers/*/.mcp.json'] });
    project.write('servers/memory/.mcp.json', { ...MEMORY, ...rules, environment: 'minimal' });
    await runWell(project, 'memory', 'on');
  });

  test('but accepts rules the assistant finds in this project', async () => {
    const rules = { expose: { deny: ['x'] }, environment: 'minimal' };
    const project = createProject({
      [`${FOLDER}/.mcp.json`]: MEMORY,
      'switchboard.config.json': { environment: 'minimal', suites: { memory: rules } },
    });
    await runWell(project, 'memory', 'on');
    const { stdout } = await runSwitchboard(project, ['config', 'print']);
    const [memory] = (JSON.parse(stdout) as { children: object[] }).children;
    // The assistant needs the model's key; the server does not get it.
    expect(memory).toMatchObject({ environment: 'inherit', behind: { environment: 'minimal' } });
  });

  test('a server or a word does not exist', async () => {
    const project = createProject({ [`${FOLDER}/.mcp.json`]: MEMORY });
    expect(await runBadly(project, 'memry', 'on')).toBe(
      'switchboard: No server is named "memry".\nDid you mean memory?\n',
    );
    expect(await runBadly(project, 'memory', 'maybe')).toMatchInlineSnapshot(`
      "switchboard: Invalid state: "maybe".
      Use on, off or status. For example: switchboard assistant memory on
      "
    `);
    expect(await runBadly(project, 'on')).toBe(
      'switchboard: Missing server name.\nFor example: switchboard assistant memory on\n',
    );
  });
});

describe('a server in the configuration', () => {
  const CONFIGS: [string, string][] = [
    ['plain', '{\n  "mcpServers": {\n    "memory": { "command": "node" }\n  }\n}\n'],
    ['on one line', '{"mcpServers":{"memory":{"command":"node"}}}'],
    [
      'with comments, CRLF, tabs and a byte order mark',
      '\ufeff{\r\n\t// mine\r\n\t"mcpServers": { "memory": { "command": "node" } }, // all\r\n\t"suites": {},\r\n}\r\n',
    ],
    [
      'with settings of its own',
      '{ "mcpServers": { "memory": {"command":"x"} }, "suites": { "memory": {} } }',
    ],
  ];

  test.each(CONFIGS)('%s: switching on and off restores the files', async (_, content) => {
    const project = createProject({ 'switchboard.config.json': content });
    chmodSync(join(project.dir, 'switchboard.config.json'), 0o640);
    const before = tree(project.dir);
    await runWell(project, 'memory', 'on');
    const { stdout } = await runSwitchboard(project, ['config', 'print']);
    const { children } = JSON.parse(stdout) as { children: { assistant: boolean; role: string }[] };
    expect(children).toMatchObject([
      { assistant: {}, role: expect.stringContaining('knowledge graph') },
    ]);
    expect(await runWell(project)).toContain('memory  on   by the configuration');
    expect(await runWell(project, 'memory', 'on')).toContain('Nothing was changed');
    await runWell(project, 'memory', 'off');
    expect(tree(project.dir)).toEqual(before);
    expect(await runWell(project, 'memory', 'off')).toContain('Nothing was changed');
  });

  test('including one whose file is next to others', async () => {
    const project = createProject({
      'switchboard.config.json': '{ "discoverGlobs": ["servers/*.json"] }\n',
      'servers/memory.json': MEMORY,
      'servers/b.json': { ...MEMORY, name: 'b' },
    });
    const before = tree(project.dir);
    await runWell(project, 'memory', 'on');
    expect(readdirSync(join(project.dir, 'servers'))).toEqual(['b.json', 'memory.json']);
    expect(await runWell(project)).toContain('memory  on   by the configuration');
    await runWell(project, 'memory', 'off');
    expect(tree(project.dir)).toEqual(before);
  });

  test('a dry run writes nothing', async () => {
    const project = createProject({ 'switchboard.config.json': CONFIGS[0]?.[1] ?? '' });
    const before = tree(project.dir);
    expect(await runWell(project, 'memory', 'on', '--dry-run')).toContain(
      'would write <project>/mcp-descriptions.json\n',
    );
    expect(tree(project.dir)).toEqual(before);
    await runWell(project, 'memory', 'on');
    const on = tree(project.dir);
    expect(await runWell(project, 'memory', 'off', '--dry-run')).toContain(
      'would remove <project>/mcp-descriptions.json\n',
    );
    expect(tree(project.dir)).toEqual(on);
  });

  test('keeps changes made in the meantime, in both files', async () => {
    const project = createProject({
      'switchboard.config.json': CONFIGS[0]?.[1] ?? '',
      'mcp-descriptions.json': '{\n  // ours\n  "mcps": { "memory": "Notes.", "b": "B." }\n}\n',
    });
    await runWell(project, 'memory', 'on');
    const config = join(project.dir, 'switchboard.config.json');
    writeFileSync(config, readFileSync(config, 'utf8').replace('"node"', '"deno"'));
    const texts = join(project.dir, 'mcp-descriptions.json');
    expect(readFileSync(texts, 'utf8')).toContain('"switchboard": "Notes."');
    writeFileSync(texts, readFileSync(texts, 'utf8').replace('"B."', '"C."'));
    await runWell(project, 'memory', 'off');
    expect(readFileSync(config, 'utf8')).toBe(CONFIGS[0]?.[1].replace('"node"', '"deno"'));
    expect(readFileSync(texts, 'utf8')).toBe(
      '{\n  // ours\n  "mcps": { "memory": { "switchboard": "Notes." }, "b": "C." }\n}\n',
    );
  });

  test('an edited role is kept, and an existing one is not replaced', async () => {
    const mine = { mcps: { memory: { claude: 'mine' } } };
    const project = createProject({
      'switchboard.config.json': CONFIGS[0]?.[1] ?? '',
      '.switchboard/mcp-descriptions.json': mine,
    });
    const before = tree(project.dir);
    await runWell(project, 'memory', 'on');
    expect(existsSync(join(project.dir, 'mcp-descriptions.json'))).toBe(false);
    await runWell(project, 'memory', 'off');
    expect(tree(project.dir)).toEqual(before);
  });

  test('the user has in every project is changed in the user’s files', async () => {
    const project = createProject({
      'home/.switchboard/switchboard.config.json': { mcpServers: { memory: { command: 'node' } } },
      'home/.switchboard/servers.json': { time: { command: 'uvx', args: ['mcp-server-time'] } },
    });
    const home = join(project.dir, 'home/.switchboard');
    const content = () => readFileSync(join(home, 'switchboard.config.json'), 'utf8');
    const before = content();
    await runWell(project, 'memory', 'on');
    await runWell(project, 'time', 'on');
    const on: unknown = JSON.parse(content());
    expect(on).toMatchObject({
      suites: { memory: { assistant: true }, time: { assistant: true } },
    });
    expect(readFileSync(join(home, 'mcp-descriptions.json'), 'utf8')).toContain('convert_time');
    await runWell(project, 'time', 'off');
    await runWell(project, 'memory', 'off');
    expect(content()).toBe(before);
    expect(existsSync(join(home, 'mcp-descriptions.json'))).toBe(false);
    expect(tree(project.dir)).toEqual({});
  });

  test('declared with an assistant is overridden', async () => {
    const project = createProject({
      'switchboard.config.json': { mcpServers: { x: { command: 'node', assistant: true } } },
    });
    expect(await runWell(project, 'x')).toContain('x  on   by the configuration');
    await runWell(project, 'x', 'off');
    expect(await runWell(project, 'x')).toContain('x  off');
    await runWell(project, 'x', 'on');
    expect(await runWell(project, 'x')).toContain('x  on');
  });

  test('in a JavaScript file is not rewritten', async () => {
    const project = createProject({
      'switchboard.config.mjs': 'export default { mcpServers: { x: { command: "node" } } };\n',
    });
    expect(await runBadly(project, 'x', 'on')).toContain(
      'Add this to its export: {"suites":{"x":{"assistant":true}}}',
    );
    project.write(
      'switchboard.config.mjs',
      'export default { mcpServers: { x: {} }, suites: { x: { assistant: true } } };\n',
    );
    expect(await runBadly(project, 'x', 'off')).toContain(
      'Remove suites.x.assistant from its export.',
    );
  });

  test('with a broken descriptions file is left unchanged', async () => {
    const project = createProject({
      'switchboard.config.json': CONFIGS[0]?.[1] ?? '',
      'mcp-descriptions.json': '{"mcps": [',
    });
    const before = tree(project.dir);
    expect(await runBadly(project, 'memory', 'on')).toContain(
      'Cannot add the role for server "memory"',
    );
    expect(tree(project.dir)).toEqual(before);
  });
});

test('a server with its own file that the configuration switched on is switched off there', async () => {
  const project = createProject({
    [`${FOLDER}/.mcp.json`]: MEMORY,
    'switchboard.config.json': '{ "suites": { "memory": { "assistant": true } } }\n',
  });
  const file = readFileSync(join(project.dir, FOLDER, '.mcp.json'), 'utf8');
  expect(await runWell(project, 'memory', 'on')).toContain('mcp-descriptions.json');
  expect(await runWell(project, 'memory', 'on')).toContain('Nothing was changed');
  await runWell(project, 'memory', 'off');
  expect(readFileSync(join(project.dir, FOLDER, '.mcp.json'), 'utf8')).toBe(file);
  expect(readFileSync(join(project.dir, 'switchboard.config.json'), 'utf8')).toBe('{}\n');
});

test('doctor reports unused descriptions, and config check the files it read', async () => {
  const project = createProject({
    'switchboard.config.json': {
      mcpServers: { memory: { command: 'no-such-program' } },
      suites: { memory: { description: 'notes' } },
    },
    'mcp-descriptions.json': { mcps: { memory: 'other notes' } },
  });
  const { stdout } = await runSwitchboard(project, ['doctor']);
  expect(stdout).toContain(
    'note: its "switchboard" text in mcp-descriptions.json is not used, because suites.memory.description takes precedence.',
  );
  const check = await runSwitchboard(project, ['config', 'check']);
  expect(check.stdout).toContain(`, ${join(project.dir, 'mcp-descriptions.json')}.`);
});

test.each(['memory-claude-wrapper.mjs', 'CLAUDE.md'])(
  'a folder in the place of %s is refused before anything changes',
  async (name) => {
    const project = createProject({
      [`${FOLDER}/.mcp.json`]: MEMORY,
      [`${FOLDER}/${name}/a-file-in-it`]: '',
    });
    const before = tree(project.dir);
    expect(await runBadly(project, 'memory', 'on')).toContain(`${FOLDER}/${name} is not a file.`);
    expect(tree(project.dir)).toEqual(before);
    expect(backups(project)).toEqual([]);
  },
);

test('it may have another name when switched off', async () => {
  const project = createProject({ [`${FOLDER}/.mcp.json`]: MEMORY });
  await runWell(project, 'memory', 'on');
  const file = join(project.dir, FOLDER, '.mcp.json');
  const wrapper = JSON.parse(readFileSync(file, 'utf8')) as object;
  project.write(`${FOLDER}/.mcp.json`, { ...wrapper, name: 'notes' });
  const said = await runWell(project, 'notes', 'off');
  expect(said).toContain('Server "notes" no longer has an assistant.');
  expect(said).toContain('It is named "memory" in its own file.');
  expect(readFileSync(file, 'utf8')).toBe(JSON.stringify(MEMORY, null, 2));
  expect(await runWell(project, 'memory')).toContain('off');
});

test('a removed server file is reported with its kept copy, and the server is not started', async () => {
  const project = createProject({ [`${FOLDER}/.mcp.json`]: MEMORY });
  await runWell(project, 'memory', 'on');
  rmSync(join(project.dir, FOLDER, '.mcp.json'));
  const where = `its original is still in <project>/${FOLDER}/original/.mcp.json. Move it back`;
  expect(await runBadly(project, 'memory', 'off')).toContain(where);
  const call = await runSwitchboard(project, ['call', 'memory', 'natural_language']);
  expect(call.stderr.replaceAll(project.dir, '<project>')).toContain(where);
  expect((await runSwitchboard(project, ['config', 'check'])).stdout).toContain('is missing');
});

test.each(['serve', 'on', 'off', 'status'])('a server called %s can be switched', async (name) => {
  const project = createProject({
    'switchboard.config.json': { mcpServers: { [name]: { command: 'server' } } },
  });
  const before = tree(project.dir);
  expect(await runWell(project, name, 'on', '--dry-run')).toContain('would');
  expect(tree(project.dir)).toEqual(before);
  await runWell(project, name, 'on');
  expect(await runWell(project, name, 'status')).toContain('on   by the configuration');
  await runWell(project, name, 'off');
  expect(tree(project.dir)).toEqual(before);
});

test('a manual switch adds the role, once', async () => {
  const server = { command: 'npx', args: ['-y', '@modelcontextprotocol/server-memory'] };
  const project = createProject({
    'switchboard.config.json': { mcpServers: { notes: { ...server, assistant: true } } },
  });
  expect(await runWell(project, 'notes', 'on')).toContain('mcp-descriptions.json');
  const file = join(project.dir, 'mcp-descriptions.json');
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
    mcps: { notes: { claude: expect.stringContaining('knowledge graph') as string } },
  });
  expect(await runWell(project, 'notes', 'on')).toContain('Nothing was changed');
  // It is known by what is started, also while an assistant stands before it.
  await runWell(project, 'notes', 'off');
  expect(existsSync(file)).toBe(false);
});
