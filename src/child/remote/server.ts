// Information about a remote server that its transports share, mostly for error messages.
import type { ShapeLimits } from '../../rpc/shape.ts';
import { KnownSecrets } from '../known-secrets.ts';
import { secretsInHeader } from './address.ts';

export interface RemoteServer {
  readonly name: string;
  /** The file that configures it. */
  readonly origin: string;
  /** Scheme, host and port: the part of the URL that is safe to print. */
  readonly place: string;
  /** Whether an Authorization header is configured, which makes a sign-in pointless. */
  readonly hasAuthorization: boolean;
  /** False for WebSocket. */
  readonly canSignIn: boolean;
  readonly messageBytes: number;
  readonly messageShape: ShapeLimits;
  readonly secrets: Secrets;
}

/** Tokens get renewed, and a server may still quote the previous ones. */
const KEPT_HEADERS = 8;

/** The configured secrets and the most recent tokens. */
export class Secrets extends KnownSecrets {
  #headers: string[] = [];

  override get values(): readonly string[] {
    return [...super.values, ...this.#headers.flatMap(secretsInHeader)];
  }

  addHeader(value: string): void {
    if (this.#headers.at(-1) === value) return;
    const others = this.#headers.filter((header) => header !== value);
    this.#headers = [...others, value].slice(-KEPT_HEADERS);
    this.changed();
  }
}
