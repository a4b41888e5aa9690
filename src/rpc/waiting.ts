// Open requests by id, in a ring: an id's slot follows from the id. `base/underway.ts` explains why this
// isn't a Map.

const FIRST_CAPACITY = 64;

export class Waiting<T extends { readonly id: number }> {
  #slots: (T | undefined)[] = emptySlots(FIRST_CAPACITY);
  #size = 0;
  #lastId: number;

  constructor(lastId = 0) {
    this.#lastId = lastId;
  }

  get size(): number {
    return this.#size;
  }

  /** The next id whose slot is free. Ids only increase. */
  nextId(): number {
    if (2 * this.#size >= this.#slots.length) this.#grow();
    do this.#lastId++;
    while (this.#slots[this.#lastId % this.#slots.length]);
    return this.#lastId;
  }

  /** Adds an entry under the id that `nextId` returned last. */
  add(entry: T): void {
    this.#slots[entry.id % this.#slots.length] = entry;
    this.#size++;
  }

  get(id: unknown): T | undefined {
    if (typeof id !== 'number') return undefined;
    const entry = this.#slots[id % this.#slots.length];
    return entry?.id === id ? entry : undefined;
  }

  /** Does nothing if the entry is already gone. */
  remove(entry: T): void {
    const slot = entry.id % this.#slots.length;
    if (this.#slots[slot] !== entry) return;
    this.#slots[slot] = undefined;
    this.#size--;
  }

  /** All entries, oldest first. */
  all(): T[] {
    return this.#slots.filter((entry) => entry !== undefined).sort((a, b) => a.id - b.id);
  }

  #grow(): void {
    const slots = emptySlots<T>(2 * this.#slots.length);
    // Ids with different slots in the smaller ring also differ in the larger one.
    for (const entry of this.#slots) if (entry) slots[entry.id % slots.length] = entry;
    this.#slots = slots;
  }
}

function emptySlots<T>(count: number): (T | undefined)[] {
  return Array.from({ length: count }, () => undefined);
}
