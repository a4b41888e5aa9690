// Whether the client of a session reads its responses. While it leaves too much of them unread, servers that work
// only for it have to wait (see pool/flow.ts).
import type { ServerResponse } from 'node:http';
import { guard } from '../../base/guard.ts';

export interface UnreadOptions {
  readonly onFull: (isFull: boolean) => void;
  readonly onBug: (error: unknown) => void;
}

/** Well below the limit at which a stream is closed. */
const MOST_UNREAD_BYTES = 1 << 20;

export class UnreadResponses {
  readonly #options: UnreadOptions;
  readonly #full = new Set<ServerResponse>();

  constructor(options: UnreadOptions) {
    this.#options = options;
  }

  /** To be called after each write. */
  readonly note = (response: ServerResponse): void => {
    if (response.writableLength <= MOST_UNREAD_BYTES || this.#full.has(response)) return;
    this.#full.add(response);
    const { onFull, onBug } = this.#options;
    const goOn = guard(onBug, () => {
      if (this.#full.delete(response) && this.#full.size === 0) onFull(false);
    });
    response.once('drain', goOn);
    response.once('finish', goOn);
    response.once('close', goOn);
    if (this.#full.size === 1) onFull(true);
  };
}
