// Most starts find the files as they were. Then the stamps of the files that a part follows from stand for its content, or
// a hash of their texts. The content need not be put together and hashed again; node:crypto alone takes milliseconds to
// load.
import { sha256 } from '../../base/sha256.ts';
import type { Basis, Subject } from '../../config/judge.ts';
import { CONTENT_FORM } from './content.ts';

/** What stands for one part. Which parts of a file are used, and so judged, also depends on other files. */
export class Batch {
  /** The files as they are on disk; undefined if one was changed just now. */
  readonly stamp: string | undefined;
  readonly #part: readonly unknown[];
  readonly #textHash: () => string;

  constructor(part: readonly unknown[], basis: Basis, textHash: () => string) {
    this.#part = part;
    this.#textHash = textHash;
    const stamps = basis.map(({ stamp }) => stamp);
    this.stamp = stamps.includes(undefined) ? undefined : JSON.stringify([...part, stamps]);
  }

  /** With a hash of their texts. */
  get hash(): string {
    return JSON.stringify([...this.#part, this.#textHash()]);
  }
}

export class Batches {
  /** The texts may be long, and many parts share them. */
  readonly #textHashes = new WeakMap<Basis, string>();
  readonly #isApproved = new Map<Batch, boolean>();

  /** Undefined if more than files decide about the subject. */
  of({ kind, name, basis, file, touches }: Subject, scope: () => string): Batch | undefined {
    if (basis === undefined || touches) return undefined;
    const part = [CONTENT_FORM, scope(), kind, name, file];
    return new Batch(part, basis, () => this.#textHashOf(basis));
  }

  add(batch: Batch, isApproved: boolean): void {
    this.#isApproved.set(batch, isApproved);
  }

  /** The stamps and hashes of those that were approved. */
  approved(): string[] {
    return [...this.#isApproved].flatMap(([{ hash, stamp }, isApproved]) => {
      if (!isApproved) return [];
      return stamp === undefined ? [hash] : [hash, stamp];
    });
  }

  #textHashOf(basis: Basis): string {
    const known = this.#textHashes.get(basis);
    if (known !== undefined) return known;
    const hash = sha256(JSON.stringify(basis.map(({ text }) => text)));
    this.#textHashes.set(basis, hash);
    return hash;
  }
}
