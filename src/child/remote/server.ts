// What all that deals with one remote server has to know about it, mostly in order to speak of it.
import { createMask, type Mask } from '../../base/secrets.ts';
import type { ShapeLimits } from '../../rpc/shape.ts';
import { secretsOf } from './address.ts';

export interface RemoteServer {
  readonly name: string;
  /** The file that declares it. */
  readonly origin: string;
  /** Scheme, host and port: as much of the address as may be printed. */
  readonly place: string;
  /** Whether an Authorization header is configured, so that signing in would change nothing. */
  readonly hasAuthorization: boolean;
  /** Whether one can sign in to it at all: not over WebSocket. */
  readonly canSignIn: boolean;
  readonly messageBytes: number;
  readonly messageShape: ShapeLimits;
  readonly secrets: Secrets;
}

/** Tokens are renewed, and the last ones may still be met in what a server says. */
const KEPT_HEADERS = 8;

/** Secrets of which others become known as time goes on: the configured ones, and the last tokens. */
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
    this.#mask = createMask([...this.#configured, ...this.#headers.flatMap(secretsOf)]);
  }

  readonly mask: Mask = (text) => this.#mask(text);
}
