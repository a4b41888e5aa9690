// What waits for an answer, by the number it was given. A ring: the slot of a number is known from the
// number. Not a Map, for the reason that `base/underway.ts` tells.

const FIRST_CAPACITY = 64;

export class Waiting<T extends { readonly id: number }> {
  #slots: (T | undefined)[] = emptySlots(FIRST_CAPACITY);
  #size = 0;
  #lastId = 0;

  get size(): number {
    return this.#size;
  }

  /** A number larger than all before. Those whose slot is still taken are left out. */
  nextId(): number {
    if (2 * this.#size >= this.#slots.length) this.#grow();
    do this.#lastId++;
    while (this.#slots[this.#lastId % this.#slots.length]);
    return this.#lastId;
  }

  /** Takes in what has the number that was given last. */
  add(entry: T): void {
    this.#slots[entry.id % this.#slots.length] = entry;
    this.#size++;
  }

  get(id: unknown): T | undefined {
    if (typeof id !== 'number') return undefined;
    const entry = this.#slots[id % this.#slots.length];
    return entry?.id === id ? entry : undefined;
  }

  /** The second time nothing happens. */
  remove(entry: T): void {
    const slot = entry.id % this.#slots.length;
    if (this.#slots[slot] !== entry) return;
    this.#slots[slot] = undefined;
    this.#size--;
  }

  /** All of them, oldest first. */
  all(): T[] {
    return this.#slots.filter((entry) => entry !== undefined).sort((a, b) => a.id - b.id);
  }

  #grow(): void {
    const slots = emptySlots<T>(2 * this.#slots.length);
    // Numbers that had different slots in the smaller ring have so in the larger one.
    for (const entry of this.#slots) if (entry) slots[entry.id % slots.length] = entry;
    this.#slots = slots;
  }
}

function emptySlots<T>(count: number): (T | undefined)[] {
  return Array.from({ length: count }, () => undefined);
}
