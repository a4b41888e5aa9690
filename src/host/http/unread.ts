// Tracks whether a session's client reads its responses. While it leaves too much unread, servers that work only
// for it have to wait (see pool/flow.ts).
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
  /** Created on first use: most clients read. */
  #full: Set<ServerResponse> | undefined;

  constructor(options: UnreadOptions) {
    this.#options = options;
  }

  /** Call after each write. */
  readonly note = (response: ServerResponse): void => {
    if (response.writableLength <= MOST_UNREAD_BYTES) return;
    const full = (this.#full ??= new Set());
    if (full.has(response)) return;
    full.add(response);
    const { onFull, onBug } = this.#options;
    const goOn = guard(onBug, () => {
      if (full.delete(response) && full.size === 0) onFull(false);
    });
    response.once('drain', goOn);
    response.once('finish', goOn);
    response.once('close', goOn);
    if (full.size === 1) onFull(true);
  };
}
