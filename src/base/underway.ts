// Things that are under way, in the order they began; each leaves when it is done.
//
// Not a Set: V8 makes a new table of one for every few dozen things that come and go, and has the old
// table point to the new one. As soon as one of the tables has lived long, everything that was in any of
// those after it is kept until memory is collected as a whole. With many calls at a time that was a
// third of all work.

/** The place of one thing among those under way. */
export interface Place<T> {
  readonly item: T;
  before: Place<T> | undefined;
  behind: Place<T> | undefined;
}

export class Underway<T> {
  #oldest: Place<T> | undefined;
  #newest: Place<T> | undefined;

  add(item: T): Place<T> {
    const place: Place<T> = { item, before: this.#newest, behind: undefined };
    if (this.#newest) this.#newest.behind = place;
    else this.#oldest = place;
    this.#newest = place;
    return place;
  }

  /** To be called once for each place. */
  remove(place: Place<T>): void {
    const { before, behind } = place;
    if (before) before.behind = behind;
    else this.#oldest = behind;
    if (behind) behind.before = before;
    else this.#newest = before;
    // What is gone must not keep alive what is still under way.
    place.before = undefined;
    place.behind = undefined;
  }

  get isEmpty(): boolean {
    return this.#oldest === undefined;
  }

  /** From the oldest to the newest. */
  all(): T[] {
    const items: T[] = [];
    for (let place = this.#oldest; place; place = place.behind) items.push(place.item);
    return items;
  }
}
