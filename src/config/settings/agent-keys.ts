// Every setting for agents: its key under `agents` in the main files, its environment variable, its key in
// config.toml, its type, default and description. The schema, the parsers and the tables in the docs all use it.
import type { Setting } from './sources.ts';
import {
  BOOLEAN,
  COUNT,
  choice,
  type Kind,
  MILLISECONDS,
  PREFIX,
  STRING,
  STRINGS,
  WORDS,
} from './values.ts';

const EITHER = choice('none', 'all');

/** In config.toml it's a boolean. */
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
    default: 'direct',
    description:
      'How hosts see agents. `direct`: one tool per agent. `suite`: one tool for all of them. `off`: not at all.',
  }),
  enableCodex: setting({
    variable: 'AGENTS_ENABLE_CODEX',
    toml: 'enable_codex',
    kind: BOOLEAN,
    default: true,
    description: 'Read agents from TOML files.',
  }),
  enableAnthropic: setting({
    variable: 'AGENTS_ENABLE_ANTHROPIC',
    toml: 'enable_anthropic',
    kind: BOOLEAN,
    default: true,
    description: "Read agents in Claude Code's format.",
  }),
  enableVscode: setting({
    variable: 'AGENTS_ENABLE_VSCODE',
    toml: 'enable_vscode',
    kind: BOOLEAN,
    default: true,
    description: 'Read VS Code chat modes.',
  }),
  dirs: setting({
    variable: 'AGENTS_DIRS',
    tomlAdds: 'codex_dirs',
    kind: STRINGS,
    description:
      'Folders with TOML agents, instead of the default ones. Relative to the project; `~/` works. In config.toml, they are added to the default folders.',
  }),
  anthropicDirs: setting({
    variable: 'ANTHROPIC_AGENTS_DIRS',
    tomlAdds: 'anthropic_dirs',
    kind: STRINGS,
    description: "Folders with agents in Claude Code's format. Works like `dirs`.",
  }),
  vscodeChatmodesDirs: setting({
    variable: 'VSCODE_CHATMODES_DIRS',
    tomlAdds: 'vscode_dirs',
    kind: STRINGS,
    description: 'Folders with VS Code chat modes. Works like `dirs`.',
  }),
  extraFormats: setting({
    variable: 'AGENTS_EXTRA_FORMATS',
    kind: BOOLEAN,
    default: false,
    description: 'Also look for agents where GitHub Copilot, VS Code and Codex keep theirs today.',
  }),
  prefixCodex: setting({
    variable: 'AGENTS_PREFIX_CODEX',
    toml: 'prefix_codex',
    kind: PREFIX,
    default: 'agent_',
    description: 'Prefix for the tool names of TOML agents. May be empty.',
  }),
  prefixAnthropic: setting({
    variable: 'AGENTS_PREFIX_ANTHROPIC',
    toml: 'prefix_anthropic',
    kind: PREFIX,
    default: 'anth_',
    description: "Prefix for the tool names of agents in Claude Code's format.",
  }),
  prefixVscode: setting({
    variable: 'AGENTS_PREFIX_VSCODE',
    toml: 'prefix_vscode',
    kind: PREFIX,
    default: 'vsc_',
    description: 'Prefix for the tool names of VS Code chat modes.',
  }),
  filter: setting({
    variable: 'AGENTS_FILTER',
    toml: 'filter',
    kind: WORDS,
    default: [],
    description:
      'Show only agents with one of these names or tags (case-insensitive). `deep research` matches the tag with that name and each of the two words. Empty: show all.',
  }),
  mcpDiscovery: setting({
    variable: 'AGENTS_MCP_DISCOVERY',
    toml: 'mcp_discovery',
    kind: BOOLEAN,
    default: true,
    description: 'Also look for servers for agents in the configuration of other programs.',
  }),
  vscodeUserMcp: setting({
    variable: 'VSCODE_USER_MCP',
    toml: 'vscode_user_mcp',
    kind: STRING,
    description:
      "Path to your VS Code user `mcp.json`, if Switchboard should also look for servers there. Ignored in a project's file. Default: none.",
  }),
  mcpLimitReferenced: setting({
    variable: 'AGENTS_MCP_LIMIT_REFERENCED',
    toml: 'limit_mcp_to_referenced',
    kind: BOOLEAN,
    default: true,
    description:
      'Give an agent only the servers its tools refer to, instead of all that were found.',
  }),
  mcpEnumerate: setting({
    variable: 'AGENTS_MCP_ENUMERATE',
    toml: 'enumerate',
    kind: BOOLEAN,
    default: true,
    description:
      'Ask servers for their tools, so an agent gets only servers that have the tools it refers to.',
  }),
  mcpEnumTimeoutMs: setting({
    variable: 'AGENTS_MCP_ENUM_TIMEOUT_MS',
    toml: 'enum_timeout_ms',
    kind: MILLISECONDS,
    default: 4_000,
    description:
      'Time limit in milliseconds for each step of asking a server for its tools: start, list, stop.',
  }),
  mcpMaxServers: setting({
    variable: 'AGENTS_MCP_MAX_SERVERS',
    toml: 'enum_max_servers',
    kind: COUNT,
    default: 128,
    description: 'Maximum number of servers to ask for their tools per agent.',
  }),
  mcpEnumStrict: setting({
    variable: 'AGENTS_MCP_ENUM_STRICT',
    toml: 'enum_strict',
    kind: BOOLEAN,
    default: false,
    description: 'Leave out servers that could not be asked, even if the agent names them.',
  }),
  mcpEnumFallback: setting({
    variable: 'AGENTS_MCP_ENUM_FALLBACK',
    toml: 'enum_fallback_all',
    kind: FALLBACK,
    default: 'none',
    description:
      'Which servers an agent gets if it names a tool without its server and several servers have it: `none` or `all`. A boolean in config.toml.',
  }),
  mcpToolFilter: setting({
    variable: 'AGENTS_MCP_TOOL_FILTER',
    kind: BOOLEAN,
    default: false,
    description: 'Let an agent use only the tools it names, instead of all tools of their servers.',
  }),
  toolmapEnable: setting({
    variable: 'AGENTS_TOOLMAP_ENABLE',
    toml: 'toolmap_enable',
    kind: BOOLEAN,
    default: true,
    description: 'Translate tool names of other programs to those of the engine.',
  }),
  toolmapAllowCustomServers: setting({
    variable: 'AGENTS_TOOLMAP_ALLOW_CUSTOM_SERVERS',
    toml: 'toolmap_allow_custom_servers',
    kind: BOOLEAN,
    default: true,
    description: 'Allow a translated tool name to add a server, as `memory` in a chat mode does.',
  }),
  modelMapEnable: setting({
    variable: 'AGENTS_MODEL_MAP_ENABLE',
    toml: 'model_map_enable',
    kind: BOOLEAN,
    default: true,
    description: 'Translate model names to those of the engine.',
  }),
  modelMapFile: setting({
    variable: 'AGENTS_MODEL_MAP_FILE',
    toml: 'model_map_file',
    kind: STRING,
    description:
      'File with more model translations. Default: `.agents/model-map.toml` in the project, if it exists.',
  }),
  modelMapStrict: setting({
    variable: 'AGENTS_MODEL_MAP_STRICT',
    toml: 'model_map_strict',
    kind: BOOLEAN,
    default: false,
    description:
      'Warn about models without a translation. They are passed through unchanged either way.',
  }),
  modelMapOverrideProvider: setting({
    variable: 'AGENTS_MODEL_MAP_OVERRIDE_PROVIDER',
    toml: 'model_map_override_provider',
    kind: BOOLEAN,
    default: false,
    description: 'Let the provider of a translation override the one the agent names.',
  }),
  modelMapNormalizeProvider: setting({
    variable: 'AGENTS_MODEL_MAP_NORMALIZE_PROVIDER',
    toml: 'model_map_normalize_provider',
    kind: BOOLEAN,
    default: true,
    description: 'Translate other names of a provider, such as `Claude` to `anthropic`.',
  }),
  builtinsDefault: setting({
    variable: 'AGENTS_BUILTINS_DEFAULT',
    kind: choice('off', 'engine'),
    default: 'off',
    description:
      "Built-in tools of the engine that an agent doesn't name. `off`: disable them. `engine`: keep the engine's defaults.",
  }),
  skipSelf: setting({
    variable: 'SWITCHBOARD_SKIP_SELF',
    kind: BOOLEAN,
    default: true,
    description:
      'Leave out Switchboard itself when looking for servers in the configuration of other programs.',
  }),
  codexBin: setting({
    variable: 'SWITCHBOARD_CODEX_BIN',
    kind: STRING,
    description:
      "Path to the engine. Ignored in a project's file. Default: Codex as installed by npm, or else `codex` on the PATH.",
  }),
  codexHome: setting({
    variable: 'AGENTS_CODEX_HOME',
    kind: STRING,
    description:
      "Home folder of the engine, with its login and settings. Ignored in a project's file. Default: `CODEX_HOME`, or else `~/.codex`.",
  }),
  approvals: setting({
    variable: 'AGENTS_APPROVALS',
    kind: choice('ask', 'decline'),
    default: 'ask',
    description:
      "What to do when the engine asks for approval. `ask`: ask the user through the host, or decline if that's not possible. `decline`: always decline. A project can't change `decline` in your own file.",
  }),
  timeoutMs: setting({
    variable: 'AGENTS_TIMEOUT_MS',
    kind: MILLISECONDS,
    default: 30 * 60_000,
    description: 'Time limit for a run, in milliseconds.',
  }),
  maxRuns: setting({
    variable: 'AGENTS_MAX_RUNS',
    kind: COUNT,
    description:
      'Maximum number of runs at the same time; more are queued. Default: the number of processors.',
  }),
  outputMaxChars: setting({
    variable: 'AGENTS_OUTPUT_MAX_CHARS',
    kind: COUNT,
    default: 1_000_000,
    description: "Maximum number of characters returned from an agent's last message.",
  }),
};

type Keys = typeof AGENT_KEYS;

/** Undefined if no source sets the key and it has no default. */
export type AgentValues = {
  readonly [Key in keyof Keys]: Keys[Key] extends WithDefault<infer T>
    ? T
    : Keys[Key] extends Setting<infer T>
      ? T | undefined
      : never;
};

interface WithDefault<T> extends Setting<T> {
  readonly default: T;
}

/** Preserves the value type and whether there is a default. */
function setting<T>(one: WithDefault<NoInfer<T>> & { readonly kind: Kind<T> }): WithDefault<T>;
function setting<T>(one: Setting<T>): Setting<T>;
function setting(one: Setting<unknown>): Setting<unknown> {
  return one;
}
