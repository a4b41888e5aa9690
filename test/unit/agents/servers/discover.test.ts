import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import {
  type DiscoverServersOptions,
  discoverServers,
} from '../../../../src/agents/servers/discover.ts';
import { agentSettings } from '../../../support/agent-settings.ts';
import { createProject } from '../../../support/project.ts';

/** Folders with these files: those below `home/` are the user's, the others the project's. */
function setUp(files: Record<string, string | object> = {}) {
  const folder = createProject();
  const [project, homeFolder] = [join(folder.dir, 'ws'), join(folder.dir, 'home')];
  const pathOf = (path: string) => (path.startsWith('home/') ? path : join('ws', path));
  const add = (path: string, content: string | object) => folder.write(pathOf(path), content);
  mkdirSync(project, { recursive: true });
  for (const [path, content] of Object.entries(files)) add(path, content);
  const plain = (text: string) => text.replaceAll(project, '<ws>').replaceAll(homeFolder, '~');
  const discover = async (more: Partial<DiscoverServersOptions> = {}) => {
    const settings = agentSettings();
    const found = await discoverServers({ settings, project, homeFolder, env: {}, ...more });
    return { ...found, warnings: found.warnings.map(plain) };
  };
  return { project, homeFolder, add, plain, discover };
}

const runs = (command: string) => ({ x: { command } });

/** Strongest first: a file that declares the server `x`, and what it starts there. */
const FILES: [string, (command: string) => string | object][] = [
  ['home/user-mcp.json', (command) => ({ servers: runs(command) })],
  ['.vscode/mcp.json', (command) => ({ servers: runs(command) })],
  ['home/.claude.json', (command) => ({ mcpServers: runs(command) })],
  ['.mcp.json', (command) => ({ mcpServers: runs(command) })],
  ['.cursor/mcp.json', (command) => ({ mcpServers: runs(command) })],
  ['home/.cursor/mcp.json', (command) => ({ mcpServers: runs(command) })],
  ['.codex/config.toml', (command) => `[mcp_servers.x]\ncommand = "${command}"\n`],
  ['home/.codex/config.toml', (command) => `[mcp_servers.x]\ncommand = "${command}"\n`],
  ['.gemini/settings.json', (command) => ({ mcpServers: runs(command) })],
  ['home/.gemini/settings.json', (command) => ({ mcpServers: runs(command) })],
];

test.each(FILES.map(([file], index) => [file, index] as const))(
  '%s takes precedence over all that come after it',
  async (file, index) => {
    const weaker = FILES.slice(index).toReversed();
    const { homeFolder, plain, discover } = setUp(
      Object.fromEntries(weaker.map(([path, write]) => [path, write(path)])),
    );
    const named = { vscodeUserMcp: join(homeFolder, 'user-mcp.json') };
    const { servers, warnings } = await discover({
      settings: agentSettings(index === 0 ? named : {}),
    });

    expect(warnings).toEqual([]);
    expect(servers.map(({ cmd }) => cmd)).toEqual([file]);
    const expected = file.startsWith('home/') ? file.replace('home/', '~/') : `<ws>/${file}`;
    expect(plain(servers[0]?.origin ?? '')).toBe(expected);
  },
);

test('a configured user file that is missing is a warning', async () => {
  const { homeFolder, discover } = setUp();
  const settings = agentSettings({ vscodeUserMcp: join(homeFolder, 'nowhere.json') });
  expect((await discover({ settings })).warnings).toEqual([
    '~/nowhere.json: File not found. Check VSCODE_USER_MCP.',
  ]);
});

test('a server keeps all its settings, and runs in the project if declared there', async () => {
  const entry = { command: 'a', args: ['${X}'], env: { N: 1, T: true, S: 's' } };
  const { project, homeFolder, discover } = setUp({
    '.mcp.json': { mcpServers: { here: entry, deep: { ...entry, cwd: 'sub' } } },
    'home/.claude.json': { mcpServers: { there: { ...entry, cwd: '~/sub' }, run: entry } },
  });
  const { servers } = await discover();

  expect(servers.find(({ key }) => key === 'here')).toEqual({
    key: 'here',
    origin: join(project, '.mcp.json'),
    cmd: 'a',
    args: ['${X}'],
    env: { N: '1', T: 'true', S: 's' },
    cwd: project,
    url: undefined,
    headers: {},
    isInjected: false,
    expose: { allow: undefined, deny: undefined },
    isOwn: false,
  });
  const folders = Object.fromEntries(servers.map(({ key, cwd }) => [key, cwd]));
  expect(folders).toEqual({
    here: project,
    deep: join(project, 'sub'),
    there: join(homeFolder, 'sub'),
    run: undefined,
  });
});

