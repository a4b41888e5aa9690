// Every name in the tables of tools, and every way to write a reference.
import { describe, expect, test } from 'vitest';
import type { Builtins, Dialect, ToolReference } from '../../../src/agents/agent.ts';
import { type Draft, EMPTY_DRAFT } from '../../../src/agents/formats/draft.ts';
import { mapTools, parseReference } from '../../../src/agents/tool-map.ts';
import { agentSettings } from '../../support/agent-settings.ts';

function map(
  dialect: Dialect,
  tools: readonly string[],
  said: Parameters<typeof agentSettings>[0] = {},
) {
  const draft: Draft = {
    ...EMPTY_DRAFT,
    name: 'A',
    description: 'd',
    tags: [],
    warnings: [],
    tools,
  };
  return mapTools(draft, dialect, agentSettings(said));
}

const PLAN = { plan: true };
const PATCH = { apply_patch: true };
const VIEW = { view_image: true };
const WEB = { web_search: true };
const NONE = {};

const TABLE: Record<Exclude<Dialect, 'codex-toml'>, [builtins: Builtins, ...names: string[]][]> = {
  'switchboard-toml': [
    [PLAN, 'plan', 'Plan'],
    [PATCH, 'apply_patch', 'apply-patch'],
    [VIEW, 'view_image', 'view-image'],
    [WEB, 'web_search', 'web-search'],
  ],
  claude: [
    [PATCH, 'Edit', 'MultiEdit', 'Write', 'NotebookEdit', 'apply_patch', 'apply-patch'],
    [WEB, 'WebSearch', 'WebFetch', 'web_search', 'web-search'],
    [PLAN, 'TodoWrite', 'TaskCreate', 'TaskUpdate', 'TaskGet', 'TaskList', 'plan'],
    [VIEW, 'view_image', 'view-image'],
    [NONE, 'Bash', 'Glob', 'Grep', 'Read', 'BashOutput', 'KillBash', 'KillShell', 'LS', 'TaskStop'],
    [NONE, 'Task', 'Agent', 'Skill', 'AskUserQuestion', 'ExitPlanMode'],
  ],
  chatmode: [
    [PATCH, 'edit', 'new', 'editFiles', 'apply_patch'],
    [WEB, 'search', 'fetch', 'githubRepo', 'web_search'],
    [PLAN, 'plan'],
    [NONE, 'runCommands'],
    [NONE, 'usages', 'Find Usages', 'runTasks', 'notebooks', 'extensions', 'vscodeAPI', 'problems'],
    [NONE, 'changes', 'testFailure', 'openSimpleBrowser', 'codebase'],
  ],
  copilot: [
    [PATCH, 'edit', 'Edit', 'edit/editFiles', 'MultiEdit', 'Write', 'NotebookEdit'],
    [WEB, 'web', 'WebSearch', 'webfetch', 'web/fetch', 'web/githubRepo'],
    [PLAN, 'todo', 'TodoWrite'],
    [NONE, 'execute', 'shell', 'Bash', 'powershell', 'execute/runInTerminal'],
    [
      NONE,
      'read',
      'Read',
      'NotebookRead',
      'read/problems',
      'search',
      'Grep',
      'Glob',
      'search/codebase',
    ],
    [
      NONE,
      'agent',
      'custom-agent',
      'Task',
      'vscode',
      'vscode/extensions',
      'agent/runSubagent',
      'usages',
    ],
  ],
};

describe.each(Object.entries(TABLE))('%s', (dialect, rows) => {
  const cases = rows.flatMap(([builtins, ...names]) =>
    names.map((name) => [name, builtins] as const),
  );

  test.each(cases)('%s is %o, and not a server tool', (name, builtins) => {
    expect(map(dialect as Dialect, [name])).toEqual({
      builtins,
      references: [],
      servers: new Map(),
      warnings: [],
    });
  });

  test('an unknown tool stays a reference to any server that has it', () => {
    const { builtins, references } = map(dialect as Dialect, ['brew_coffee']);
    expect(builtins).toEqual({});
    expect(references).toEqual([{ server: undefined, tool: 'brew_coffee', text: 'brew_coffee' }]);
  });
});

