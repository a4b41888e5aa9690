// The modes in which hosts can be shown a server. One object per mode holds everything in which modes differ. The
// rest of the program uses that object and doesn't know any mode by name.
import type { CallContext } from '../../calls/call.ts';
import type { ChildConfig, Show } from '../../config/config.ts';
import type { Tool } from '../../mcp/tools.ts';
import type { Verbatim } from '../../rpc/verbatim.ts';
import type { OwnTool } from '../own-tools.ts';
import type { Audience } from '../surface.ts';
import type { ViewParts } from '../view.ts';

export interface ShowMode {
  readonly name: Show;
  /** When a session lists the server's own tools: `switched` is while it has switched the server on. */
  readonly ownTools: 'always' | 'switched' | 'never';
  /** Hosts are meant to call the server through its suite, so that is worth tuning. */
  readonly usesSuite: boolean;
  /** Hosts can't list the server without knowing its tools, so it is started once to learn them. */
  readonly needsTools: boolean;
  /** For the instructions: how a model uses a server whose suite isn't listed. */
  readonly access: string;
  /** For people: when its own tools are listed, if not always. */
  readonly condition?: string;
  /** Whether a tool name belongs to the mode itself. */
  reserves?(toolName: string): boolean;
  /** The server's own tool as this mode lists it. */
  present?(tool: Tool): Tool;
  open(parts: ModeSessionParts): ModeSession;
}

/** A mode in one session, with whatever state it keeps there. */
export interface ModeSession {
  listsToolsOf(server: ChildConfig): boolean;
  listsSuiteOf(server: ChildConfig): boolean;
  /** The servers this session has switched on. */
  readonly active?: readonly string[];
  /** A sentence for the host's model; empty if there is nothing to say. */
  readonly instructions?: string;
  /** The mode's own tools, listed before all others. */
  listTools?(): readonly Tool[];
  /** Answers a call to one of the mode's own tools; undefined for any other tool. */
  callTool?(name: string, args: Verbatim, context: CallContext): Promise<Verbatim> | undefined;
  /** What to do about a tool that exists but isn't listed. */
  hintFor?(toolName: string): string | undefined;
  /** Adds what the mode knows about a failed call to one of a server's own tools. */
  explain?(error: unknown): unknown;
  /** The configuration has changed. */
  reconfigured?(): void;
  /** A start or a call has failed. */
  checkFailures?(): void;
  /** A running server has exited. */
  lost?(childName: string): void;
}

export interface ModeSessionParts {
  /** The servers in this mode, as configured now. */
  readonly servers: () => ChildConfig[];
  /** Everything the session sees, as configured now. */
  readonly parts: () => ViewParts;
  readonly audience: Audience;
  /** A server's own tools that are listed at the moment. */
  readonly toolsOf: (childName: string) => readonly OwnTool[];
  /** The name of a server's suite, if this host lists it. */
  readonly suiteOf: (server: ChildConfig) => string | undefined;
  /** The session switched something on or off. */
  readonly onChanged: () => void;
}
