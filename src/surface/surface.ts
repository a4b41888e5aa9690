// The seam between sessions and servers: what a host sees, and what its requests do. A session knows only this, no
// matter how the servers behind it are shown.
import type { Cancellation } from '../base/cancellation.ts';
import type { CallContext } from '../calls/call.ts';
import type { Question } from '../mcp/caller.ts';
import type { LogLevel } from '../mcp/logging.ts';
import type { Tool } from '../mcp/tools.ts';
import type { Verbatim } from '../rpc/verbatim.ts';

/** Everything one session sees. */
export interface Surface {
  /** Explains to the host's model how to use it. */
  readonly instructions: string;
  /** The servers this session has switched on. */
  readonly active: readonly string[];
  /** The same list for the same configuration, apart from what the session has switched on. */
  listTools(): readonly Tool[];
  listPrompts(): readonly unknown[];
  listResources(): readonly unknown[];
  listTemplates(): readonly unknown[];
  /** `args` is an object. Throws at once if the call itself is wrong. */
  callTool(name: string, args: Verbatim, context: CallContext): Promise<Verbatim>;
  /** Forwards `prompts/get`, `resources/read`, `completion/complete` or `tasks/*` to the right server. */
  ask(method: string, params: Verbatim, context: CallContext): Promise<Verbatim>;
  /** Replaces the set of resources whose changes the session hears about. */
  watch(uris: ReadonlySet<string>): Promise<void>;
  /** Sets the least important log messages servers should send to this session. */
  setLogLevel(level: LogLevel): void;
  close(): void;
}

/** A session, as the recipient of a surface's events. */
export interface Audience {
  /** The name the host gives itself, once known. */
  readonly client: string | undefined;
  /** The host is known not to refresh its lists. */
  readonly neverRelists: boolean;
  /** The session's actions must not change its tool list. */
  readonly isStatic: boolean;
  /** Tells the host now that the tool list has changed. */
  announce(): void;
  /** Tells the host a little later, once for all changes until then. */
  announceSoon(kind?: 'tools' | 'prompts' | 'resources'): void;
  /** Tells the host now and waits for it to fetch the list. Returns whether it did. */
  announceAndSettle(cancellation: Cancellation): Promise<boolean>;
  /** A watched resource has changed. */
  resourceUpdated(params: Verbatim): void;
  /** Asks the host something outside any call; undefined if that's impossible. */
  readonly ask: ((question: Question) => Promise<Verbatim>) | undefined;
}
