// The text that a modern host keeps for us between two rounds of a request. It is signed, so that
// nothing can be made up or changed, bound to the request it belongs to, and expires.
import { isObject } from '../base/object.ts';
import { isSameSecret } from '../base/secrets.ts';
import { INVALID_PARAMS, RpcError } from '../rpc/message.ts';

/** What a text stands for. */
export type State =
  /** A modern child asked; its own state, if it gave one. We keep nothing. */
  | { readonly kind: 'relay'; readonly state: string | undefined }
  /** A call of a child of the handshake era waits here for the answers. */
  | { readonly kind: 'parked'; readonly handle: string };

const HOLDS_MS = 60 * 60_000;

const crypto = () => process.getBuiltinModule('node:crypto');

export class StateSeal {
  #key: Buffer | undefined; // lazy: most sessions need none

  /** The text for a state of the request with this digest. */
  seal(state: State, digest: string): string {
    const body = Buffer.from(JSON.stringify({ ...state, digest, until: Date.now() + HOLDS_MS }));
    const payload = body.toString('base64url');
    return `${payload}.${this.sign(payload)}`;
  }

  /** What a text stands for; refuses what was not sealed here, for this request, in time. */
  open(text: unknown, digest: string): State {
    const [payload = '', signature = '', ...rest] = typeof text === 'string' ? text.split('.') : [];
    const isSigned = isSameSecret(signature, this.sign(payload));
    if (rest.length > 0 || !isSigned) throw invalidState();
    const value: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString());
    if (!isObject(value) || value['digest'] !== digest) throw invalidState();
    if (typeof value['until'] !== 'number' || Date.now() > value['until']) throw invalidState();
    const { kind, state, handle } = value;
    if (kind === 'parked' && typeof handle === 'string') return { kind, handle };
    return { kind: 'relay', state: typeof state === 'string' ? state : undefined };
  }

  sign(payload: string): string {
    this.#key ??= crypto().randomBytes(32);
    return crypto().createHmac('sha256', this.#key).update(payload).digest('base64url');
  }
}

/** What makes a repeated request the same as the first. */
export function digestOf(method: string, params: unknown): string {
  const { name, uri, arguments: args } = isObject(params) ? params : {};
  const text = JSON.stringify([method, name ?? null, uri ?? null, args ?? null]);
  return crypto().createHash('sha256').update(text).digest('base64url');
}

export function invalidState(): RpcError {
  return new RpcError(
    INVALID_PARAMS,
    'requestState is not one that was given for this request, or it has expired.',
  );
}
