// The engine's equivalent of each program's tool names. Extend a table when a program gets a new tool.
import { BUILTIN_TOOLS, type BuiltinTool, type Dialect } from './agent.ts';

/**
 * `shell`: the shell does it, and every agent has one. `memory`: Switchboard adds a server for it.
 * `nothing`: only the program itself can do it.
 */
type Meaning = BuiltinTool | 'shell' | 'memory' | 'nothing';

export interface ToolTable {
  readonly isCaseSensitive: boolean;
  readonly meanings: ReadonlyMap<string, Meaning>;
  /** Names that also cover `name/part`. */
  readonly sets: readonly string[];
  /** The tools that `*` switches on. */
  readonly everything: readonly BuiltinTool[];
}

/** Switchboard's own names, valid in every format. */
const OWN = rows({
  plan: 'plan',
  apply_patch: 'apply_patch, apply-patch',
  view_image: 'view_image, view-image',
  web_search: 'web_search, web-search',
});

const TOML: ToolTable = {
  isCaseSensitive: false,
  meanings: new Map(OWN),
  sets: [],
  everything: BUILTIN_TOOLS,
};

const CLAUDE: ToolTable = {
  isCaseSensitive: true,
  meanings: new Map([
    ...OWN,
    ...rows({
      apply_patch: 'Edit, MultiEdit, Write, NotebookEdit',
      web_search: 'WebSearch, WebFetch',
      plan: 'TodoWrite, TodoRead, TaskCreate, TaskUpdate, TaskGet, TaskList',
      shell:
        'Bash, Glob, Grep, Read, BashOutput, KillBash, ' +
        'KillShell, LS, NotebookRead, TaskOutput, TaskStop, PowerShell',
      nothing:
        'Agent, Task, Skill, SlashCommand, AskUserQuestion, ToolSearch, LSP, ' +
        'EnterPlanMode, ExitPlanMode, ListMcpResourcesTool, ReadMcpResourceTool',
    }),
  ]),
  sets: [],
  everything: ['plan', 'apply_patch', 'web_search'],
};

/** VS Code tools without a counterpart in an engine. */
const PLACEHOLDERS =
  'usages, Find Usages, runTasks, notebooks, extensions, vscodeAPI, problems, changes, testFailure, ' +
  'openSimpleBrowser, findTestFiles, searchResults, runTests, codebase, terminalLastCommand, ' +
  'terminalSelection, runNotebooks';

const CHATMODE: ToolTable = {
  isCaseSensitive: true,
  meanings: new Map([
    ...OWN,
    ...rows({
      apply_patch: 'edit, new, editFiles',
      web_search: 'search, fetch, githubRepo',
      shell: 'runCommands',
      memory: 'memory',
      nothing: PLACEHOLDERS,
    }),
  ]),
  sets: [],
  everything: ['plan', 'apply_patch', 'web_search'],
};

/** Unlike in chat modes, `search` searches code here. */
const COPILOT: ToolTable = {
  isCaseSensitive: false,
  meanings: new Map([
    ...OWN,
    ...rows({
      apply_patch: 'edit, MultiEdit, Write, NotebookEdit, new, editFiles',
      web_search: 'web, WebSearch, WebFetch, fetch, githubRepo',
      plan: 'todo, todos, TodoWrite',
      shell:
        'execute, shell, Bash, powershell, runCommands, runInTerminal, ' +
        'read, NotebookRead, search, Grep, Glob',
      nothing: `agent, custom-agent, Task, vscode, runSubagent, ${PLACEHOLDERS}`,
    }).map(([name, meaning]): Row => [name.toLowerCase(), meaning]),
  ]),
  sets: ['edit', 'search', 'read', 'execute', 'web', 'agent', 'todo', 'vscode'],
  everything: ['plan', 'apply_patch', 'web_search'],
};

const TABLES: Readonly<Partial<Record<Dialect, ToolTable>>> = {
  claude: CLAUDE,
  chatmode: CHATMODE,
  copilot: COPILOT,
};

/** TOML formats only know Switchboard's own names. */
export function toolTableOf(dialect: Dialect): ToolTable {
  return TABLES[dialect] ?? TOML;
}

type Row = readonly [name: string, meaning: Meaning];

/** One row per name. */
function rows(names: { readonly [meaning in Meaning]?: string }): Row[] {
  return Object.entries(names).flatMap(([meaning, each]) =>
    each.split(', ').map((name): Row => [name, meaning as Meaning]),
  );
}
