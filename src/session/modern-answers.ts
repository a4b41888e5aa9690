// How a round of a modern host's ends: with a result, with what a child wants to know first, or with an
// error in the words of this era.
import { MISSING_CAPABILITY, RESOURCE_NOT_FOUND, URL_ELICITATION_REQUIRED } from '../mcp/eras.ts';
import { isInputRequired, toCacheableResult, toModernResult } from '../mcp/results.ts';
import { INVALID_PARAMS, RpcError } from '../rpc/message.ts';
import { Verbatim } from '../rpc/verbatim.ts';
import { explainRefusal } from './errors.ts';
import type { StateSeal } from './request-state.ts';

export function finish(
  result: Verbatim,
  digest: () => string,
  seal: StateSeal,
  method: string,
): Verbatim {
  if (!isInputRequired(result.value)) {
    return method === 'resources/read' ? toCacheableResult(result) : toModernResult(result);
  }
  const state = (result.value as { requestState?: unknown }).requestState;
  const own = typeof state === 'string' ? state : undefined;
  const sealed = Verbatim.of(seal.seal({ kind: 'relay', state: own }, digest()));
  return toModernResult(result.set('requestState', sealed));
}

export function inputRequired(questions: Verbatim, state: string): Verbatim {
  const result = Verbatim.of({ resultType: 'input_required' }).set('inputRequests', questions);
  return toModernResult(result.set('requestState', Verbatim.of(state)));
}

/** A call that failed for want of something the host has not said that it can do. */
export function missingCapability(
  required: Readonly<Record<string, unknown>>,
  error: unknown,
): unknown {
  if (!(error instanceof RpcError)) return error;
  const data = Verbatim.of({ requiredCapabilities: required });
  return new RpcError(MISSING_CAPABILITY, error.message, data);
}

/** Errors that only the handshake era knows, in the words of this one. */
export function answerModern(error: unknown, digest: () => string, seal: StateSeal): Verbatim {
  if (!(error instanceof RpcError)) throw explainRefusal(error);
  if (error.code === RESOURCE_NOT_FOUND) {
    throw new RpcError(INVALID_PARAMS, error.message, error.data);
  }
  const elicitations = error.data?.member('elicitations');
  if (error.code !== URL_ELICITATION_REQUIRED || !elicitations) throw error;
  const parts = elicitations
    .elements()
    .map(
      (params, index) =>
        `"page_${index + 1}":{"method":"elicitation/create","params":${params.text}}`,
    );
  const questions = new Verbatim(`{${parts.join(',')}}`, {});
  return inputRequired(questions, seal.seal({ kind: 'relay', state: undefined }, digest()));
}
