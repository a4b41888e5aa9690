// Back-pressure, per host. While a host leaves too much unread, we also stop reading servers that work only for
// that host, so they have to wait. We keep reading a server that also works for another host, and queue its
// messages for the slow one. That queue is bounded: a host that exceeds it loses its connection. Pausing such a
// server would let one slow host hold up all the others.

export class Flow {
  /** All that are connected, by their party (see Caller). */
  readonly #hosts = new Set<object>();
  /** Those that have too much unread. */
  readonly #full = new Set<object>();
  readonly #onChange: () => void;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** Whether any host is behind. */
  get isHeld(): boolean {
    return this.#full.size > 0;
  }

  join(party: object): void {
    this.#hosts.add(party);
    if (this.isHeld) this.#onChange();
  }

  leave(party: object): void {
    const wasHeld = this.isHeld;
    this.#hosts.delete(party);
    this.#full.delete(party);
    if (wasHeld) this.#onChange();
  }

  setFull(party: object, isFull: boolean): void {
    if (isFull === this.#full.has(party) || !this.#hosts.has(party)) return;
    if (isFull) this.#full.add(party);
    else this.#full.delete(party);
    this.#onChange();
  }

  /**
   * Whether a server's output has no taker: the parties it works for are all behind. A server without calls may
   * still send notifications, which go to every host.
   */
  isBlocked(parties: readonly object[]): boolean {
    if (!this.isHeld) return false;
    if (parties.length === 0) return this.#full.size === this.#hosts.size;
    return parties.every((party) => this.#full.has(party));
  }
}
