// One agent, whatever file format it comes from: what hosts see of it, and what a run needs.
import type { Sandbox } from '../config/config.ts';

/** The program whose file format an agent uses. Each kind has its own switch and prefix in the settings. */
export type AgentKind = 'codex' | 'anthropic' | 'vscode';

/** Enough for a list, without reading what a run needs. */
export interface AgentSummary {
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
}

/** An agent in the tool list. */
export interface ListedAgent extends AgentSummary {
  readonly kind: AgentKind;
  readonly dialect: Dialect;
  readonly file: string;
  /** The host that reads this file itself, and so doesn't see the agent. */
  readonly host?: string | undefined;
  /** The name, reduced to what tool names and profiles allow. */
  readonly safeName: string;
  /** Prefix and safe name, made unique. */
  readonly toolName: string;
}

/** How to parse a file: its folder decides, then its extension. */
export type Dialect = 'switchboard-toml' | 'codex-toml' | 'claude' | 'chatmode' | 'copilot';

/** An agent ready to run: its file, with tools and model mapped. */
export interface Agent extends ListedAgent {
  /** The base instructions. */
  readonly instructions: string | undefined;
  readonly run: RunFields;
  /** The server tools the agent names, without built-in ones. */
  readonly tools: readonly ToolReference[];
  /** The servers the agent's own file declares, by key. */
  readonly servers: ReadonlyMap<string, AgentServer>;
  /** Problems that don't stop it: sentences that name the file. */
  readonly warnings: readonly string[];
  /** Rights its file asks for and doesn't get: complete sentences for the caller. */
  readonly limits: readonly string[];
}

/** How an agent wants to be run. The engine has defaults for missing fields. */
export interface RunFields {
  readonly model?: string;
  /** The model's provider. */
  readonly provider?: string;
  /** Reasoning effort: a word whose meaning depends on the model. */
  readonly effort?: string;
  /** How much of its reasoning the model reports. */
  readonly summary?: 'auto' | 'concise' | 'detailed' | 'none';
  readonly verbosity?: 'low' | 'medium' | 'high';
  /** Where the engine reaches its provider. */
  readonly baseUrl?: string;
  readonly sandbox?: SandboxMode;
  /** When the engine asks before it acts. */
  readonly approvals?: 'untrusted' | 'on-failure' | 'on-request' | 'never';
  /** Accepted because agent files have it; no engine stores responses. */
  readonly disableStorage?: boolean;
  /** Built-in tools to switch on or off. There is no switch for the shell: every engine has one. */
  readonly builtins?: Builtins;
}

export type SandboxMode = 'read-only' | 'workspace-write' | 'danger-full-access';

/** The engine's own tools that an agent can switch on and off. */
export const BUILTIN_TOOLS = ['plan', 'apply_patch', 'view_image', 'web_search'] as const;
export type BuiltinTool = (typeof BUILTIN_TOOLS)[number];
export type Builtins = { readonly [tool in BuiltinTool]?: boolean };

/** A server's tool. No server: any server that has the tool. No tool: all of the server's tools. */
export interface ToolReference {
  readonly server: string | undefined;
  readonly tool: string | undefined;
  /** As written. */
  readonly text: string;
}

/** How to start or reach a server that an agent can get. Values may contain `${VAR}`. */
export interface AgentServer {
  readonly key: string;
  /** The file that declares it. */
  readonly origin: string;
  readonly cmd: string | undefined;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Absolute, except for variables; undefined for the run's folder. */
  readonly cwd: string | undefined;
  /** Streamable HTTP, instead of a command. */
  readonly url: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** The only tools its declaration allows. Unset: all. */
  readonly enabledTools?: readonly string[] | undefined;
  /** Time limits in seconds for its start and for each tool call. Unset: Switchboard's defaults. */
  readonly startupTimeoutSec?: number | undefined;
  readonly toolTimeoutSec?: number | undefined;
  /** How its process is confined. Unset: it isn't. */
  readonly sandbox?: Sandbox | undefined;
  /** The agent doesn't run without it. */
  readonly isRequired?: boolean | undefined;
  /** Added by Switchboard for a tool that has no server of its own; needs no proof. */
  readonly isInjected: boolean;
}
