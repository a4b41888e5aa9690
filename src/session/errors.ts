// Failures as a host is told of them: the one place where our errors become MCP. A failed tool call
// is a result that the model can read and act on; misuse of the protocol is a JSON-RPC error; what
// a child answered as an error goes on as it is.
import { SwitchboardError } from '../base/errors.ts';
import { textResult } from '../mcp/tools.ts';
import type { Framing } from '../rpc/framing.ts';
import { INVALID_PARAMS, RpcError } from '../rpc/message.ts';
import { Verbatim } from '../rpc/verbatim.ts';

/** What JSON-RPC leaves to servers: our own code for it is in the data. */
const FAILURE = -32000;

/** The result to answer a failed call with; throws where a JSON-RPC error is due instead. */
export function answerFailure(error: unknown, framing: Framing): Verbatim {
  if (!(error instanceof SwitchboardError)) throw error;
  // Hosts that speak with Content-Length headers know results of tools that succeed alone.
  if (framing === 'content-length') throw toRpcError(error);
  if (error.code === 'TOOL_UNKNOWN') throw new RpcError(INVALID_PARAMS, error.text);
  return textResult(error.text, { isError: true });
}

/** The error to answer any other request with, which has no result that could tell of a failure. */
export function explainRefusal(error: unknown): unknown {
  return error instanceof SwitchboardError ? toRpcError(error) : error;
}

/** A failure of ours as a JSON-RPC error. */
export function toRpcError({ code, text }: SwitchboardError): RpcError {
  return new RpcError(FAILURE, text, Verbatim.of({ code }));
}