test('nothing is found if there is nothing or discovery is off', async () => {
  const { discover, add } = setUp();
  const nothing = { servers: [], leftOut: new Map(), warnings: [] };
  expect(await discover()).toEqual(nothing);
  add('.mcp.json', { mcpServers: runs('a') });
  expect((await discover()).servers).toHaveLength(1);
  const settings = agentSettings({ mcpDiscovery: false });
  expect(await discover({ settings })).toEqual(nothing);
});

test("Claude Code: the project's servers come before the user's; approvals of .mcp.json apply", async () => {
  const { project, add, discover } = setUp({
    '.mcp.json': {
      mcpServers: { yes: { command: 'y' }, no: { command: 'n' }, new: { command: 'w' } },
    },
    '.claude/settings.local.json': { disabledMcpjsonServers: ['no'] },
  });
  const keys = async () => (await discover()).servers.map(({ key }) => key).sort();
  expect(await keys()).toEqual(['new', 'yes']);

  const here = { mcpServers: { a: { command: 'here' } }, enabledMcpjsonServers: ['yes', 'no'] };
  const user = { mcpServers: { a: { command: 'user' }, no: { command: 'the user own' } } };
  add('home/.claude.json', {
    ...user,
    projects: { [project]: here, '/other': { mcpServers: runs('x') } },
  });
  const { servers } = await discover();
  expect(servers.map(({ key, cmd }) => [key, cmd])).toEqual([
    ['a', 'here'],
    ['no', 'the user own'],
    ['yes', 'y'],
  ]);

  add('home/.claude.json', { projects: { [project]: { disabledMcpServers: ['yes'] } } });
  expect(await keys()).toEqual(['new']);

  // As Claude Code writes it down before anybody was asked.
  add('home/.claude.json', { projects: { [project]: { enabledMcpjsonServers: [] } } });
  expect(await keys()).toEqual(['new', 'yes']);
});

test('Claude Code: its file follows CLAUDE_CONFIG_DIR', async () => {
  const { homeFolder, discover } = setUp({ 'home/c/.claude.json': { mcpServers: runs('c') } });
  const { servers } = await discover({ env: { CLAUDE_CONFIG_DIR: join(homeFolder, 'c') } });
  expect(servers.map(({ cmd }) => cmd)).toEqual(['c']);
});

test('VS Code: either key, with comments and trailing commas', async () => {
  const text = '\uFEFF{ // mine\n "servers": { "x": { "command": "a", /* */ "args": [], }, }, }';
  const { add, discover } = setUp({ '.vscode/mcp.json': text });
  expect((await discover()).servers.map(({ cmd }) => cmd)).toEqual(['a']);
  add('.vscode/mcp.json', { mcpServers: runs('b') });
  expect((await discover()).servers.map(({ cmd }) => cmd)).toEqual(['b']);
});

