// Counts wrong tokens by address, to slow down guessing. The right token always works: a host with an outdated token, or
// an attacker behind the same proxy, must not lock others out.

const MOST = 10;
const WINDOW_MS = 60_000;
/** Beyond this the oldest address is forgotten. */
const MOST_ADDRESSES = 1_000;

interface Count {
  readonly since: number;
  wrong: number;
}

export class WrongTokens {
  readonly #byAddress = new Map<string, Count>();

  /** Counts a wrong token; returns the seconds to wait if the address sent too many. */
  note(address: string, now = performance.now()): number | undefined {
    const count = this.#countOf(address, now);
    count.wrong++;
    return count.wrong > MOST ? Math.ceil((count.since + WINDOW_MS - now) / 1_000) : undefined;
  }

  #countOf(address: string, now: number): Count {
    const known = this.#byAddress.get(address);
    if (known && now - known.since < WINDOW_MS) return known;
    this.#byAddress.delete(address);
    const [first] = this.#byAddress.keys();
    if (first !== undefined && this.#byAddress.size >= MOST_ADDRESSES) {
      this.#byAddress.delete(first);
    }
    const count: Count = { since: now, wrong: 0 };
    this.#byAddress.set(address, count);
    return count;
  }
}
