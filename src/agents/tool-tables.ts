// What programs call their tools, and what these are in the engine. Tables alone, to be extended when a
// program gets a new tool; `tool-map.ts` reads them.
import type { Dialect, RunFields } from './agent.ts';

/** The engine's own tools that an agent can have or not have, with the switches for them. */
export const SWITCHES = {
  plan: 'includePlanTool',
  apply_patch: 'includeApplyPatchTool',
  view_image: 'includeViewImageTool',
  web_search: 'toolsWebSearchRequest',
} as const satisfies Record<string, keyof RunFields>;

export type Switch = keyof typeof SWITCHES;

/**
 * A switch; `terminal` for what the engine's terminal does, which every agent has; `memory` for a server
 * that is started for it; `nothing` for what only the program itself can do.
 */
type Meaning = Switch | 'terminal' | 'memory' | 'nothing';

export interface ToolTable {
  readonly isCaseSensitive: boolean;
  readonly meanings: ReadonlyMap<string, Meaning>;
  /** Names that also stand for what is written `name/part`. */
  readonly sets: readonly string[];
  /** What `*` switches on. */
  readonly everything: readonly Switch[];
}

/** The engine's own names for its tools, understood in every format. */
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
  everything: ['plan', 'apply_patch', 'view_image', 'web_search'],
};

const CLAUDE: ToolTable = {
  isCaseSensitive: true,
  meanings: new Map([
    ...OWN,
    ...rows({
      apply_patch: 'Edit, MultiEdit, Write, NotebookEdit',
      web_search: 'WebSearch, WebFetch',
      plan: 'TodoWrite, TodoRead, TaskCreate, TaskUpdate, TaskGet, TaskList',
      terminal:
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

/** VS Code's tools that have no counterpart in the engine. */
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
      terminal: 'runCommands',
      memory: 'memory',
      nothing: PLACEHOLDERS,
    }),
  ]),
  sets: [],
  everything: ['plan', 'apply_patch', 'web_search'],
};

/** Here `search` is a search in code, unlike in a chat mode. */
const COPILOT: ToolTable = {
  isCaseSensitive: false,
  meanings: new Map([
    ...OWN,
    ...rows({
      apply_patch: 'edit, MultiEdit, Write, NotebookEdit, new, editFiles',
      web_search: 'web, WebSearch, WebFetch, fetch, githubRepo',
      plan: 'todo, todos, TodoWrite',
      terminal:
        'execute, shell, Bash, powershell, runCommands, runInTerminal, ' +
        'read, NotebookRead, search, Grep, Glob',
      nothing: `agent, custom-agent, Task, vscode, runSubagent, ${PLACEHOLDERS}`,
    }).map(([name, meaning]): Row => [name.toLowerCase(), meaning]),
  ]),
  sets: ['edit', 'search', 'read', 'execute', 'web', 'agent', 'todo', 'vscode'],
  everything: ['plan', 'apply_patch', 'web_search'],
};

export const TOOL_TABLES: Readonly<Record<Dialect, ToolTable>> = {
  'switchboard-toml': TOML,
  'codex-toml': TOML,
  claude: CLAUDE,
  chatmode: CHATMODE,
  copilot: COPILOT,
};

type Row = readonly [name: string, meaning: Meaning];

/** One row for each name in the texts. */
function rows(names: { readonly [meaning in Meaning]?: string }): Row[] {
  return Object.entries(names).flatMap(([meaning, each]) =>
    each.split(', ').map((name): Row => [name, meaning as Meaning]),
  );
}
