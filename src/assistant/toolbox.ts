// The server as an assistant's model sees it during one query: its exposed tools, and a way to call them. The
// surface opens it.
import type { Cancellation } from '../base/cancellation.ts';
import type { SwitchboardError } from '../base/errors.ts';
import type { Caller } from '../mcp/caller.ts';
import type { Tool } from '../mcp/tools.ts';
import type { Verbatim } from '../rpc/verbatim.ts';

export interface Toolbox {
  /** The exposed ones. */
  readonly tools: readonly Tool[];
  /** The server's own instructions. */
  readonly instructions: string | undefined;
  call(
    subtool: string,
    args: Verbatim,
    onProgress: ((params: Verbatim) => void) | undefined,
  ): Promise<Verbatim>;
  /** The error for a tool that isn't among these. */
  refusal(subtool: string): SwitchboardError;
}

interface ToolboxOptions {
  readonly cancellation: Cancellation;
  /** Answers the server's questions. */
  readonly caller: Caller | undefined;
}

export type OpenToolbox = (options: ToolboxOptions) => Promise<Toolbox>;