test.each(['claude', 'chatmode', 'copilot'] as const)(
  'without mapping, every name in %s stays unchanged',
  (dialect) => {
    const names = TABLE[dialect]
      .flatMap(([, ...each]) => each)
      .filter((name) => !name.includes('/'));
    const { builtins, references } = map(dialect, [...names, 'memory', '*'], {
      toolmapEnable: false,
    });
    expect(builtins).toEqual({});
    expect(references.map(({ server, tool }) => [server, tool])).toEqual(
      [...names, 'memory'].map((name) => [undefined, name]),
    );
  },
);

describe('memory', () => {
  test('adds a server to a chat mode', () => {
    const { references, servers } = map('chatmode', ['memory', 'edit', 'memory::memory']);
    expect(references).toEqual([{ server: 'memory', tool: undefined, text: 'memory::memory' }]);
    expect([...servers.values()]).toEqual([
      expect.objectContaining({
        key: 'memory',
        cmd: 'npx',
        args: ['-y', '@modelcontextprotocol/server-memory'],
        isInjected: true,
      }),
    ]);
  });

  test.each([{ toolmapAllowCustomServers: false }, { toolmapEnable: false }])(
    'is a plain name with %o',
    (said) => {
      const { references, servers } = map('chatmode', ['memory'], said);
      expect(references).toEqual([{ server: undefined, tool: 'memory', text: 'memory' }]);
      expect(servers.size).toBe(0);
    },
  );

  test.each(['claude', 'copilot', 'switchboard-toml'] as const)(
    'is a plain name in %s',
    (dialect) => {
      const { references, servers } = map(dialect, ['memory']);
      expect(references).toEqual([{ server: undefined, tool: 'memory', text: 'memory' }]);
      expect(servers.size).toBe(0);
    },
  );
});

describe('references', () => {
  const ALL: Dialect[] = ['switchboard-toml', 'claude', 'chatmode', 'copilot'];
  const ROWS: [text: string, server: string | undefined, tool: string | undefined][] = [
    ['server::tool', 'server', 'tool'],
    ['server::a::b', 'server', 'a::b'],
    ['server :: tool', 'server', 'tool'],
    ['server::*', 'server', undefined],
    ['server::', 'server', undefined],
    ['server::server', 'server', undefined],
    ['mcp__server__tool', 'server', 'tool'],
    ['mcp__server__two__parts', 'server', 'two__parts'],
    ['mcp___server__tool', '_server', 'tool'],
    ['mcp__server__*', 'server', undefined],
    ['mcp__server', 'server', undefined],
    ['mcp__', undefined, 'mcp__'],
    ['::tool', undefined, 'tool'],
    ['::', undefined, '::'],
    ['tool', undefined, 'tool'],
    ['server/*', 'server', undefined],
    ['owner/server/*', 'owner/server', undefined],
  ];
  test.each(ROWS)('%s in every format', (text, server, tool) => {
    const expected: ToolReference = { server, tool, text };
    expect(ALL.map((dialect) => parseReference(text, dialect))).toEqual(ALL.map(() => expected));
  });

  test.each([
    ['server/tool', 'server', 'tool'],
    ['server/server', 'server', undefined],
    ['owner/server/tool', 'owner/server', 'tool'],
  ])('%s only in VS Code’s formats', (text, server, tool) => {
    for (const dialect of ['chatmode', 'copilot'] as const) {
      expect(parseReference(text, dialect)).toEqual({ server, tool, text });
    }
    for (const dialect of ['switchboard-toml', 'claude'] as const) {
      expect(parseReference(text, dialect)).toEqual({ server: undefined, tool: text, text });
    }
  });

  test('to the same tool are merged', () => {
    const { references } = map('claude', ['a::b', 'mcp__a__b', 'a::c', 'x', 'x']);
    expect(references.map(({ server, tool }) => [server, tool])).toEqual([
      ['a', 'b'],
      ['a', 'c'],
      [undefined, 'x'],
    ]);
  });
});
