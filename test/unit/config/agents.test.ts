// Every setting for agents in every place where it can be written, and which place wins.
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { AgentSettings } from '../../../src/config/config.ts';
import { AGENT_KEYS } from '../../../src/config/settings/agent-keys.ts';
import { createProject, type Project } from './temp-project.ts';

/** What is written in each place, each different, and what it means. */
interface Flag {
  readonly key: keyof typeof AGENT_KEYS;
  readonly variable: string;
  readonly read: (agents: AgentSettings) => unknown;
  /** What holds where nobody has said anything. */
  readonly standard: unknown;
  readonly env: readonly [text: string, means: unknown];
  readonly json: readonly [value: unknown, means: unknown];
  /** The key and value in config.toml, where it has one. */
  readonly toml?: readonly [line: string, means: unknown];
  /** Something that it cannot be. */
  readonly bad?: string;
}

type Key = Flag['key'];

function flag(key: Key, variable: string, rest: Omit<Flag, 'key' | 'variable'>): Flag {
  return { key, variable, ...rest };
}

/** A switch: every place says what does not hold without it. */
function toggle(
  key: Key,
  variable: string,
  standard: boolean,
  read: (agents: AgentSettings) => unknown,
  toml?: string,
): Flag {
  return flag(key, variable, {
    read,
    standard,
    env: [standard ? 'No' : 'YES', !standard],
    json: [!standard, !standard],
    ...(toml === undefined ? {} : { toml: [`${toml} = ${!standard}`, !standard] as const }),
    bad: 'perhaps',
  });
}

