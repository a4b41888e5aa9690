// A value whose text arrived as so many bytes that it wasn't decoded. It can be used like any other: the text and the
// long strings in the value are decoded when somebody reads them.
import { isAscii } from 'node:buffer';
import { decode } from './bytes.ts';
import type { LargeJson } from './large-json.ts';
import { memberSpan, Verbatim } from './verbatim.ts';

export class LargeVerbatim extends Verbatim {
  readonly #pieces: readonly Buffer[];
  readonly #byteLength: number;
  readonly #json: LargeJson | undefined;
  #decoded: string | undefined;

  private constructor(value: unknown, pieces: readonly Buffer[], json?: LargeJson) {
    super(undefined, value);
    this.#pieces = pieces;
    this.#byteLength = pieces.reduce((sum, { length }) => sum + length, 0);
    this.#json = json;
  }

  static from(json: LargeJson): LargeVerbatim {
    return new LargeVerbatim(json.value, json.pieces, json);
  }

  override get pieces(): readonly Buffer[] {
    return this.#pieces;
  }

  override get byteLength(): number {
    return this.#byteLength;
  }

  override get text(): string {
    this.#decoded ??= decode(Buffer.concat(this.pieces));
    return this.#decoded;
  }

  override get maxLength(): number {
    return this.byteLength;
  }

  override member(key: string, ...below: string[]): Verbatim | undefined {
    const found = super.member(key, ...below);
    // The outline has one character per byte, so a key beyond ASCII looks different there.
    if (!found || below.length > 0 || !this.#json || !isAscii(Buffer.from(key))) return found;
    const { start, end } = memberSpan(this.#json.outline, [key]);
    return new LargeVerbatim(found.value, this.#json.slice(start, end));
  }
}
