// The seam between sessions and children: which tools a host is shown, and what a call of one of them
// does. A session asks only this, whatever ways of showing children are behind it.
import type { Cancellation } from '../base/cancellation.ts';
import type { Tool } from '../mcp/tools.ts';
import type { Verbatim } from '../rpc/verbatim.ts';

/** What one session is shown. */
export interface Surface {
  /** How to use it, in words for the host's model. */
  readonly instructions: string;
  /** The children whose tools this session has switched on. */
  readonly active: readonly string[];
  /** The same list for the same configuration, except for what the session has switched on. */
  listTools(): readonly Tool[];
  callTool(call: ToolCall): Promise<Verbatim>;
  close(): void;
}

/** The session that is shown it, as far as changes of the list concern it. */
export interface Audience {
  /** Its host is known never to fetch a list again that has changed. */
  readonly neverRelists: boolean;
  /** Tells the host now that the list has changed. */
  announce(): void;
  /** The same a little later, once for all changes until then. */
  announceSoon(): void;
  /** Tells the host now, and waits until it has fetched the list, or seems not to. */
  announceAndSettle(cancellation: Cancellation): Promise<void>;
}

export interface ToolCall {
  readonly name: string;
  /** The call's `arguments`: an object, `{}` where the host sent none. */
  readonly args: Verbatim;
  /** The request's `_meta`, an object. Its progress token is the host's own. */
  readonly meta: Verbatim | undefined;
  readonly cancellation: Cancellation;
  /** Set where the host wants to hear of progress. */
  readonly onProgress: ((params: Verbatim) => void) | undefined;
}
