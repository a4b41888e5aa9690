// One request of a modern host's in which a call is carried on, from its first question to its result.
import type { IncomingRequest, Peer } from '../rpc/peer.ts';
import type { Verbatim } from '../rpc/verbatim.ts';
import type { ParkedCall } from './parking.ts';

/** What a call hears of goes out in the round that it is in. */
export class Round {
  readonly request: IncomingRequest;
  readonly token: Verbatim | undefined;
  readonly #peer: Peer;
  #call: ParkedCall | undefined;
  readonly #cancel = (): void => {
    this.#call?.giveUp(this.request.cancellation.reason ?? new Error('The host has cancelled it.'));
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

  /** The call may go on in another round; this one does not concern it any more. */
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