test('Codex: its own keys for variables, and a literal `${`', async () => {
  const { homeFolder, discover } = setUp({
    'home/codex/config.toml': `
      model = "m"
      [mcp_servers.program]
      command = "\${HOME}/a"
      env = { LITERAL = "\${X}" }
      env_vars = ["SET", { name = "ALSO", source = "local" }, "UNSET"]
      enabled_tools = ["a", "b"]
      disabled_tools = ["b"]
      startup_timeout_sec = 5
      [mcp_servers.address]
      url = "https://example.com/mcp"
      bearer_token_env_var = "TOKEN"
      http_headers = { "X-A" = "a" }
      env_http_headers = { "X-B" = "B" }
      [mcp_servers.off]
      command = "off"
      enabled = false
    `,
  });
  const codexHome = join(homeFolder, 'codex');
  const env = { CODEX_HOME: codexHome, SET: 's', ALSO: 't' };
  const { servers, warnings } = await discover({ env });

  expect(warnings).toEqual([]);
  expect(servers).toMatchObject([
    {
      key: 'program',
      cmd: '$${HOME}/a',
      env: { LITERAL: '$${X}', SET: '${SET}', ALSO: '${ALSO}' },
      expose: { allow: ['a', 'b'], deny: ['b'] },
    },
    {
      key: 'address',
      cmd: undefined,
      url: 'https://example.com/mcp',
      headers: { 'X-A': 'a', 'X-B': '${B}', Authorization: 'Bearer ${TOKEN}' },
    },
  ]);
  const settings = agentSettings({ codexHome });
  expect((await discover({ settings })).servers).toHaveLength(2);
});

test('Gemini CLI: plain variables, both kinds of URL, and its tool lists', async () => {
  const { discover } = setUp({
    '.gemini/settings.json': {
      mcpServers: {
        a: { command: '$HOME/a', env: { K: '${K}' }, includeTools: ['t'], trust: true },
        old: { url: 'https://example.com/sse' },
        new: { httpUrl: 'https://example.com/mcp' },
        typed: { url: 'https://example.com/mcp', type: 'http' },
        out: { command: 'out' },
        other: { command: 'other' },
      },
      mcp: { allowed: ['a', 'old', 'new', 'typed', 'out'], excluded: ['out'] },
    },
  });
  const { servers, leftOut } = await discover();

  expect(servers.map(({ key }) => key)).toEqual(['a', 'new', 'typed']);
  expect(servers[0]).toMatchObject({
    cmd: '${HOME:-$HOME}/a',
    env: { K: '${K}' },
    expose: { allow: ['t'] },
  });
  expect([...leftOut.keys()]).toEqual(['old']);
});

test('URLs: Streamable HTTP is kept, the others need a proxy; disabled ones are left out', async () => {
  const url = 'https://example.com/mcp?key=s3cr3t-of-mine';
  const { discover } = setUp({
    '.mcp.json': {
      mcpServers: {
        plain: { url },
        http: { url, type: 'http', headers: { A: '${T}' } },
        streamable: { url, type: 'streamable-http' },
        sse: { url, type: 'sse' },
        ws: { url: 'wss://example.com' },
        odd: { url, type: 'carrier-pigeon' },
        socket: { url: 'unix:///run/mcp.sock' },
        variable: { url: '${ADDRESS}' },
        both: { url, command: 'c' },
        off: { command: 'off', disabled: true },
        offToo: { command: 'off', enabled: false },
        sseOff: { url, type: 'sse', disabled: true },
      },
    },
  });
  const { servers, leftOut, warnings } = await discover();

  expect(servers.map(({ key, cmd, url: address }) => [key, cmd, address])).toEqual([
    ['plain', undefined, url],
    ['http', undefined, url],
    ['streamable', undefined, url],
    ['variable', undefined, '${ADDRESS}'],
    ['both', 'c', undefined],
  ]);
  const off = ['off', 'offToo', 'sseOff'];
  expect([...leftOut.keys()]).toEqual(['sse', 'ws', 'odd', 'socket', ...off]);
  expect(warnings).toMatchInlineSnapshot(`
    [
      "<ws>/.mcp.json: Server "sse" uses HTTP with server-sent events, which agents can't use. Bridge it with a program such as mcp-proxy: { "command": "mcp-proxy", "args": ["<url>"] }.",
      "<ws>/.mcp.json: Server "ws" uses WebSocket, which agents can't use. Bridge it with a program such as mcp-proxy: { "command": "mcp-proxy", "args": ["<url>"] }.",
      "Server "odd" has a "url", but its type "carrier-pigeon" is not supported for remote servers. Set "type" to "http", "sse" or "ws" in <ws>/.mcp.json, or remove it.",
      "<ws>/.mcp.json: Server "socket" has a URL that is not HTTP.",
    ]
  `);
  expect(warnings.join()).not.toContain('s3cr3t');
});