const FLAGS: readonly Flag[] = [
  flag('show', 'AGENTS_SHOW', {
    read: ({ show }) => show,
    standard: 'direct',
    env: ['Suite', 'suite'],
    json: ['off', 'off'],
    bad: 'flip',
  }),
  toggle('enableCodex', 'AGENTS_ENABLE_CODEX', true, (a) => a.formats.codex.isOn, 'enable_codex'),
  toggle(
    'enableAnthropic',
    'AGENTS_ENABLE_ANTHROPIC',
    true,
    (a) => a.formats.anthropic.isOn,
    'enable_anthropic',
  ),
  toggle(
    'enableVscode',
    'AGENTS_ENABLE_VSCODE',
    true,
    (a) => a.formats.vscode.isOn,
    'enable_vscode',
  ),
  flag('dirs', 'AGENTS_DIRS', {
    read: (a) => a.formats.codex.folders,
    standard: ['<project>/.agents', '<home>/.switchboard/agents', '<home>/.agents'],
    env: ['a/b, ~/c ,/d,', ['<project>/a/b', '<home>/c', '/d']],
    json: [
      ['a,b', '~/c'],
      ['<project>/a,b', '<home>/c'],
    ],
    toml: [
      'codex_dirs = ["more", "~/.agents"]',
      ['<project>/.agents', '<home>/.switchboard/agents', '<home>/.agents', '<project>/more'],
    ],
  }),
  flag('anthropicDirs', 'ANTHROPIC_AGENTS_DIRS', {
    read: (a) => a.formats.anthropic.folders,
    standard: ['<project>/.claude/agents', '<home>/.switchboard/agents', '<home>/.claude/agents'],
    env: ['x', ['<project>/x']],
    json: ['a, b', ['<project>/a', '<project>/b']],
    toml: [
      'anthropic_dirs = "/more"',
      ['<project>/.claude/agents', '<home>/.switchboard/agents', '<home>/.claude/agents', '/more'],
    ],
  }),
  flag('vscodeChatmodesDirs', 'VSCODE_CHATMODES_DIRS', {
    read: (a) => a.formats.vscode.folders,
    standard: ['<project>/.github/chatmodes', '<home>/.switchboard/chatmodes', '<home>/.chatmodes'],
    env: ['~', ['<home>']],
    json: [[], []],
    toml: [
      'vscode_dirs = ["/more"]',
      [
        '<project>/.github/chatmodes',
        '<home>/.switchboard/chatmodes',
        '<home>/.chatmodes',
        '/more',
      ],
    ],
  }),
  toggle('extraFormats', 'AGENTS_EXTRA_FORMATS', false, (a) => a.extraFormats),
  flag('prefixCodex', 'AGENTS_PREFIX_CODEX', {
    read: (a) => a.formats.codex.prefix,
    standard: 'agent_',
    env: ['my agent/', 'my_agent_'],
    json: ['', ''],
    toml: ['prefix_codex = "é-x"', '_-x'],
  }),
  flag('prefixAnthropic', 'AGENTS_PREFIX_ANTHROPIC', {
    read: (a) => a.formats.anthropic.prefix,
    standard: 'anth_',
    env: ['a.', 'a_'],
    json: ['claude_', 'claude_'],
    toml: ['prefix_anthropic = "c_"', 'c_'],
  }),
  flag('prefixVscode', 'AGENTS_PREFIX_VSCODE', {
    read: (a) => a.formats.vscode.prefix,
    standard: 'vsc_',
    env: ['V-', 'V-'],
    json: ['code_', 'code_'],
    toml: ['prefix_vscode = "v_"', 'v_'],
  }),
  flag('filter', 'AGENTS_FILTER', {
    read: ({ filter }) => filter,
    standard: [],
    env: ['Deep Research, triage,,', ['deep research', 'triage']],
    json: [
      ['One', 'two, three'],
      ['one', 'two, three'],
    ],
    toml: ['filter = "A,b"', ['a', 'b']],
  }),
  toggle('mcpDiscovery', 'AGENTS_MCP_DISCOVERY', true, (a) => a.mcpDiscovery, 'mcp_discovery'),
  flag('vscodeUserMcp', 'VSCODE_USER_MCP', {
    read: ({ vscodeUserMcp }) => vscodeUserMcp,
    standard: undefined,
    env: ['~/mcp.json', '<home>/mcp.json'],
    json: ['user/mcp.json', '<project>/user/mcp.json'],
    toml: ['vscode_user_mcp = "/abs/mcp.json"', '/abs/mcp.json'],
  }),
  toggle(
    'mcpLimitReferenced',
    'AGENTS_MCP_LIMIT_REFERENCED',
    true,
    (a) => a.mcpLimitReferenced,
    'limit_mcp_to_referenced',
  ),
  toggle('mcpEnumerate', 'AGENTS_MCP_ENUMERATE', true, (a) => a.mcpEnumerate, 'enumerate'),
  flag('mcpEnumTimeoutMs', 'AGENTS_MCP_ENUM_TIMEOUT_MS', {
    read: ({ mcpEnumTimeoutMs }) => mcpEnumTimeoutMs,
    standard: 4_000,
    env: [' 250 ', 250],
    json: [1.5, 1.5],
    toml: ['enum_timeout_ms = 9000', 9_000],
    bad: 'soon',
  }),
  flag('mcpMaxServers', 'AGENTS_MCP_MAX_SERVERS', {
    read: ({ mcpMaxServers }) => mcpMaxServers,
    standard: 128,
    env: ['3', 3],
    json: [4, 4],
    toml: ['enum_max_servers = 5', 5],
    bad: '2.5',
  }),
  toggle('mcpEnumStrict', 'AGENTS_MCP_ENUM_STRICT', false, (a) => a.mcpEnumStrict, 'enum_strict'),
  flag('mcpEnumFallback', 'AGENTS_MCP_ENUM_FALLBACK', {
    read: ({ mcpEnumFallback }) => mcpEnumFallback,
    standard: 'none',
    env: ['ALL', 'all'],
    json: ['all', 'all'],
    toml: ['enum_fallback_all = true', 'all'],
    bad: 'some',
  }),
  toggle('mcpToolFilter', 'AGENTS_MCP_TOOL_FILTER', false, (a) => a.mcpToolFilter),
  toggle('toolmapEnable', 'AGENTS_TOOLMAP_ENABLE', true, (a) => a.toolmapEnable, 'toolmap_enable'),
  toggle(
    'toolmapAllowCustomServers',
    'AGENTS_TOOLMAP_ALLOW_CUSTOM_SERVERS',
    true,
    (a) => a.toolmapAllowCustomServers,
    'toolmap_allow_custom_servers',
  ),
  toggle(
    'modelMapEnable',
    'AGENTS_MODEL_MAP_ENABLE',
    true,
    (a) => a.modelMapEnable,
    'model_map_enable',
  ),
  flag('modelMapFile', 'AGENTS_MODEL_MAP_FILE', {
    read: ({ modelMapFile }) => modelMapFile,
    standard: '<project>/.agents/model-map.toml',
    env: ['maps/a.toml', '<project>/maps/a.toml'],
    json: ['~/b.toml', '<home>/b.toml'],
    toml: ['model_map_file = "/c.toml"', '/c.toml'],
  }),
  toggle(
    'modelMapStrict',
    'AGENTS_MODEL_MAP_STRICT',
    false,
    (a) => a.modelMapStrict,
    'model_map_strict',
  ),
  toggle(
    'modelMapOverrideProvider',
    'AGENTS_MODEL_MAP_OVERRIDE_PROVIDER',
    false,
    (a) => a.modelMapOverrideProvider,
    'model_map_override_provider',
  ),
  toggle(
    'modelMapNormalizeProvider',
    'AGENTS_MODEL_MAP_NORMALIZE_PROVIDER',
    true,
    (a) => a.modelMapNormalizeProvider,
    'model_map_normalize_provider',
  ),
  flag('builtinsDefault', 'AGENTS_BUILTINS_DEFAULT', {
    read: ({ builtinsDefault }) => builtinsDefault,
    standard: 'off',
    env: ['engine', 'engine'],
    json: ['engine', 'engine'],
    bad: 'on',
  }),
  toggle('skipSelf', 'SWITCHBOARD_SKIP_SELF', true, (a) => a.skipSelf),
  flag('codexBin', 'SWITCHBOARD_CODEX_BIN', {
    read: ({ codexBin }) => codexBin,
    standard: undefined,
    env: ['bin/codex', '<project>/bin/codex'],
    json: ['my-codex', 'my-codex'],
  }),
  flag('codexHome', 'AGENTS_CODEX_HOME', {
    read: ({ codexHome }) => codexHome,
    standard: undefined,
    env: ['~/codex', '<home>/codex'],
    json: ['.codex', '<project>/.codex'],
  }),
  flag('approvals', 'AGENTS_APPROVALS', {
    read: ({ approvals }) => approvals,
    standard: 'ask',
    env: ['decline', 'decline'],
    json: ['decline', 'decline'],
    bad: 'accept',
  }),
  flag('timeoutMs', 'AGENTS_TIMEOUT_MS', {
    read: ({ timeoutMs }) => timeoutMs,
    standard: 1_800_000,
    env: ['60000', 60_000],
    json: [5, 5],
    bad: '2147483648',
  }),
  flag('maxRuns', 'AGENTS_MAX_RUNS', {
    read: ({ maxRuns }) => maxRuns,
    standard: availableParallelism(),
    env: ['7', 7],
    json: [8, 8],
    bad: '0',
  }),
  flag('outputMaxChars', 'AGENTS_OUTPUT_MAX_CHARS', {
    read: ({ outputMaxChars }) => outputMaxChars,
    standard: 1_000_000,
    env: ['100', 100],
    json: [200, 200],
    bad: '-1',
  }),
];

