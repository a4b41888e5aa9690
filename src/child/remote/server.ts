// What all that deals with one remote server has to know about it, mostly in order to speak of it.
import { createMask, type Mask } from '../../base/secrets.ts';
import { secretsOf } from './address.ts';

export interface RemoteServer {
  readonly name: string;
  /** The file that declares it. */
  readonly origin: string;
  /** Scheme, host and port: as much of the address as may be printed. */
  readonly place: string;
  /** Whether an Authorization header is configured, so that signing in would change nothing. */
  readonly hasAuthorization: boolean;
  readonly messageBytes: number;
  readonly secrets: Secrets;
}

/** Secrets of which more become known as time goes on: tokens are renewed. */
export class Secrets {
  readonly #values: Set<string>;
  #mask: Mask;

  constructor(values: Iterable<string>) {
    this.#values = new Set(values);
    this.#mask = createMask(this.#values);
  }

  addHeader(value: string): void {
    if (this.#values.has(value)) return;
    for (const secret of secretsOf(value)) this.#values.add(secret);
    this.#mask = createMask(this.#values);
  }

  readonly mask: Mask = (text) => this.#mask(text);
}
