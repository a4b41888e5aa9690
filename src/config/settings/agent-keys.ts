// Every setting for agents: its key in `agents` of the main files, its variable, its key in config.toml,
// what it may be, what holds without it, and what it is for. The schema, the reading of all three and the
// tables in docs/agents.md come from here.
import type { Setting } from './said.ts';
import {
  BOOLEAN,
  COUNT,
  choice,
  type Kind,
  MILLISECONDS,
  PREFIX,
  TEXT,
  TEXTS,
  WORDS,
} from './values.ts';

const EITHER = choice('none', 'all');

/** config.toml has a boolean in its place. */
const FALLBACK: Kind<'none' | 'all'> = {
  ...EITHER,
  allowed: 'none or all (in config.toml: false or true)',
  fromValue: (value) =>
    typeof value === 'boolean' ? (value ? 'all' : 'none') : EITHER.fromValue(value),
};

export const AGENT_KEYS = {
  show: setting({
    variable: 'AGENTS_SHOW',
    kind: choice('direct', 'suite', 'off'),
    standard: 'direct',
    says: 'How the host sees agents. `direct`: each as a tool of its own. `suite`: all as one tool. `off`: not at all.',
  }),
  enableCodex: setting({
    variable: 'AGENTS_ENABLE_CODEX',
    toml: 'enable_codex',
    kind: BOOLEAN,
    standard: true,
    says: 'Whether agents in TOML files are read.',
  }),
  enableAnthropic: setting({
    variable: 'AGENTS_ENABLE_ANTHROPIC',
    toml: 'enable_anthropic',
    kind: BOOLEAN,
    standard: true,
    says: "Whether agents in Claude's form are read.",
  }),
  enableVscode: setting({
    variable: 'AGENTS_ENABLE_VSCODE',
    toml: 'enable_vscode',
    kind: BOOLEAN,
    standard: true,
    says: 'Whether chat modes of VS Code are read.',
  }),
  dirs: setting({
    variable: 'AGENTS_DIRS',
    tomlAdds: 'codex_dirs',
    kind: TEXTS,
    says: 'Where TOML agents are looked for, instead of the usual folders. Relative to the project; `~/` is possible. In config.toml: besides them.',
  }),
  anthropicDirs: setting({
    variable: 'ANTHROPIC_AGENTS_DIRS',
    tomlAdds: 'anthropic_dirs',
    kind: TEXTS,
    says: "Where agents in Claude's form are looked for; otherwise as `dirs`.",
  }),
  vscodeChatmodesDirs: setting({
    variable: 'VSCODE_CHATMODES_DIRS',
    tomlAdds: 'vscode_dirs',
    kind: TEXTS,
    says: 'Where chat modes are looked for; otherwise as `dirs`.',
  }),
  extraFormats: setting({
    variable: 'AGENTS_EXTRA_FORMATS',
    kind: BOOLEAN,
    standard: false,
    says: 'Whether to also find agents where GitHub Copilot, VS Code and Codex keep theirs today.',
  }),
  prefixCodex: setting({
    variable: 'AGENTS_PREFIX_CODEX',
    toml: 'prefix_codex',
    kind: PREFIX,
    standard: 'agent_',
    says: 'What the names of tools for TOML agents begin with. It may be empty.',
  }),
  prefixAnthropic: setting({
    variable: 'AGENTS_PREFIX_ANTHROPIC',
    toml: 'prefix_anthropic',
    kind: PREFIX,
    standard: 'anth_',
    says: "What the names of tools for agents in Claude's form begin with.",
  }),
  prefixVscode: setting({
    variable: 'AGENTS_PREFIX_VSCODE',
    toml: 'prefix_vscode',
    kind: PREFIX,
    standard: 'vsc_',
    says: 'What the names of tools for chat modes begin with.',
  }),
  filter: setting({
    variable: 'AGENTS_FILTER',
    toml: 'filter',
    kind: WORDS,
    standard: [],
    says: 'Only agents with one of these names or tags are shown; upper and lower case are the same. `deep research` means the tag of these two words, and also each of them. Empty: all.',
  }),
  mcpDiscovery: setting({
    variable: 'AGENTS_MCP_DISCOVERY',
    toml: 'mcp_discovery',
    kind: BOOLEAN,
    standard: true,
    says: 'Whether servers for agents are looked for in the files of other programs.',
  }),
  vscodeUserMcp: setting({
    variable: 'VSCODE_USER_MCP',
    toml: 'vscode_user_mcp',
    kind: TEXT,
    says: "The path of VS Code's `mcp.json` of the user, to be looked at as well. Unset: none.",
  }),
  mcpLimitReferenced: setting({
    variable: 'AGENTS_MCP_LIMIT_REFERENCED',
    toml: 'limit_mcp_to_referenced',
    kind: BOOLEAN,
    standard: true,
    says: 'Whether an agent gets only the servers that its tools refer to, or all that were found.',
  }),
  mcpEnumerate: setting({
    variable: 'AGENTS_MCP_ENUMERATE',
    toml: 'enumerate',
    kind: BOOLEAN,
    standard: true,
    says: 'Whether servers are asked for their tools, so that an agent gets those that really have what it refers to.',
  }),
  mcpEnumTimeoutMs: setting({
    variable: 'AGENTS_MCP_ENUM_TIMEOUT_MS',
    toml: 'enum_timeout_ms',
    kind: MILLISECONDS,
    standard: 4_000,
    says: 'How long a server that is asked for its tools may take for each step: to start, to list them, to stop.',
  }),
  mcpMaxServers: setting({
    variable: 'AGENTS_MCP_MAX_SERVERS',
    toml: 'enum_max_servers',
    kind: COUNT,
    standard: 128,
    says: 'How many servers are asked for their tools at most, for one agent.',
  }),
  mcpEnumStrict: setting({
    variable: 'AGENTS_MCP_ENUM_STRICT',
    toml: 'enum_strict',
    kind: BOOLEAN,
    standard: false,
    says: 'Whether a server that could not be asked is left out even where the agent names it.',
  }),
  mcpEnumFallback: setting({
    variable: 'AGENTS_MCP_ENUM_FALLBACK',
    toml: 'enum_fallback_all',
    kind: FALLBACK,
    standard: 'none',
    says: 'Which servers an agent gets where several have a tool that it names without a server: `none` of them or `all`. In config.toml a boolean.',
  }),
  mcpToolFilter: setting({
    variable: 'AGENTS_MCP_TOOL_FILTER',
    kind: BOOLEAN,
    standard: false,
    says: 'Whether an agent may use only those tools of a server that it names, instead of all.',
  }),
  toolmapEnable: setting({
    variable: 'AGENTS_TOOLMAP_ENABLE',
    toml: 'toolmap_enable',
    kind: BOOLEAN,
    standard: true,
    says: "Whether other programs' names of tools are translated to the engine's own.",
  }),
  toolmapAllowCustomServers: setting({
    variable: 'AGENTS_TOOLMAP_ALLOW_CUSTOM_SERVERS',
    toml: 'toolmap_allow_custom_servers',
    kind: BOOLEAN,
    standard: true,
    says: 'Whether a translated name may add a server, as `memory` in a chat mode does.',
  }),
  modelMapEnable: setting({
    variable: 'AGENTS_MODEL_MAP_ENABLE',
    toml: 'model_map_enable',
    kind: BOOLEAN,
    standard: true,
    says: "Whether names of models are translated to the engine's.",
  }),
  modelMapFile: setting({
    variable: 'AGENTS_MODEL_MAP_FILE',
    toml: 'model_map_file',
    kind: TEXT,
    says: 'A file with more translations. Unset: `.agents/model-map.toml` in the project, if it exists.',
  }),
  modelMapStrict: setting({
    variable: 'AGENTS_MODEL_MAP_STRICT',
    toml: 'model_map_strict',
    kind: BOOLEAN,
    standard: false,
    says: 'Whether a model without a translation is warned about. It is passed on as it is either way.',
  }),
  modelMapOverrideProvider: setting({
    variable: 'AGENTS_MODEL_MAP_OVERRIDE_PROVIDER',
    toml: 'model_map_override_provider',
    kind: BOOLEAN,
    standard: false,
    says: "Whether a translation's provider takes the place of one that the agent names.",
  }),
  modelMapNormalizeProvider: setting({
    variable: 'AGENTS_MODEL_MAP_NORMALIZE_PROVIDER',
    toml: 'model_map_normalize_provider',
    kind: BOOLEAN,
    standard: true,
    says: 'Whether other names of a provider are translated, such as `Claude` to `anthropic`.',
  }),
  builtinsDefault: setting({
    variable: 'AGENTS_BUILTINS_DEFAULT',
    kind: choice('off', 'engine'),
    standard: 'off',
    says: "What becomes of the engine's built-in tools that an agent does not name. `off`: they are switched off. `engine`: they are as the engine has them.",
  }),
  skipSelf: setting({
    variable: 'SWITCHBOARD_SKIP_SELF',
    kind: BOOLEAN,
    standard: true,
    says: "Whether Switchboard itself is left out of the servers that are found in other programs' files.",
  }),
  codexBin: setting({
    variable: 'SWITCHBOARD_CODEX_BIN',
    kind: TEXT,
    says: 'The program that is the engine. Unset: Codex as npm has installed it, else `codex` on the PATH.',
  }),
  codexHome: setting({
    variable: 'AGENTS_CODEX_HOME',
    kind: TEXT,
    says: "The engine's own folder, with its login and settings. Unset: the user's, `~/.codex`.",
  }),
  approvals: setting({
    variable: 'AGENTS_APPROVALS',
    kind: choice('ask', 'decline'),
    standard: 'ask',
    says: "What happens when the engine asks for approval. `ask`: the host's user is asked; where that is not possible, it is declined. `decline`: it is declined.",
  }),
  timeoutMs: setting({
    variable: 'AGENTS_TIMEOUT_MS',
    kind: MILLISECONDS,
    standard: 30 * 60_000,
    says: 'How long a run may take, in milliseconds.',
  }),
  maxRuns: setting({
    variable: 'AGENTS_MAX_RUNS',
    kind: COUNT,
    says: 'How many runs go on at once; more wait. Unset: as many as there are processors.',
  }),
  outputMaxChars: setting({
    variable: 'AGENTS_OUTPUT_MAX_CHARS',
    kind: COUNT,
    standard: 1_000_000,
    says: "How many characters of an agent's last message are handed on.",
  }),
};

type Keys = typeof AGENT_KEYS;

/** What holds for each key; undefined where nobody has said anything and there is no standard. */
export type AgentValues = {
  readonly [Key in keyof Keys]: Keys[Key] extends WithStandard<infer T>
    ? T
    : Keys[Key] extends Setting<infer T>
      ? T | undefined
      : never;
};

interface WithStandard<T> extends Setting<T> {
  readonly standard: T;
}

/** Keeps in mind, for the compiler, what kind of value it is and whether there always is one. */
function setting<T>(one: WithStandard<NoInfer<T>> & { readonly kind: Kind<T> }): WithStandard<T>;
function setting<T>(one: Setting<T>): Setting<T>;
function setting(one: Setting<unknown>): Setting<unknown> {
  return one;
}
