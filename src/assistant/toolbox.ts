// The server as an assistant's model sees it, for the time of one query: its tools, as far as they may
// be used, and what comes of using them. Whoever shows the assistant to hosts knows how to open one.
import type { Cancellation } from '../base/cancellation.ts';
import type { SwitchboardError } from '../base/errors.ts';
import type { Caller } from '../mcp/caller.ts';
import type { Tool } from '../mcp/tools.ts';
import type { Verbatim } from '../rpc/verbatim.ts';

export interface Toolbox {
  /** Those that may be used. */
  readonly tools: readonly Tool[];
  /** What the server says about its use. */
  readonly instructions: string | undefined;
  call(
    subtool: string,
    args: Verbatim,
    onProgress: ((params: Verbatim) => void) | undefined,
  ): Promise<Verbatim>;
  /** Why a tool that is not among these cannot be used. */
  refusal(subtool: string): SwitchboardError;
}

interface ToolboxOptions {
  readonly cancellation: Cancellation;
  /** The one who is asked what the server wants to know. */
  readonly caller: Caller | undefined;
}

export type OpenToolbox = (options: ToolboxOptions) => Promise<Toolbox>;
