// Information about a remote server that its transports share, mostly for error messages.
import { createMask, type Mask } from '../../base/secrets.ts';
import type { ShapeLimits } from '../../rpc/shape.ts';
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
export class Secrets {
  readonly #configured: readonly string[];
  #headers: string[] = [];
  #mask: Mask;

  constructor(configured: Iterable<string>) {
    this.#configured = [...configured];
    this.#mask = createMask(this.#configured);
  }

  addHeader(value: string): void {
    if (this.#headers.at(-1) === value) return;
    const others = this.#headers.filter((header) => header !== value);
    this.#headers = [...others, value].slice(-KEPT_HEADERS);
    this.#mask = createMask([...this.#configured, ...this.#headers.flatMap(secretsInHeader)]);
  }

  readonly mask: Mask = (text) => this.#mask(text);
}
