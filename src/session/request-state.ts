// The state that a modern host keeps for us between two rounds of a request. It is signed, bound to that request, and
// expires.
import { isObject } from '../base/object.ts';
import { isSameSecret } from '../base/secrets.ts';
import { INVALID_PARAMS, RpcError } from '../rpc/message.ts';

export type RequestState =
  /** A modern server asked; its own state, if it sent one. We keep nothing. */
  | { readonly kind: 'relay'; readonly state: string | undefined }
  /** A call to a handshake-era server is parked here until the answers arrive. */
  | { readonly kind: 'parked'; readonly handle: string };

const VALID_MS = 60 * 60_000;

const crypto = () => process.getBuiltinModule('node:crypto');

export class StateSeal {
  #key: Buffer | undefined; // lazy: most sessions don't need one

  /** Seals a state for the request with this digest. */
  seal(state: RequestState, digest: string): string {
    const body = Buffer.from(JSON.stringify({ ...state, digest, until: Date.now() + VALID_MS }));
    const payload = body.toString('base64url');
    return `${payload}.${this.sign(payload)}`;
  }

  /** Throws unless the text was sealed here, for this request, and hasn't expired. */
  open(text: unknown, digest: string): RequestState {
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

/** Two rounds of the same request have the same digest. */
export function digestOf(method: string, params: unknown): string {
  const { name, uri, arguments: args } = isObject(params) ? params : {};
  const text = JSON.stringify([method, name ?? null, uri ?? null, args ?? null]);
  return crypto().createHash('sha256').update(text).digest('base64url');
}

export function invalidState(): RpcError {
  return new RpcError(INVALID_PARAMS, 'requestState is invalid for this request or has expired.');
}
