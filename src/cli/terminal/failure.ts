// A failure as one entry in a command's output: what happened and what to do.
import { SwitchboardError } from '../../base/errors.ts';
import { RpcError } from '../../rpc/message.ts';

export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly hint: string | undefined;
}

/** Rethrows bugs: anything but our own errors and those of servers. */
export function describeFailure(error: unknown): Failure {
  if (error instanceof SwitchboardError) {
    return { code: error.code, message: error.message, hint: error.hint };
  }
  if (error instanceof RpcError) {
    return { code: `CHILD_ERROR ${error.code}`, message: error.message, hint: undefined };
  }
  throw error;
}
