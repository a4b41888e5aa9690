import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { agentSettings } from '../../support/agent-settings.ts';
import { createProject } from './temp-project.ts';

const CHILD = { command: 'node', args: ['a.js'] };

describe('which file is read', () => {
  test('without any file, the defaults apply and there are no servers', async () => {
    const project = createProject();
    expect(await project.load()).toEqual({
      project: project.folder,
      home: join(project.homeFolder, '.switchboard'),
      homeFolder: project.homeFolder,
      files: [],
      soughtIn: { patterns: ['.switchboard/mcps/*/.mcp.json', 'mcps/*/.mcp.json'], files: [] },
      children: new Map(),
      era: 'auto',
      questionMs: 600_000,
      introspection: { mode: 'summary', summaryMaxChars: 160 },
      toolChanges: 'scan',
      stopMs: 2_000,
      flipSuites: 'auto',
      messageBytes: 16 * 1024 * 1024,
      messageShape: { depth: 1_000, members: 2_000_000 },
      agents: agentSettings(
        {},
        {
          project: project.folder,
          home: join(project.homeFolder, '.switchboard'),
          homeFolder: project.homeFolder,
        },
      ),
      logging: { level: 'info', form: 'compact', folder: undefined },
      warnings: [],
    });
  });

  test('JSON takes precedence over JavaScript, which is then not run', async () => {
    const project = createProject({
      'switchboard.config.js': 'throw new Error("run")',
      'switchboard.config.jsonc': { mcpServers: { second: CHILD } },
      'switchboard.config.json': { mcpServers: { first: CHILD } },
    });
    expect([...(await project.load()).children.keys()]).toEqual(['first']);
  });

  test('the project is WORKSPACE_DIR if that is set, and nothing above it', async () => {
    const project = createProject({
      'switchboard.config.json': { mcpServers: { above: CHILD } },
      'inner/switchboard.config.json': { mcpServers: { inner: CHILD } },
      'empty/file': '',
    });
    const inner = await project.load({ env: { WORKSPACE_DIR: 'inner' } });
    expect(inner.project).toBe(join(project.folder, 'inner'));
    expect([...inner.children.keys()]).toEqual(['inner']);
    expect((await project.load({ cwd: join(project.folder, 'empty') })).children.size).toBe(0);
  });

  test('a named file replaces the project file; the flag takes precedence', async () => {
    const project = createProject({
      'switchboard.config.json': { mcpServers: { own: CHILD } },
      'env.json': { mcpServers: { env: CHILD } },
      'flag.json': { mcpServers: { flag: CHILD } },
    });
    const env = { SWITCHBOARD_CONFIG: 'env.json' };
    expect([...(await project.load({ env })).children.keys()]).toEqual(['env']);
    const both = await project.load({ env, configFile: 'flag.json' });
    expect([...both.children.keys()]).toEqual(['flag']);
    expect(both.files).toEqual([join(project.folder, 'flag.json')]);
  });

  test('a named file that does not exist is an error', async () => {
    const project = createProject();
    expect(
      await project.loadError({ env: { SWITCHBOARD_CONFIG: 'no.json' } }),
    ).toMatchInlineSnapshot(
      `"CONFIG_INVALID: Configuration file not found: <project>/no.json. Correct SWITCHBOARD_CONFIG, or remove it."`,
    );
    expect(await project.loadError({ configFile: '/no/such.json' })).toMatchInlineSnapshot(
      `"CONFIG_INVALID: Configuration file not found: /no/such.json. Correct --config, or remove it."`,
    );
  });

  test('the user file is in SWITCHBOARD_HOME or in the home folder', async () => {
    const project = createProject({
      '../home/.switchboard/switchboard.config.json': { mcpServers: { standard: CHILD } },
      '../elsewhere/switchboard.config.json': { mcpServers: { elsewhere: CHILD } },
    });
    expect([...(await project.load()).children.keys()]).toEqual(['standard']);
    const other = await project.load({ env: { SWITCHBOARD_HOME: '../elsewhere' } });
    expect([...other.children.keys()]).toEqual(['elsewhere']);
    expect(other.home).toBe(join(project.folder, '../elsewhere'));
  });
});

