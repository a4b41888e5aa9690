// The seam between agents and the engine that runs them. `engines.ts` chooses the engine; only the engine's own
// folder knows which one it is. `test/contract/engine.test.ts` defines the contract for each.
import type { Cancellation } from '../base/cancellation.ts';
import type { Log } from '../base/log.ts';
import type { AgentSettings } from '../config/config.ts';
import type { Caller } from '../mcp/caller.ts';
import type { Agent, AgentServer, RunFields } from './agent.ts';

export interface Engine {
  /** Shown to users. */
  readonly name: string;
  /** What other programs' model and provider names mean on this engine. */
  readonly models: ModelTable;
  /** The path to its program. Throws ENGINE_MISSING, with a hint on how to install it. */
  locate(): string;
  /**
   * Runs an agent to completion. If the engine itself fails the run, the result is not ok. Rejects with a
   * SwitchboardError if the engine is missing or doesn't start, and with the reason of `cancellation` once
   * cancelled. Either way, nothing of the run is left running by then.
   */
  run(run: EngineRun): Promise<EngineResult>;
  /** The model provider named in the user's own configuration of the engine. */
  configuredProvider(): Promise<string | undefined>;
  /** Sentences about fields the engine doesn't support; none if there is no engine to check with. */
  check(fields: RunFields): Promise<readonly string[]>;
  /** Where the user configures servers for the engine itself. */
  serversFile(): string;
  /** Environment variables that make a nested Switchboard use the same engine. */
  variables(): Readonly<Record<string, string>>;
}

/** Options for creating an engine. */
export interface EngineParts {
  /** Current settings: a reload changes them. */
  readonly settings: () => AgentSettings;
  readonly env: NodeJS.ProcessEnv;
  readonly log: Log;
  /** Environment variables that let a later Switchboard find processes a killed one left behind. */
  readonly mark: Readonly<Record<string, string>>;
  readonly onProcess: (pid: number) => void;
  /** Gets the folders a later Switchboard should remove, if empty, in case this one is killed. */
  readonly onLitter: (folders: readonly string[]) => void;
  readonly project: string;
  /** Switchboard's own folder. */
  readonly home: string;
  /** What `~` expands to. */
  readonly homeFolder: string;
  /** Whether a program found in the project may be the engine. */
  readonly isOurs?: ((program: string) => boolean) | undefined;
}

export interface EngineRun {
  /** What `locate` returned. If unset, the run locates the program itself. */
  readonly program?: string | undefined;
  readonly agent: Agent;
  readonly task: string;
  /** The absolute path to an existing folder. */
  readonly cwd: string;
  /** The agent's servers, with variables expanded. The engine must attach no others. */
  readonly servers: readonly AttachedServer[];
  /** Set for everything the run starts, so that nested Switchboard processes know their depth. */
  readonly environment: Readonly<Record<string, string>>;
  readonly cancellation: Cancellation;
  readonly onEvent: (event: EngineEvent) => void;
  /** The caller to ask for approval; undefined if there is none. */
  readonly caller: Caller | undefined;
}

/** A server the way the engine should attach it. */
export interface AttachedServer extends Omit<AgentServer, 'isInjected' | 'origin'> {
  /** The only tools the agent may use; undefined for all. */
  readonly enabledTools: readonly string[] | undefined;
  /** Environment variables the server gets unless its own override them. None is secret. */
  readonly inherited?: Readonly<Record<string, string>> | undefined;
  /** Values to mask everywhere: the server's own, and those of expanded variables. */
  readonly secrets: readonly string[];
}

export interface EngineResult {
  readonly ok: boolean;
  /** The agent's last message, or one sentence about why the run failed. */
  readonly output: string;
}

/** Progress, in words for people who watch the run. */
export type EngineEvent =
  | { readonly kind: 'starting'; readonly text: string }
  /** A chunk of a message. */
  | { readonly kind: 'text'; readonly text: string }
  /** A whole message. */
  | { readonly kind: 'message'; readonly text: string }
  /** The agent starts a command, a file change, a tool call or a search. */
  | { readonly kind: 'step'; readonly text: string }
  | { readonly kind: 'warning'; readonly text: string }
  /** A note for the caller, independent of the agent's answer. */
  | { readonly kind: 'note'; readonly text: string };

export interface ModelTable {
  readonly models: readonly ModelEntry[];
  /** Provider names in any case → the name the engine uses. */
  readonly providerAliases: Readonly<Record<string, string>>;
  /** The provider the engine uses if its configuration names none. */
  readonly defaultProvider: string;
}

export interface ModelEntry {
  readonly tokens: readonly string[];
  readonly model: string;
  readonly provider: string | undefined;
}
