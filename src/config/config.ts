// The resolved configuration: every file read, defaults filled in, paths absolute. The rest of the program uses only
// these types; schema.ts defines the file format.
import { join } from 'node:path';
import type { SwitchboardError } from '../base/errors.ts';
import type { LogSettings } from '../base/log.ts';
import type { Gate } from './files/gate.ts';
import type { PermissionRules, ServerRules } from './permission-rules.ts';

export interface Config {
  /** Relative paths in the configuration start here. */
  readonly project: string;
  /** `$SWITCHBOARD_HOME`. */
  readonly home: string;
  /** The user's home, for `~`. */
  readonly homeFolder: string;
  /** All files that were read, except child files. */
  readonly files: readonly string[];
  /** By name, in the order they are shown. */
  readonly children: ReadonlyMap<string, ChildConfig>;
  /** The eras offered to hosts; `auto` depends on whether there are flip servers. */
  readonly era: 'auto' | 'handshake' | 'modern';
  /** Milliseconds a host's user has to answer a server's question. */
  readonly questionMs: number;
  /** Milliseconds for each step of stopping: finish calls, end of input, SIGTERM. */
  readonly stopMs: number;
  /** Whether flip servers are also listed as suites. */
  readonly flipSuites: 'auto' | 'always' | 'never';
  /** Maximum size of a message from a host. */
  readonly messageBytes: number;
  readonly messageShape: MessageShape;
  /** For all servers together, in MB; undefined for no limit. */
  readonly maxMemoryMb?: number | undefined;
  readonly agents: AgentSettings;
  /** For the suite of agents. Servers have their own. */
  readonly introspection: Introspection;
  /** Undefined unless a file sets `permissions` or `readOnly`. */
  readonly permissions?: PermissionRules | undefined;
  /** For servers that only agents use. Others have their own. */
  readonly toolChanges: ToolChanges;
  readonly logging: LogSettings;
  /** False if sessions have to be served by processes of their own. */
  readonly shared?: boolean | undefined;
  /** False if changes on disk are applied only by a reload. */
  readonly watch?: boolean | undefined;
  /** Where files were looked for, besides the usual places. */
  readonly soughtIn?: SoughtIn | undefined;
  /** Problems of files that are ignored because of them. They don't include files that came with the project. */
  readonly broken?: readonly string[] | undefined;
  /** Undefined if the audit log is off. */
  readonly audit?: AuditSettings;
  /** Undefined if there are no hooks. */
  readonly hooks?: HookSettings;
  /** Hints by server name, for servers whose `.mcp.json` is gone but still has a copy in the assistant's folder. */
  readonly lost?: ReadonlyMap<string, string>;
  /** Problems that didn't prevent loading, for stderr and `config check`. */
  readonly warnings: readonly string[];
  /** The warnings that explain why a server may be missing. */
  readonly missing?: readonly string[];
  /** For the project's files that are read later. */
  readonly gate?: Gate;
}

interface SoughtIn {
  /** `discoverGlobs`. */
  readonly patterns: readonly string[];
  /** The files that flags, variables or other files name. Absolute. */
  readonly files: readonly string[];
}

/** Where sign-ins are saved. */
export function tokenFolder({ home }: Pick<Config, 'home'>): string {
  return join(home, 'tokens');
}

/** Where the audit log is, whether it is on or not. */
export function auditFolder({ home }: Pick<Config, 'home'>): string {
  return join(home, 'audit');
}

export interface AuditSettings {
  /** Absolute. */
  readonly folder: string;
  /** Refuse calls while the log can't be written. */
  readonly required: boolean;
  /** A larger file is closed, and a new one started. */
  readonly maxFileBytes: number;
  /** Older files are deleted. */
  readonly keepDays: number;
}

/** In the order they run: the user's first. */
export interface HookSettings {
  readonly beforeCall: readonly HookConfig[];
  readonly afterCall: readonly HookConfig[];
}

export interface HookConfig {
  /** Absolute, or a name to find on PATH. */
  readonly command: string;
  readonly args: readonly string[];
  /** Where it runs: the folder of the file that declares it. */
  readonly cwd: string;
  /** Patterns for `server` and `server__tool`. */
  readonly tools: readonly string[];
  readonly timeoutMs: number;
  /** Undefined for the user's own hooks. */
  readonly ofProject?: ProjectHook | undefined;
}

/** A hook that the user has approved for a project. */
interface ProjectHook {
  /** The file that declares it. */
  readonly file: string;
  /** The variables it inherits, like a server. */
  readonly environment: ChildConfig['environment'];
}

/** How complex a message from a host or server may be. */
export interface MessageShape {
  /** Maximum nesting depth. */
  readonly depth: number;
  /** Maximum number of array elements and object members. */
  readonly members: number;
}