describe('precedence', () => {
  test('a server comes entirely from one declaration', async () => {
    const project = createProject({
      'switchboard.config.json': { mcpServers: { a: { command: 'project' } } },
      '../home/.switchboard/switchboard.config.json': {
        mcpServers: {
          b: { command: 'user', description: 'user' },
          a: { command: 'user', description: 'user' },
        },
      },
      'mcps/a/.mcp.json': { name: 'a', command: { cmd: 'file' }, switchboardDescription: 'file' },
      'mcps/b/.mcp.json': { name: 'b', command: { cmd: 'file' } },
      'mcps/c/.mcp.json': { name: 'c', command: { cmd: 'file' } },
    });
    const { children, warnings } = await project.load();
    const seen = [...children.values()].map(({ name, command, description }) => [
      name,
      command?.cmd,
      description,
    ]);
    expect(seen).toEqual([
      ['a', 'project', undefined],
      ['b', 'user', 'user'],
      ['c', 'file', undefined],
    ]);
    expect(children.get('a')?.switchboardDescription).toBeUndefined();
    expect(warnings).toEqual([]);
  });

  test('other objects are merged, and a partial one keeps the other defaults', async () => {
    const project = createProject({
      'switchboard.config.json': {
        mcpServers: { a: { ...CHILD, framing: 'newline', expose: { deny: ['entry'] } } },
        timeouts: { rpcMs: 1 },
        suites: { a: { expose: { allow: ['project'] } } },
      },
      '../home/.switchboard/switchboard.config.json': {
        timeouts: { rpcMs: 2, stopMs: 3 },
        introspection: { mode: 'full' },
        suites: {
          a: { suiteName: 'user', expose: { allow: ['user'] }, framing: 'content-length' },
        },
      },
    });
    expect((await project.load()).children.get('a')).toMatchObject({
      timeouts: { spawnMs: 8000, rpcMs: 1, stopMs: 3 },
      introspection: { mode: 'full', summaryMaxChars: 160 },
      suiteName: 'user',
      framing: 'content-length',
      // Rules of several files all apply.
      expose: { allow: ['project'], deny: ['entry'], within: { allow: ['user'] } },
    });
  });

  test('suites override the entry and a child file', async () => {
    const keys = {
      suiteName: 'weak',
      summaryMaxChars: 1,
      rpcTimeoutMs: 1,
      stderr: 'drop',
      protocolVersion: '2024-11-05',
      environment: 'minimal',
      results: { wrap: 'json' },
      description: 'weak',
    };
    const strong = {
      suiteName: 'strong',
      summaryMaxChars: 2,
      rpcTimeoutMs: 2,
      stderr: 'log',
      protocolVersion: '2025-06-18',
      environment: 'inherit',
      results: { wrap: 'mcp' },
      description: 'strong',
    };
    const project = createProject({
      'switchboard.config.json': {
        mcpServers: { a: { ...CHILD, ...keys } },
        suites: { a: strong, b: strong },
        environment: 'minimal',
        results: { wrap: 'json' },
      },
      'mcps/b/.mcp.json': { name: 'b', ...CHILD, ...keys },
    });
    const { children } = await project.load();
    for (const name of ['a', 'b']) {
      expect(children.get(name)).toMatchObject({
        suiteName: 'strong',
        description: 'weak',
        suiteDescription: 'strong',
        introspection: { summaryMaxChars: 2 },
        timeouts: { rpcMs: 2 },
        stderr: 'log',
        protocolVersion: '2025-06-18',
        environment: 'inherit',
        wrapResults: 'mcp',
      });
    }
  });

  test('a file’s discoverGlobs replace the default ones', async () => {
    const project = createProject({
      'switchboard.config.json': { discoverGlobs: ['servers/*.json'] },
      'servers/a.json': { name: 'a', ...CHILD },
      'mcps/b/.mcp.json': { name: 'b', ...CHILD },
    });
    expect([...(await project.load()).children.keys()]).toEqual(['a']);
  });

  test('suites for an undeclared server are a warning', async () => {
    const project = createProject({
      'switchboard.config.json': { mcpServers: { github: CHILD }, suites: { githb: {}, zzz: {} } },
    });
    expect((await project.load()).warnings.map(project.plain)).toMatchInlineSnapshot(`
      [
        "<project>/switchboard.config.json: suites.githb: no such server. Did you mean "github"?",
        "<project>/switchboard.config.json: suites.zzz: no such server.",
      ]
    `);
  });
});

