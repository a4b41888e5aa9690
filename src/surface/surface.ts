// The seam between sessions and children: what a host is shown, and what a request of it does. A
// session asks only this, whatever ways of showing children are behind it.
import type { Cancellation } from '../base/cancellation.ts';
import type { CallOptions } from '../child/child.ts';
import type { Question } from '../mcp/caller.ts';
import type { LogLevel } from '../mcp/logging.ts';
import type { Tool } from '../mcp/tools.ts';
import type { Framing } from '../rpc/framing.ts';
import type { Verbatim } from '../rpc/verbatim.ts';

/** What one session is shown. */
export interface Surface {
  /** How to use it, in words for the host's model. */
  readonly instructions: string;
  /** The children whose tools this session has switched on. */
  readonly active: readonly string[];
  /** The same list for the same configuration, except for what the session has switched on. */
  listTools(): readonly Tool[];
  listPrompts(): readonly unknown[];
  listResources(): readonly unknown[];
  listTemplates(): readonly unknown[];
  /** Throws at once what is wrong with the call itself. */
  callTool(call: ToolCall): Promise<Verbatim>;
  /** `prompts/get`, `resources/read` or `completion/complete`, from the child that has it. */
  ask(method: string, params: Verbatim, options: SurfaceOptions): Promise<Verbatim>;
  /** Has the session told of changes of these resources, and of no others. */
  watch(uris: ReadonlySet<string>): Promise<void>;
  /** Has children send the log messages that the session wants, from this level on. */
  setLogLevel(level: LogLevel): void;
  close(): void;
}

/** The session that is shown it, as far as news concern it. */
export interface Audience {
  /** The name that the host gives itself, once it has. */
  readonly client: string | undefined;
  /** Its host is known never to fetch a list again that has changed. */
  readonly neverRelists: boolean;
  /** The list of tools must not change by what the session does. */
  readonly isStatic: boolean;
  /** Tells the host now that the list of tools has changed. */
  announce(): void;
  /** The same a little later, once for all changes until then. */
  announceSoon(kind?: 'tools' | 'prompts' | 'resources'): void;
  /** Tells the host now and waits for it to fetch the list. Returns whether it did. */
  announceAndSettle(cancellation: Cancellation): Promise<boolean>;
  /** A resource that it watches has changed. */
  resourceUpdated(params: Verbatim): void;
  /** Asks the host out of the blue; undefined where that cannot be done. */
  readonly ask: ((question: Question) => Promise<Verbatim>) | undefined;
}

/** What goes along with a request: its `_meta`, its caller, its being called off. */
export interface SurfaceOptions extends CallOptions {
  readonly cancellation: Cancellation;
}

export interface ToolCall extends SurfaceOptions {
  readonly name: string;
  /** The call's `arguments`: an object, `{}` where the host sent none. */
  readonly args: Verbatim;
  /** The host's framing, which decides the shape of our own results. */
  readonly framing?: Framing;
}
