// Most starts find the files as they were. If everything that follows from some texts was approved, a hash of these
// texts stands for all of it, and the parts need not be hashed again.
import { sha256 } from '../../base/sha256.ts';
import type { Basis, Subject } from '../../config/judge.ts';
import { CONTENT_FORM } from './content.ts';

export class Batches {
  readonly #hashes = new WeakMap<Basis, string>();
  readonly #isApproved = new Map<string, boolean>();

  /** The hash for a subject; undefined if more than texts decide about it. */
  of({ kind, basis, file, touches }: Subject, scope: () => string): string | undefined {
    if (basis === undefined || touches) return undefined;
    const known = this.#hashes.get(basis);
    if (known !== undefined) return known;
    const text = JSON.stringify([CONTENT_FORM, scope(), kind, file, basis]);
    const hash = sha256(text);
    this.#hashes.set(basis, hash);
    return hash;
  }

  add(batch: string, isApproved: boolean): void {
    this.#isApproved.set(batch, isApproved && (this.#isApproved.get(batch) ?? true));
  }

  /** Those whose subjects were all approved. */
  approved(): string[] {
    return [...this.#isApproved].flatMap(([batch, isApproved]) => (isApproved ? batch : []));
  }
}
