// Failures as a host is told of them: the one place where our errors become MCP. A failed tool call
// is a result that the model can read and act on; misuse of the protocol is a JSON-RPC error; what
// a child answered as an error goes on as it is.
import { SwitchboardError } from '../base/errors.ts';
import { textResult } from '../mcp/tools.ts';
import type { Framing } from '../rpc/framing.ts';
import { INVALID_PARAMS, RpcError } from '../rpc/message.ts';
import { Verbatim } from '../rpc/verbatim.ts';

/** For hosts that speak with Content-Length headers, every failure of a tool has this code. */
const TOOL_FAILURE = -32000;

/** The result to answer a failed call with; throws where a JSON-RPC error is due instead. */
export function answerFailure(error: unknown, framing: Framing): Verbatim {
  if (!(error instanceof SwitchboardError)) throw error;
  if (framing === 'content-length') {
    throw new RpcError(TOOL_FAILURE, error.text, Verbatim.of({ code: error.code }));
  }
  if (error.code === 'TOOL_UNKNOWN') throw new RpcError(INVALID_PARAMS, error.text);
  return textResult(error.text, { isError: true });
}