/** Whether a value can be written as it is. */
function isPlain(value: unknown): value is string | number | boolean {
  const isPath = typeof value === 'string' && value.startsWith('<');
  return ['string', 'number', 'boolean'].includes(typeof value) && !isPath;
}

interface Written {
  readonly env?: Record<string, string>;
  readonly json?: object;
  readonly toml?: string;
}

const MAIN = 'switchboard.config.json';
const TOML = '../home/.switchboard/config.toml';

function projectWith({ json, toml }: Written): Project {
  return createProject({
    ...(json ? { [MAIN]: { agents: json } } : {}),
    ...(toml === undefined ? {} : { [TOML]: toml }),
  });
}

/** What a setting comes to, with short names for folders, and the warnings. */
async function settle({ read }: Pick<Flag, 'read'>, written: Written = {}) {
  const project = projectWith(written);
  const { agents, warnings } = await project.load({ env: written.env ?? {} });
  const value = read(agents);
  const plain = (one: unknown) => (typeof one === 'string' ? project.plain(one) : one);
  return {
    value: Array.isArray(value) ? value.map(plain) : plain(value),
    warnings: warnings.map(project.plain),
  };
}

test('this table has every setting, with its variable and its key in config.toml', () => {
  const settings = Object.entries(AGENT_KEYS).map(([key, { variable, toml, tomlAdds }]) => [
    key,
    variable,
    toml ?? tomlAdds,
  ]);
  const tested = FLAGS.map(({ key, variable, toml }) => [key, variable, toml?.[0].split(' ')[0]]);
  expect(tested).toEqual(settings);
});

test('an empty prefix can be set anywhere, and overridden', async () => {
  const prefix = FLAGS.find(({ key }) => key === 'prefixCodex');
  if (!prefix) throw new Error('no such flag');
  const toml = '[agents]\nprefix_codex = ""\n';
  const places = { env: { AGENTS_PREFIX_CODEX: '' }, json: { prefixCodex: '' }, toml };
  for (const [name, written] of Object.entries(places)) {
    expect(await settle(prefix, { [name]: written })).toEqual({ value: '', warnings: [] });
  }
  const stronger = { ...places, env: { AGENTS_PREFIX_CODEX: 'c-' } };
  expect(await settle(prefix, stronger)).toEqual({ value: 'c-', warnings: [] });
});

