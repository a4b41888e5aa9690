// The seam between sessions and children: which tools there are, and what a call of one of them does.
// A session asks only this, whatever way of showing children is behind it.
import type { Cancellation } from '../base/cancellation.ts';
import type { Tool } from '../mcp/tools.ts';
import type { Verbatim } from '../rpc/verbatim.ts';

export interface Surface {
  /** Always the same list for the same configuration. */
  listTools(): readonly Tool[];
  callTool(call: ToolCall): Promise<Verbatim>;
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
