// The seam between agents and what runs them. There is one engine today, Codex.
import type { Cancellation } from '../base/cancellation.ts';
import type { Caller } from '../mcp/caller.ts';
import type { Agent, AgentServer } from './agent.ts';

export interface Engine {
  /**
   * Runs an agent to its end. A run that the engine itself brings to a bad end is a result that is
   * not ok. Rejects with a SwitchboardError where there is no engine or it cannot be started, and
   * with the reason of `cancellation` when it is called off; by then nothing of the run is left.
   */
  run(run: EngineRun): Promise<EngineResult>;
}

export interface EngineRun {
  readonly agent: Agent;
  readonly task: string;
  /** An absolute path of a folder that exists. */
  readonly cwd: string;
  /** The servers the agent gets, variables filled in. No others may be attached. */
  readonly servers: readonly AttachedServer[];
  /** Set for what the run starts, so that Switchboards below know how deep they are. */
  readonly environment: Readonly<Record<string, string>>;
  readonly cancellation: Cancellation;
  readonly onEvent: (event: EngineEvent) => void;
  /** The one who wants the run and may be asked to approve; undefined where nobody can be asked. */
  readonly caller: Caller | undefined;
}

/** A server as the engine is to attach it. */
export interface AttachedServer extends Omit<AgentServer, 'isInjected' | 'origin'> {
  /** The only tools of it that the agent may use; undefined for all. */
  readonly enabledTools: readonly string[] | undefined;
  /** Variables of ours that it gets where its own do not say otherwise. Nothing in them is secret. */
  readonly handedOn?: Readonly<Record<string, string>> | undefined;
  /** What of it must not be repeated: values of its own, and those that variables were filled in with. */
  readonly secrets: readonly string[];
}

export interface EngineResult {
  readonly ok: boolean;
  /** The agent's last message; where the run failed, one sentence about why. */
  readonly output: string;
}

/** What happens in a run, in words for people who watch it. */
export type EngineEvent =
  | { readonly kind: 'starting'; readonly text: string }
  /** A piece of what the agent says. */
  | { readonly kind: 'text'; readonly text: string }
  /** The agent has said this, as a whole. */
  | { readonly kind: 'message'; readonly text: string }
  /** It begins to do this: a command, a change of files, a call of a tool, a search. */
  | { readonly kind: 'step'; readonly text: string }
  | { readonly kind: 'warning'; readonly text: string }
  /** What the caller has to know, whatever the agent answers. */
  | { readonly kind: 'note'; readonly text: string };
