// What the host is shown. A surface turns children into a list of tools, and a call of such a tool
// into a call on a child. A session knows only this interface.
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
  /** The request's `_meta` without the progress token, which belongs to the host. */
  readonly meta: Record<string, unknown> | undefined;
  readonly cancellation: Cancellation;
  /** Set where the host wants to hear of progress. */
  readonly onProgress: ((params: Verbatim) => void) | undefined;
}
