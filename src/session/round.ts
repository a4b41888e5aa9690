// One round of a modern host's request: the call reports to the host in it, and it ends with a result, with the
// server's questions, or with an error in this era's terms.
import { MISSING_CAPABILITY, RESOURCE_NOT_FOUND, URL_ELICITATION_REQUIRED } from '../mcp/eras.ts';
import { isInputRequired, toCacheableResult, toModernResult } from '../mcp/results.ts';
import { INVALID_PARAMS, RpcError } from '../rpc/message.ts';
import type { IncomingRequest, Peer } from '../rpc/peer.ts';
import { Verbatim } from '../rpc/verbatim.ts';
import { explainRefusal } from './errors.ts';
import type { ParkedCall } from './parking.ts';
import type { StateSeal } from './request-state.ts';

export class Round {
  readonly request: IncomingRequest;
  readonly token: Verbatim | undefined;
  readonly #peer: Peer;
  #call: ParkedCall | undefined;
  readonly #cancel = (): void => {
    this.#call?.giveUp(
      this.request.cancellation.reason ?? new Error('The host cancelled the request.'),
    );
  };

  constructor(request: IncomingRequest, token: Verbatim | undefined, peer: Peer) {
    this.request = request;
    this.token = token;
    this.#peer = peer;
  }

  attach(call: ParkedCall): void {
    this.#call = call;
    call.round = this;
    this.request.cancellation.listen(this.#cancel);
  }

  /** The round is over. The call may continue in another. */
  detach(): void {
    this.request.cancellation.unlisten(this.#cancel);
    if (this.#call?.round === this) this.#call.round = undefined;
  }

  progress(params: Verbatim): void {
    if (this.token) this.notify('notifications/progress', params.set('progressToken', this.token));
  }

  notify(method: string, params: Verbatim): void {
    const { id, cancellation } = this.request;
    if (!cancellation.reason) this.#peer.notify(method, params, id);
  }
}

/** The answer for a result, or for the server's questions. */
export function toAnswer(
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

/** The error for a call that failed because the host lacks a capability. */
export function missingCapability(
  required: Readonly<Record<string, unknown>>,
  error: unknown,
): unknown {
  if (!(error instanceof RpcError)) return error;
  const data = Verbatim.of({ requiredCapabilities: required });
  return new RpcError(MISSING_CAPABILITY, error.message, data);
}

/** The answer for a failed call. Errors of the handshake era are translated to this one. */
export function answerError(error: unknown, digest: () => string, seal: StateSeal): Verbatim {
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
  const questions = Verbatim.fromText(`{${parts.join(',')}}`);
  return inputRequired(questions, seal.seal({ kind: 'relay', state: undefined }, digest()));
}