describe.each(FLAGS)('$variable, $key', (one) => {
  const { key, variable, standard, env, json, toml } = one;
  const inEnv = { [variable]: env[0] };
  const inJson = { [key]: json[0] };
  const inToml = `[agents]\n${toml?.[0] ?? ''}\n`;

  test('has the documented default, and an empty variable is unset, or an empty prefix', async () => {
    expect(await settle(one, {})).toEqual({ value: standard, warnings: [] });
    const empty = key.startsWith('prefix') ? '' : standard;
    for (const text of ['', '  ']) {
      const settled = await settle(one, { env: { [variable]: text } });
      expect(settled).toEqual({ value: empty, warnings: [] });
    }
  });

  test('is the variable’s value, over all files', async () => {
    for (const written of [{}, { json: inJson, toml: inToml }]) {
      const settled = await settle(one, { ...written, env: inEnv });
      expect(settled).toEqual({ value: env[1], warnings: [] });
    }
  });

  test('is the main file’s value, over config.toml', async () => {
    for (const written of [{}, { toml: inToml }]) {
      const settled = await settle(one, { ...written, json: inJson });
      expect(settled).toEqual({ value: json[1], warnings: [] });
    }
  });

  test('is rejected with its location if invalid in the main file', async () => {
    const project = projectWith({ json: { [key]: { no: true } } });
    expect(await project.loadError()).toMatch(
      new RegExp(
        `^CONFIG_INVALID: <project>/${MAIN}:3:5: agents\\.${key}: expected .*, got an object`,
      ),
    );
  });
});

const WITH_PLAIN_STANDARD = FLAGS.filter(({ standard }) => isPlain(standard));
const IN_TOML = FLAGS.flatMap((one) => (one.toml ? [{ one, key: one.key, toml: one.toml }] : []));
const CAN_BE_WRONG = FLAGS.flatMap((one) => (one.bad === undefined ? [] : [{ ...one, one }]));

test.each(WITH_PLAIN_STANDARD)('$key can be reset to its default', async (one) => {
  const { key, variable, standard, json, toml } = one;
  const byVariable = { env: { [variable]: String(standard) }, json: { [key]: json[0] } };
  expect(await settle(one, byVariable)).toEqual({ value: standard, warnings: [] });
  const byFile = { json: { [key]: standard }, toml: `[agents]\n${toml?.[0] ?? ''}\n` };
  expect(await settle(one, byFile)).toEqual({ value: standard, warnings: [] });
});

test.each(IN_TOML)('$key can be set in config.toml', async ({ one, toml: [line, means] }) => {
  const written = { toml: `[agents]\n${line}\n` };
  expect(await settle(one, written)).toEqual({ value: means, warnings: [] });
});

test.each(IN_TOML)(
  '$key with an invalid value in config.toml is reported',
  async ({ one, toml }) => {
    const [name] = toml[0].split(' ');
    const { value, warnings } = await settle(one, { toml: `[agents]\n${name} = [1]\n` });
    expect(value).toEqual(one.standard);
    const { allowed } = AGENT_KEYS[one.key].kind;
    expect(warnings).toEqual([
      `<home>/.switchboard/config.toml: agents.${name} must be ${allowed}. Its value is ignored.`,
    ]);
  },
);

test.each(CAN_BE_WRONG)('$variable=$bad is reported and ignored', async (flags) => {
  const { one, key, variable, bad = '', json, standard } = flags;
  const env = { [variable]: bad };
  const { allowed } = AGENT_KEYS[key].kind;
  const warnings = [`${variable} must be ${allowed}. Its value is ignored.`];
  expect(await settle(one, { env })).toEqual({ value: standard, warnings });
  const written = { env, json: { [key]: json[0] } };
  expect(await settle(one, written)).toEqual({ value: json[1], warnings });
});

test.each([
  ['true', true],
  ['FALSE', false],
  ['1', true],
  ['0', false],
  ['yes', true],
  ['No', false],
  ['on', true],
  [' off ', false],
])('a switch can be written %s', async (text, means) => {
  const read = ({ mcpEnumerate, mcpEnumStrict }: AgentSettings) => [mcpEnumerate, mcpEnumStrict];
  const env = { AGENTS_MCP_ENUMERATE: text, AGENTS_MCP_ENUM_STRICT: text };
  expect((await settle({ read }, { env })).value).toEqual([means, means]);
});

