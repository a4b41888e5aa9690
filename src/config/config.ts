// What the configuration means once every file has been read and settled. The rest of the program
// sees only these types; how things may be written is the business of schema.ts.
import type { SwitchboardError } from '../base/errors.ts';
import type { LogSettings } from '../base/log.ts';

export interface Config {
  /** The folder that relative paths of the configuration are meant from. */
  readonly project: string;
  /** Switchboard's own folder, `$SWITCHBOARD_HOME`. */
  readonly home: string;
  /** What `~` stands for. */
  readonly homeFolder: string;
  /** The main files, `servers.json`, `mcp-descriptions.json` and `config.toml` that were read; not the child files. */
  readonly files: readonly string[];
  /** Children by name, in the order they are shown. */
  readonly children: ReadonlyMap<string, ChildConfig>;
  /** Which eras hosts are offered; `auto` depends on whether there are flip children. */
  readonly era: 'auto' | 'handshake' | 'modern';
  /** Milliseconds until a question of a child's must be answered. */
  readonly questionMs: number;
  /** Milliseconds for each step of stopping: calls that are finished, end of input, SIGTERM. */
  readonly stopMs: number;
  /** Whether flip children are listed as suites, too. */
  readonly flipSuites: 'auto' | 'always' | 'never';
  /** The longest message that is accepted from a host or a child, in bytes. */
  readonly messageBytes: number;
  readonly messageShape: MessageShape;
  readonly agents: AgentSettings;
  readonly logging: LogSettings;
  /** What to do about servers whose file is gone, while their assistant's folder keeps it; by name. */
  readonly lost?: ReadonlyMap<string, string>;
  /** What was wrong but did not stop us: sentences for stderr and `config check`. */
  readonly warnings: readonly string[];
  /** Those of the warnings that say why a server may be missing. */
  readonly missing?: readonly string[];
}

/** How complex a message from a host or a child may be. */
export interface MessageShape {
  /** How deep it may nest. */
  readonly depth: number;
  /** How many array elements and object members it may have. */
  readonly members: number;
}

/** Where agents are looked for, how they are shown, what they may use and how they are run. */
export interface AgentSettings {
  readonly show: 'direct' | 'suite' | 'off';
  readonly formats: {
    readonly codex: AgentFormat;
    readonly anthropic: AgentFormat;
    readonly vscode: AgentFormat;
  };
  /** Whether the places where programs keep agents today are looked at, too. */
  readonly extraFormats: boolean;
  /** Names, safe names and tags, lower-case; empty for all agents. */
  readonly filter: readonly string[];
  /** Whether servers are looked for in the files of other programs. */
  readonly mcpDiscovery: boolean;
  /** Absolute. */
  readonly vscodeUserMcp: string | undefined;
  readonly mcpLimitReferenced: boolean;
  readonly mcpEnumerate: boolean;
  readonly mcpEnumTimeoutMs: number;
  readonly mcpMaxServers: number;
  readonly mcpEnumStrict: boolean;
  readonly mcpEnumFallback: 'none' | 'all';
  /** Whether an agent may use only those tools of a server that it names. */
  readonly mcpToolFilter: boolean;
  readonly toolmapEnable: boolean;
  readonly toolmapAllowCustomServers: boolean;
  readonly modelMapEnable: boolean;
  /** Absolute. */
  readonly modelMapFile: string;
  readonly modelMapStrict: boolean;
  readonly modelMapOverrideProvider: boolean;
  readonly modelMapNormalizeProvider: boolean;
  /** The engine's own tools that an agent does not name: switched off, or left as they are. */
  readonly builtinsDefault: 'off' | 'engine';
  /** Whether this program is kept from being attached to its own agents by what others configured. */
  readonly skipSelf: boolean;
  /** The program that is the engine, where it is named. */
  readonly codexBin: string | undefined;
  /** Absolute; undefined for the user's own. */
  readonly codexHome: string | undefined;
  /** What happens when the engine asks for approval: the host's user is asked, or it is declined. */
  readonly approvals: 'ask' | 'decline';
  /** Milliseconds that a run may take. */
  readonly timeoutMs: number;
  /** How many runs go on at once; more wait. */
  readonly maxRuns: number;
  /** How many characters of output are handed on. */
  readonly outputMaxChars: number;
  /** How many Switchboards there are above this one. */
  readonly depth: number;
}

interface AgentFormat {
  readonly isOn: boolean;
  /** Absolute, in the order in which they are read. */
  readonly folders: readonly string[];
  /** Those of them that the user has named. */
  readonly namedFolders: readonly string[];
  readonly prefix: string;
}

export const SHOWS = ['suite', 'flip', 'direct', 'off'] as const;
export type Show = (typeof SHOWS)[number];

/** Whether a server is configured but must not be used. */
export function isOff({ show }: Pick<ChildConfig, 'show'>): boolean {
  return show === 'off';
}

export const STARTS = ['lazy', 'eager'] as const;
type Start = (typeof STARTS)[number];

