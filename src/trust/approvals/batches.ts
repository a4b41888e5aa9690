// Most starts find the files as they were. If everything that follows from some files was approved, their stamps stand
// for all of it, or a hash of their texts. The parts need not be hashed again then; node:crypto alone takes
// milliseconds to load.
import { sha256 } from '../../base/sha256.ts';
import type { Basis, Subject } from '../../config/judge.ts';
import { CONTENT_FORM } from './content.ts';

export class Batch {
  /** The files as they are on disk; undefined if one was changed just now. */
  readonly stamp: string | undefined;
  readonly #place: readonly unknown[];
  readonly #basis: Basis;
  #hash: string | undefined;

  constructor(place: readonly unknown[], basis: Basis) {
    this.#place = [CONTENT_FORM, ...place];
    this.#basis = basis;
    const stamps = basis.map(({ stamp }) => stamp);
    this.stamp = stamps.includes(undefined) ? undefined : JSON.stringify([...this.#place, stamps]);
  }

  /** Of their texts. */
  get hash(): string {
    this.#hash ??= sha256(JSON.stringify([...this.#place, this.#basis.map(({ text }) => text)]));
    return this.#hash;
  }
}

export class Batches {
  readonly #known = new WeakMap<Basis, Map<string, Batch>>();
  readonly #isApproved = new Map<Batch, boolean>();

  /** Undefined if more than files decide about the subject. */
  of({ kind, basis, file, touches }: Subject, scope: () => string): Batch | undefined {
    if (basis === undefined || touches) return undefined;
    const known = this.#known.get(basis) ?? new Map<string, Batch>();
    this.#known.set(basis, known);
    const batch = known.get(kind) ?? new Batch([scope(), kind, file], basis);
    known.set(kind, batch);
    return batch;
  }

  add(batch: Batch, isApproved: boolean): void {
    this.#isApproved.set(batch, isApproved && (this.#isApproved.get(batch) ?? true));
  }

  /** The stamps and hashes of those whose subjects were all approved. */
  approved(): string[] {
    return [...this.#isApproved].flatMap(([{ hash, stamp }, isApproved]) => {
      if (!isApproved) return [];
      return stamp === undefined ? [hash] : [hash, stamp];
    });
  }
}