test('the project overrides the user, key by key', async () => {
  const project = createProject({
    [MAIN]: { agents: { maxRuns: 3 } },
    '../home/.switchboard/switchboard.config.json': {
      agents: { maxRuns: 4, timeoutMs: 5, approvals: 'decline' },
    },
    [TOML]: '[agents]\nenum_strict = true\n',
  });
  const { agents, files } = await project.load({ env: { AGENTS_TIMEOUT_MS: '6' } });
  expect(agents).toMatchObject({
    maxRuns: 3,
    timeoutMs: 6,
    approvals: 'decline',
    mcpEnumStrict: true,
  });
  expect(files.map(project.plain)).toEqual([
    '<project>/switchboard.config.json',
    '<home>/.switchboard/switchboard.config.json',
    '<home>/.switchboard/config.toml',
  ]);
});

test('a misspelt key in the main file is rejected with a suggestion', async () => {
  expect(await projectWith({ json: { enumerate: true } }).loadError()).toContain(
    'agents.enumerate: unknown key. Did you mean "mcpEnumerate"?',
  );
});

describe('config.toml', () => {
  async function warningsFor(toml: string) {
    const project = projectWith({ toml });
    return (await project.load()).warnings.map(project.plain);
  }

  test('that is not TOML is reported with its line, and ignored', async () => {
    expect(await warningsFor('[agents]\nfilter = "sk-canary\n')).toMatchInlineSnapshot(`
      [
        "<home>/.switchboard/config.toml:2:20: Invalid TOML: control characters are not allowed in strings. The file is ignored.",
      ]
    `);
  });

  test('with unknown keys gets suggestions', async () => {
    const toml =
      'log = 1\nlogging = 7\n[agents]\nenable_codx = true\nzzzzzzzzzzzzzzzz = 1\n[agent]\n';
    expect(await warningsFor(toml)).toMatchInlineSnapshot(`
      [
        "<home>/.switchboard/config.toml: log: unknown key (ignored). Did you mean "logging"?",
        "<home>/.switchboard/config.toml: logging: expected a table (ignored).",
        "<home>/.switchboard/config.toml: agents.enable_codx: unknown key (ignored). Did you mean "enable_codex"?",
        "<home>/.switchboard/config.toml: agents.zzzzzzzzzzzzzzzz: unknown key (ignored). Known keys: enable_codex, enable_anthropic, enable_vscode, codex_dirs, anthropic_dirs, vscode_dirs, prefix_codex, prefix_anthropic, prefix_vscode, filter, mcp_discovery, vscode_user_mcp, limit_mcp_to_referenced, enumerate, enum_timeout_ms, enum_max_servers, enum_strict, enum_fallback_all, toolmap_enable, toolmap_allow_custom_servers, model_map_enable, model_map_file, model_map_strict, model_map_override_provider, model_map_normalize_provider.",
        "<home>/.switchboard/config.toml: agent: unknown key (ignored). Did you mean "agents"?",
      ]
    `);
  });

  test('that cannot be read is reported, and ignored', async () => {
    const project = createProject({ [join(TOML, 'a-file-in-it')]: '' });
    const { warnings } = await project.load();
    expect(warnings.map(project.plain)).toEqual([
      expect.stringMatching(
        /^<home>\/\.switchboard\/config\.toml: Not a regular file\. The file is ignored\.$/,
      ),
    ]);
  });

  test('may start with a byte order mark', async () => {
    const read = ({ mcpEnumStrict }: AgentSettings) => mcpEnumStrict;
    const toml = '\ufeff[agents]\nenum_strict = true\n';
    expect(await settle({ read }, { toml })).toEqual({ value: true, warnings: [] });
  });
});

test.each([
  ['0', 0],
  ['2', 2],
  ['', 0],
])('SWITCHBOARD_DEPTH %j is a depth of %d', async (text, depth) => {
  const env = { SWITCHBOARD_DEPTH: text };
  expect(await settle({ read: (agents) => agents.depth }, { env })).toEqual({
    value: depth,
    warnings: [],
  });
});

test.each(['-1', '1.5', 'deep', '1e3', '99999999'])(
  'SWITCHBOARD_DEPTH %j is invalid',
  async (text) => {
    const env = { SWITCHBOARD_DEPTH: text };
    expect(await settle({ read: (agents) => agents.depth }, { env })).toEqual({
      value: 0,
      warnings: ['SWITCHBOARD_DEPTH must be a whole number of at least 0. Its value is ignored.'],
    });
  },
);