/** Where agents are found, how they are shown, what they may use and how they run. */
export interface AgentSettings {
  readonly show: 'direct' | 'suite' | 'off';
  readonly formats: {
    readonly codex: AgentFormat;
    readonly anthropic: AgentFormat;
    readonly vscode: AgentFormat;
  };
  /** Also look where programs keep agents today. */
  readonly extraFormats: boolean;
  /** Names, safe names and tags in lower case; empty for all agents. */
  readonly filter: readonly string[];
  /** Look for servers in the configuration of other programs. */
  readonly mcpDiscovery: boolean;
  /** Absolute. */
  readonly vscodeUserMcp: string | undefined;
  readonly mcpLimitReferenced: boolean;
  readonly mcpEnumerate: boolean;
  readonly mcpEnumTimeoutMs: number;
  readonly mcpMaxServers: number;
  readonly mcpEnumStrict: boolean;
  readonly mcpEnumFallback: 'none' | 'all';
  /** Limit agents to the tools they name. */
  readonly mcpToolFilter: boolean;
  readonly toolmapEnable: boolean;
  readonly toolmapAllowCustomServers: boolean;
  readonly modelMapEnable: boolean;
  /** Absolute. */
  readonly modelMapFile: string;
  readonly modelMapStrict: boolean;
  readonly modelMapOverrideProvider: boolean;
  readonly modelMapNormalizeProvider: boolean;
  /** What to do with built-in engine tools that an agent doesn't name. */
  readonly builtinsDefault: 'off' | 'engine';
  /** Never attach Switchboard to its own agents, even if another program has it configured. */
  readonly skipSelf: boolean;
  /** Path to the engine, if configured. */
  readonly codexBin: string | undefined;
  /** Absolute; undefined for the user's. */
  readonly codexHome: string | undefined;
  /** Whether to ask the host's user when the engine asks for approval. */
  readonly approvals: 'ask' | 'decline';
  /** Time limit for a run, in milliseconds. */
  readonly timeoutMs: number;
  /** Concurrent runs; more are queued. */
  readonly maxRuns: number;
  /** Maximum number of characters of output to return. */
  readonly outputMaxChars: number;
  /** How deeply this Switchboard is nested in others. */
  readonly depth: number;
}

interface AgentFormat {
  readonly isOn: boolean;
  /** Absolute, in reading order. */
  readonly folders: readonly string[];
  /** Those the user configured. */
  readonly namedFolders: readonly string[];
  readonly prefix: string;
}

export const SHOWS = ['suite', 'flip', 'direct', 'off'] as const;
export type Show = (typeof SHOWS)[number];

/** Whether a server is configured but must not be used. */
export function isOff({ show }: Pick<ChildConfig, 'show'>): boolean {
  return show === 'off';
}

/** What happens when a server changes a tool, least strict first. */
export const TOOL_CHANGES = ['off', 'scan', 'hold'] as const;
export type ToolChanges = (typeof TOOL_CHANGES)[number];

/** What to do about secrets in results, from the least to the most careful. */
export const RESULT_SECRETS = ['pass', 'note', 'mask'] as const;
export type ResultSecrets = (typeof RESULT_SECRETS)[number];

/** Which variables a server inherits. */
export const ENVIRONMENTS = ['inherit', 'minimal', 'login'] as const;

/** Which sessions share a server's process. */
export const SHARES = ['user', 'project', 'session'] as const;
export type Share = (typeof SHARES)[number];

export const STARTS = ['lazy', 'eager'] as const;
type Start = (typeof STARTS)[number];

