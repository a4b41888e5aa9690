// The one place where our errors become MCP. A failed tool call is a result that the model can read and act on;
// misuse of the protocol is a JSON-RPC error; a server's own error is forwarded unchanged.
import { SwitchboardError } from '../base/errors.ts';
import { textResult } from '../mcp/tools.ts';
import type { Framing } from '../rpc/framing.ts';
import { INVALID_PARAMS, RpcError } from '../rpc/message.ts';
import { Verbatim } from '../rpc/verbatim.ts';

/** From the range JSON-RPC leaves to servers. Our own code is in the data. */
const FAILURE = -32000;

/** The result for a failed call; throws if it has to be a JSON-RPC error. */
export function answerFailure(error: unknown, framing: Framing): Verbatim {
  if (!(error instanceof SwitchboardError)) throw error;
  // Hosts that use Content-Length only understand results of successful calls.
  if (framing === 'content-length') throw toRpcError(error);
  if (error.code === 'TOOL_UNKNOWN') throw new RpcError(INVALID_PARAMS, error.text);
  return textResult(error.text, { isError: true });
}

/** The error for any other request: its result has no place for a failure. */
export function explainRefusal(error: unknown): unknown {
  return error instanceof SwitchboardError ? toRpcError(error) : error;
}

export function toRpcError({ code, text }: SwitchboardError): RpcError {
  return new RpcError(FAILURE, text, Verbatim.of({ code }));
}