test('a file with lower precedence fills in for unusable entries', async () => {
  const { discover } = setUp({
    '.vscode/mcp.json': { servers: { x: { url: 'https://example.com', type: 'sse' } } },
    '.mcp.json': { mcpServers: runs('proxy') },
  });
  expect((await discover()).servers.map(({ cmd }) => cmd)).toEqual(['proxy']);
});

test('broken files are named without their content, and the others are read', async () => {
  const { project, homeFolder, discover } = setUp({
    '.mcp.json': '{ "mcpServers": { "a": { "command": "s3cr3t" ',
    '.vscode/mcp.json': [],
    '.cursor/mcp.json': { mcpServers: ['s3cr3t'] },
    '.codex/config.toml': '[mcp_servers.x]\ncommand = "s3cr3t" oops',
    '.gemini/settings.json': '',
    'home/.claude.json': {
      mcpServers: { a: 1, b: { command: 7 }, c: { args: [] }, '': runs('d').x },
    },
    'home/.codex/config.toml': '[mcp_servers.good]\ncommand = "good"\n',
    'home/.gemini/settings.json': `{"mcpServers":{"big":{"command":"${'s'.repeat(9 << 20)}"}}}`,
  });
  const pipe = join(homeFolder, '.cursor', 'mcp.json');
  mkdirSync(dirname(pipe), { recursive: true });
  execFileSync('mkfifo', [pipe]);
  mkdirSync(join(project, '.claude', 'settings.json'), { recursive: true });
  const { servers, warnings } = await discover();

  expect(servers.map(({ key }) => key)).toEqual(['good']);
  expect(warnings).toMatchInlineSnapshot(`
    [
      "<ws>/.vscode/mcp.json: expected an object. The file is ignored.",
      "<ws>/.claude/settings.json: Not a regular file. The file is ignored.",
      "~/.claude.json: Server "a" is not a valid server entry and is ignored.",
      "~/.claude.json: Server "b" is not a valid server entry and is ignored.",
      "~/.claude.json: Server "c" has no command and no url and is ignored.",
      "~/.claude.json: Server "" is not a valid server entry and is ignored.",
      "<ws>/.mcp.json:1:46: Invalid JSON: expected }. The file is ignored.",
      "<ws>/.cursor/mcp.json: mcpServers is not an object with servers.",
      "~/.cursor/mcp.json: Not a regular file. The file is ignored.",
      "<ws>/.codex/config.toml:2:20: Invalid TOML: each key-value declaration must be followed by an end-of-line. The file is ignored.",
      "~/.gemini/settings.json: Too large (the limit is 8 MiB). The file is ignored.",
    ]
  `);
});

test.skipIf(process.getuid?.() === 0)('an unreadable file is named', async () => {
  const { add, discover } = setUp();
  chmodSync(add('.mcp.json', { mcpServers: runs('a') }), 0);
  expect((await discover()).warnings).toEqual([
    "<ws>/.mcp.json: The file can't be read (EACCES). The file is ignored.",
  ]);
});

test('keys that are special in JavaScript are ordinary keys', async () => {
  const text = '{"mcpServers":{"__proto__":{"command":"p"},"constructor":{"command":"c"}}}';
  const { discover } = setUp({ '.mcp.json': text });
  expect((await discover()).servers.map(({ key }) => key)).toEqual(['__proto__', 'constructor']);
});

test('Switchboard is not found in its hosts’ files, unless enabled', async () => {
  const { discover } = setUp({
    '.mcp.json': { mcpServers: { Switchboard: { command: 'npx', args: ['-y', 'switchboard'] } } },
    'home/.codex/config.toml': '[mcp_servers.board]\ncommand = "/opt/switchboard-mcp"\n',
    'home/.cursor/mcp.json': { mcpServers: { other: { command: 'other' } } },
  });
  const { servers, leftOut, warnings } = await discover();
  expect(servers.map(({ key }) => key)).toEqual(['other']);
  expect([...leftOut.keys()]).toEqual(['Switchboard', 'board']);
  expect(warnings).toEqual([]);
  const settings = agentSettings({ skipSelf: false });
  expect((await discover({ settings })).servers).toHaveLength(3);
});