export interface ChildConfig {
  readonly name: string;
  /** The file that declares it. */
  readonly origin: string;
  /** Whether the user's own files declare it, so that its tools get their names first. */
  readonly isUsers?: boolean | undefined;
  readonly show: Show;
  /** The reason: a key and its file, or the default rule. */
  readonly showBecause: string;
  readonly start: Start;
  readonly startBecause: string;
  /** Stop after this many milliseconds without a call; 0 for never. */
  readonly idleMs: number;
  readonly idleBecause: string;
  /** Variables such as `${VAR}` are expanded only when the server starts. */
  readonly command: Command | undefined;
  /** For a remote server. Variables aren't expanded yet. */
  readonly remote: Remote | undefined;
  /** Why it can't be started, if already known. It is listed anyway. */
  readonly problem: SwitchboardError | undefined;
  /** Absolute. */
  readonly cwd: string;
  /** False if `cwd` is just the current project. */
  readonly isCwdGiven: boolean;
  readonly description: string | undefined;
  readonly switchboardDescription: string | undefined;
  readonly suiteName: string | undefined;
  /** For hosts with tool search. */
  readonly keywords: readonly string[] | undefined;
  /** `suites.<name>.description`: replaces the suite's whole description. */
  readonly suiteDescription: string | undefined;
  /** The suite's description in `mcp-descriptions.json`: takes precedence over `description`. */
  readonly notedDescription: string | undefined;
  /** Derived by `doctor` from the server's title and tools; used if there is no other description. */
  readonly derivedDescription: string | undefined;
  /** The assistant's role in `mcp-descriptions.json`. */
  readonly role: string | undefined;
  readonly expose: Expose;
  /** Undefined if it has no `permissions` and isn't `readOnly`. */
  readonly rules?: ServerRules | undefined;
  /** Lists a read-only companion next to its suite. */
  readonly readOnlyTool: boolean;
  readonly introspection: Introspection;
  readonly toolChanges: ToolChanges;
  readonly timeouts: Timeouts;
  readonly messageBytes: number;
  readonly messageShape: MessageShape;
  readonly environment: (typeof ENVIRONMENTS)[number];
  /** Variables it gets from each session, whatever `environment` says. */
  readonly passEnv: readonly string[];
  /** Which sessions share its process. */
  readonly share: Share;
  /** The reason: a key and its file, or the default rule. */
  readonly shareBecause: string;
  /** Keep it running for this many milliseconds after its last session. */
  readonly lingerMs: number;
  /** Restart it between calls above this; undefined for no limit. */
  readonly maxMemoryMb: number | undefined;
  readonly stderr: 'inherit' | 'log' | 'drop';
  readonly framing: 'auto' | 'newline' | 'content-length';
  /** MCP revision to offer in the handshake; undefined for the newest. */
  readonly protocolVersion: string | undefined;
  /** Return results as MCP tool results, or as JSON in one text block. */
  readonly wrapResults: 'mcp' | 'json';
  readonly resultSecrets: ResultSecrets;
  /** Arguments that must not be written anywhere, as JSONPath. */
  readonly redact: readonly string[];
  /** How its process is confined; undefined if it isn't. */
  readonly sandbox: Sandbox | undefined;
  /** Settings of its assistant; undefined if it has none. */
  readonly assistant: AssistantConfig | undefined;
  /** The actual server, if `command` starts its assistant. */
  readonly behind: ChildConfig | undefined;
}

/** What a server in a sandbox may use besides the defaults. Paths are as written. */
export interface Sandbox {
  /** Files and folders to show, although they are hidden by default. */
  readonly allowRead: readonly string[];
  readonly allowWrite: readonly string[];
  /** Files and folders to hide. */
  readonly denyRead: readonly string[];
  readonly denyWrite: readonly string[];
  readonly network: 'on' | 'off';
  /** It has lists of domains, which can't be enforced. */
  readonly hasDomains: boolean;
  /** The file that turns it on. */
  readonly origin: string;
}

export const ASSISTANT_MODES = ['loop', 'single'] as const;
export const ASSISTANT_PROVIDERS = ['anthropic', 'openai', 'claude-cli'] as const;
export type AssistantProvider = (typeof ASSISTANT_PROVIDERS)[number];

/** An assistant's settings from the files. Defaults are filled in when it runs. */
export interface AssistantConfig {
  /** `loop`: the model uses tools until it's done. `single`: it picks one call, whose result is the answer. */
  readonly mode?: (typeof ASSISTANT_MODES)[number] | undefined;
  readonly provider?: AssistantProvider | undefined;
  readonly model?: string | undefined;
  readonly baseUrl?: string | undefined;
  /** The environment variable with the API key; keys themselves are never configured. */
  readonly apiKeyEnv?: string | undefined;
  /** The system prompt. */
  readonly role?: string | undefined;
  readonly maxRounds?: number | undefined;
  /** Time limit for a query, in milliseconds. */
  readonly timeoutMs?: number | undefined;
  /** Maximum number of characters of a tool result. */
  readonly maxResultChars?: number | undefined;
  /** Maximum number of tokens in one response. */
  readonly maxTokens?: number | undefined;
  /** Maximum number of input and output tokens per query. */
  readonly maxTotalTokens?: number | undefined;
  /** Forget a conversation after this many milliseconds; 0 for no memory. */
  readonly conversationMs?: number | undefined;
}

export interface Command {
  readonly cmd: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface Remote {
  /** `http` tries Streamable HTTP first, then the older HTTP+SSE. */
  readonly type: 'http' | 'sse' | 'ws';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly oauth?: OAuthSettings | undefined;
}

/** Optional settings for signing in; the rest is discovered. */
export interface OAuthSettings {
  /** For issuers without dynamic client registration. */
  readonly clientId?: string | undefined;
  readonly clientSecret?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
  /** For issuers that accept only one redirect URI. */
  readonly callbackPort?: number | undefined;
}

/** Which tools are exposed; names or patterns such as `browser_*`. */
export interface Expose {
  readonly allow: readonly string[] | undefined;
  readonly deny: readonly string[] | undefined;
  /** More rules, which must also allow the tool. */
  readonly within?: Expose | undefined;
}

export interface Introspection {
  readonly mode: 'summary' | 'full' | 'redacted';
  readonly summaryMaxChars: number;
}

interface Timeouts {
  /** Time limit for starting, including the handshake, in milliseconds. */
  readonly spawnMs: number;
  /** Time limit for a request, in milliseconds. */
  readonly rpcMs: number;
  /** Milliseconds to wait between the steps of stopping. */
  readonly stopMs: number;
}