export interface ChildConfig {
  readonly name: string;
  /** The file that declares it. */
  readonly origin: string;
  readonly show: Show;
  /** What decided that: a key and its file, or the rule that holds without one. */
  readonly showBecause: string;
  readonly start: Start;
  readonly startBecause: string;
  /** Milliseconds without a call after which it is stopped; 0 for never. */
  readonly idleMs: number;
  readonly idleBecause: string;
  /** What to start. As written: `${VAR}` is filled in when the child is started. */
  readonly command: Command | undefined;
  /** The server's address, where it is reached over the network instead. As written. */
  readonly remote: Remote | undefined;
  /** Why it cannot be started, where that is known beforehand. It is listed all the same. */
  readonly problem: SwitchboardError | undefined;
  /** Absolute. */
  readonly cwd: string;
  /** False if `cwd` is just the project that uses the server. */
  readonly isCwdGiven: boolean;
  readonly description: string | undefined;
  readonly switchboardDescription: string | undefined;
  readonly suiteName: string | undefined;
  /** Words by which hosts that hide tools find its suite. */
  readonly keywords: readonly string[] | undefined;
  /** `suites.<name>.description`: takes the place of the suite's whole description. */
  readonly suiteDescription: string | undefined;
  /** The suite's description in `mcp-descriptions.json`: takes precedence over `description`. */
  readonly notedDescription: string | undefined;
  /** Derived by `doctor` from the server's title and tools; used if there is no other description. */
  readonly derivedDescription: string | undefined;
  /** What its assistant is told to be, by `mcp-descriptions.json`. */
  readonly role: string | undefined;
  readonly expose: Expose;
  /** Lists a read-only companion next to its suite. */
  readonly readOnlyTool: boolean;
  readonly introspection: Introspection;
  readonly timeouts: Timeouts;
  readonly messageBytes: number;
  readonly messageShape: MessageShape;
  readonly environment: 'inherit' | 'minimal';
  readonly stderr: 'inherit' | 'log' | 'drop';
  readonly framing: 'auto' | 'newline' | 'content-length';
  /** The revision to offer in the handshake instead of the newest. */
  readonly protocolVersion: string | undefined;
  /** How results are handed on: as MCP tool results, or as JSON inside one text. */
  readonly wrapResults: 'mcp' | 'json';
  /** It is spoken to in plain language, and this is what was said about that; undefined if not. */
  readonly assistant: AssistantConfig | undefined;
  /** The server itself, where what is started is the assistant that speaks for it. */
  readonly behind: ChildConfig | undefined;
}

export const ASSISTANT_MODES = ['loop', 'single'] as const;
export const ASSISTANT_PROVIDERS = ['anthropic', 'openai', 'claude-cli'] as const;
export type AssistantProvider = (typeof ASSISTANT_PROVIDERS)[number];

/** What the files say about an assistant. What they leave out is settled where it runs. */
export interface AssistantConfig {
  /** `loop`: the model uses tools until it is done. `single`: it names one call, whose result is the answer. */
  readonly mode?: (typeof ASSISTANT_MODES)[number] | undefined;
  readonly provider?: AssistantProvider | undefined;
  readonly model?: string | undefined;
  readonly baseUrl?: string | undefined;
  /** The variable that holds the key; keys themselves are never configured. */
  readonly apiKeyEnv?: string | undefined;
  /** What the model is told that it is there for. */
  readonly role?: string | undefined;
  readonly maxRounds?: number | undefined;
  /** Milliseconds for one query, all models and tools together. */
  readonly timeoutMs?: number | undefined;
  /** The most characters of a tool's result that the model is given. */
  readonly maxResultChars?: number | undefined;
  /** The most tokens of one answer of the model. */
  readonly maxTokens?: number | undefined;
  /** The most tokens of one query, read and written, over all rounds. */
  readonly maxTotalTokens?: number | undefined;
  /** Milliseconds after which a conversation is forgotten; 0 for none at all. */
  readonly conversationMs?: number | undefined;
}

export interface Command {
  readonly cmd: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface Remote {
  /** `http` is tried as Streamable HTTP first and as the older HTTP+SSE after that. */
  readonly type: 'http' | 'sse' | 'ws';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly oauth?: OAuthSettings | undefined;
}

/** What a user may settle beforehand about signing in; the rest is found out. */
export interface OAuthSettings {
  /** Where the issuer does not register programs by itself. */
  readonly clientId?: string | undefined;
  readonly clientSecret?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
  /** Where the issuer accepts only one address to come back to. */
  readonly callbackPort?: number | undefined;
}

/** Which subtools are shown and may be called; names or globs such as `browser_*`. */
export interface Expose {
  readonly allow: readonly string[] | undefined;
  readonly deny: readonly string[] | undefined;
  /** Rules of another place, which must let a subtool pass as well. */
  readonly within?: Expose | undefined;
}

export interface Introspection {
  readonly mode: 'summary' | 'full' | 'redacted';
  readonly summaryMaxChars: number;
}

interface Timeouts {
  /** Milliseconds until the handshake must be done. */
  readonly spawnMs: number;
  /** Milliseconds until a request must be answered. */
  readonly rpcMs: number;
  /** Milliseconds to wait after each step of stopping: end of input, SIGTERM. */
  readonly stopMs: number;
}
