// Which of the host's requests have been read and which have a response, for the entry: it must know if this process
// is killed. Receipts travel in the same frame as the responses they report, so neither arrives without the other.
import { isObject } from '../base/object.ts';
import { type Id, isId } from '../rpc/message.ts';
import { Verbatim } from '../rpc/verbatim.ts';
import type { Receipt } from './frames.ts';

export class Ledger {
  /** Requests without a response that the entry doesn't know about: their ids as JSON, by what is compared. */
  readonly #opened = new Map<string, string>();
  #closed: string[] = [];

  /** The host has sent this. */
  read({ text, value }: { readonly text: string; readonly value: unknown }): void {
    if (Array.isArray(value)) {
      for (const one of new Verbatim(text, value).elements()) this.#read(one);
    } else if (isObject(value)) {
      const { id, method, params } = value;
      if (isId(id) && method !== undefined) {
        const isExact = typeof id === 'string' || Number.isSafeInteger(id);
        const written = isExact ? undefined : new Verbatim(text, value).member('id')?.text;
        this.#open(id, written);
      } else if (method === 'notifications/cancelled' && isObject(params)) {
        // It gets no response. One that is already on its way does no harm.
        if (isId(params['requestId'])) this.close(params['requestId']);
      }
    }
  }

  /** A response to this request is about to be sent. */
  close(id: Id): void {
    const key = JSON.stringify(id);
    if (!this.#opened.delete(key)) this.#closed.push(key);
  }

  /** What has changed since the last receipt. */
  receipt(readBytes: number): Receipt {
    if (this.#opened.size === 0 && this.#closed.length === 0) {
      return { readBytes, opened: NONE, closed: NONE };
    }
    const receipt = { readBytes, opened: [...this.#opened.values()], closed: this.#closed };
    this.#opened.clear();
    this.#closed = [];
    return receipt;
  }

  #read({ text, value }: Verbatim): void {
    if (!Array.isArray(value)) this.read({ text, value });
  }

  #open(id: Id, written: string | undefined): void {
    const key = JSON.stringify(id);
    this.#opened.set(key, written ?? key);
  }
}

const NONE: readonly string[] = [];
