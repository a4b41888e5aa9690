// One agent, whatever file it comes from: what the host is shown of it, and what a run of it needs.

/** Whose way of writing agents down a file follows. The setting's switch and prefix hang on it. */
export type AgentKind = 'codex' | 'anthropic' | 'vscode';

/** What a list shows: known without reading what a run needs. */
export interface AgentSummary {
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
}

/** An agent in the list of tools. */
export interface ListedAgent extends AgentSummary {
  readonly kind: AgentKind;
  readonly dialect: Dialect;
  readonly file: string;
  /** The name of the host that reads this file itself, and is not shown the agent. */
  readonly host?: string | undefined;
  /** The name in a form that tool names and profiles can have. */
  readonly safeName: string;
  /** Prefix and safe name, made different from all others. */
  readonly toolName: string;
}

/** How a file is to be read, by the folder it lies in first and its ending second. */
export type Dialect = 'switchboard-toml' | 'codex-toml' | 'claude' | 'chatmode' | 'copilot';

/** An agent as its file and the mappings say it is to be run. */
export interface Agent extends ListedAgent {
  /** The base instructions; undefined where the agent has none. */
  readonly instructions: string | undefined;
  readonly run: RunFields;
  /** Tools of servers that the agent wants, after what is built in was taken out. */
  readonly tools: readonly ToolReference[];
  /** Servers that the agent brings along, by key. */
  readonly servers: ReadonlyMap<string, AgentServer>;
  /** What was wrong with it but did not stop it: sentences that name the file. */
  readonly warnings: readonly string[];
}

/** What an agent says about its run. A field that is absent is the engine's to decide. */
export interface RunFields {
  readonly model?: string;
  readonly modelProvider?: string;
  readonly approvalPolicy?: 'untrusted' | 'on-failure' | 'on-request' | 'never';
  /** Accepted because agents have it; the engine never stores responses. */
  readonly disableResponseStorage?: boolean;
  /** A word that models give meaning to. */
  readonly modelReasoningEffort?: string;
  readonly modelReasoningSummary?: 'auto' | 'concise' | 'detailed' | 'none';
  readonly modelVerbosity?: 'low' | 'medium' | 'high';
  readonly chatgptBaseUrl?: string;
  readonly sandboxMode?: 'read-only' | 'workspace-write' | 'danger-full-access';
  readonly includePlanTool?: boolean;
  readonly includeApplyPatchTool?: boolean;
  readonly includeViewImageTool?: boolean;
  readonly toolsWebSearchRequest?: boolean;
}

/** A tool of a server. Without a server it is bare: whichever server has it. Without a tool: all of the server's. */
export interface ToolReference {
  readonly server: string | undefined;
  readonly tool: string | undefined;
  /** As it was written. */
  readonly text: string;
}

/** A server that an agent can be given, as it is to be started or reached. Values may hold `${VAR}`. */
export interface AgentServer {
  readonly key: string;
  /** Where it is declared: a file, for people. */
  readonly origin: string;
  readonly cmd: string | undefined;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Absolute, but for variables; undefined for the folder of the run. */
  readonly cwd: string | undefined;
  /** Streamable HTTP, in place of a command. */
  readonly url: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** The only tools of it that may be used, by the word of whoever declared it. Unset: all. */
  readonly enabledTools?: readonly string[] | undefined;
  /** Seconds until it must have started, and each of its tools must have answered. Unset: ours. */
  readonly startupTimeoutSec?: number | undefined;
  readonly toolTimeoutSec?: number | undefined;
  /** Without it the agent does not run. */
  readonly isRequired?: boolean | undefined;
  /** Put there by us, for a tool that has no server of its own; it needs no proof. */
  readonly isInjected: boolean;
}
