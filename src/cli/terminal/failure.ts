// A failure as a command shows it beside others: what happened and what to do.
import { SwitchboardError } from '../../base/errors.ts';
import { RpcError } from '../../rpc/message.ts';

export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly hint: string | undefined;
}

/** Anything that is neither our error nor a child's is a bug, and is thrown on. */
export function describeFailure(error: unknown): Failure {
  if (error instanceof SwitchboardError) {
    return { code: error.code, message: error.message, hint: error.hint };
  }
  if (error instanceof RpcError) {
    return { code: `CHILD_ERROR ${error.code}`, message: error.message, hint: undefined };
  }
  throw error;
}