describe('a resolved server', () => {
  test('has defaults for everything unset', async () => {
    const project = createProject({ 'switchboard.config.json': { mcpServers: { a: CHILD } } });
    expect((await project.load()).children.get('a')).toEqual({
      name: 'a',
      origin: join(project.folder, 'switchboard.config.json'),
      show: 'suite',
      showBecause: 'default',
      start: 'lazy',
      startBecause: 'default',
      idleMs: 600_000,
      idleBecause: 'default',
      remote: undefined,
      command: { cmd: 'node', args: ['a.js'], env: {} },
      problem: undefined,
      cwd: project.folder,
      isCwdGiven: false,
      description: undefined,
      switchboardDescription: undefined,
      suiteName: undefined,
      suiteDescription: undefined,
      expose: { allow: undefined, deny: undefined },
      readOnlyTool: false,
      introspection: { mode: 'summary', summaryMaxChars: 160 },
      toolChanges: 'scan',
      timeouts: { spawnMs: 8000, rpcMs: 60_000, stopMs: 2000 },
      messageBytes: 16 * 1024 * 1024,
      messageShape: { depth: 1_000, members: 2_000_000 },
      environment: 'inherit',
      passEnv: [],
      share: 'project',
      shareBecause: "it isn't declared in your own files",
      lingerMs: 0,
      maxMemoryMb: undefined,
      stderr: 'inherit',
      framing: 'auto',
      protocolVersion: undefined,
      wrapResults: 'mcp',
      resultSecrets: 'pass',
      redact: [],
    });
  });

  test('both command forms mean the same everywhere', async () => {
    const hosts = { command: 'node', args: ['x'], env: { PORT: 80, DEBUG: true, NAME: 'n' } };
    const files = {
      command: { cmd: 'node', args: ['x'], env: { PORT: 80, DEBUG: true, NAME: 'n' } },
    };
    const project = createProject({
      'switchboard.config.json': { mcpServers: { a: hosts, b: files } },
      'mcps/c/.mcp.json': { name: 'c', ...hosts },
      'mcps/d/.mcp.json': { name: 'd', ...files },
    });
    for (const { command } of (await project.load()).children.values()) {
      expect(command).toEqual({
        cmd: 'node',
        args: ['x'],
        env: { PORT: '80', DEBUG: 'true', NAME: 'n' },
      });
    }
  });

  test('cwd is relative to the project, or to the child file’s folder', async () => {
    const project = createProject({
      'switchboard.config.json': {
        mcpServers: { a: { ...CHILD, cwd: 'sub' }, b: { ...CHILD, cwd: '~/x' } },
      },
      'mcps/c/.mcp.json': { name: 'c', ...CHILD },
      'mcps/d/.mcp.json': { name: 'd', ...CHILD, cwd: '../..' },
    });
    const { children } = await project.load();
    expect([...children.values()].map(({ cwd }) => project.plain(cwd))).toEqual([
      '<project>/sub',
      '<home>/x',
      '<project>/mcps/c',
      '<project>',
    ]);
  });

  test('a child file without a command runs dist/index.js if it exists', async () => {
    const project = createProject({
      'mcps/built/.mcp.json': { name: 'built' },
      'mcps/built/dist/index.js': '',
      'mcps/bare/.mcp.json': { name: 'bare', description: 'nothing here' },
      'dist/index.js': 'another program',
      'switchboard.config.json': { mcpServers: { main: {} } },
    });
    const { children, warnings } = await project.load();
    expect(children.get('built')).toMatchObject({
      command: { cmd: process.execPath, args: ['dist/index.js'], env: {} },
      problem: undefined,
    });
    expect(children.get('main')?.command).toBeUndefined();
    expect(children.get('bare')?.problem?.code).toBe('CHILD_NOT_CONFIGURED');
    expect(project.plain(children.get('bare')?.problem?.text ?? '')).toMatchInlineSnapshot(
      `"Server "bare" has neither a "command" nor a "url". Add "command" or "url" to <project>/mcps/bare/.mcp.json, or build its program to dist/index.js in the same folder."`,
    );
    expect(warnings).toEqual([]);
  });

  test('names of Object.prototype are ordinary names', async () => {
    const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
    const servers = names.map((name) => `"${name}": {"command": "x", "env": {"__proto__": "v"}}`);
    const suites = names.map((name) => `"${name}": {"suiteName": "s_${name}"}`);
    const text = `{"mcpServers": {${servers.join()}}, "suites": {${suites.join()}}}`;
    for (const content of [text, `// comment\n${text}`]) {
      const project = createProject({ 'switchboard.config.json': content });
      const { children, warnings } = await project.load();
      expect([...children.values()].map(({ suiteName }) => suiteName)).toEqual(
        names.map((name) => `s_${name}`),
      );
      expect(Object.keys(children.get('__proto__')?.command?.env ?? {})).toEqual(['__proto__']);
      expect(warnings).toEqual([]);
    }
  });
});
