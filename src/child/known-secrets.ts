// The values to mask for one server: those its configuration contains, and those in calls' arguments.
import { createMask, type Mask } from '../base/secrets.ts';

/** A server that gets a new secret with every call must not slow down forever. */
const MOST_ADDED = 256;

export class KnownSecrets {
  readonly #configured: readonly string[];
  #added: readonly string[] = [];
  #mask: Mask | undefined;

  constructor(configured: Iterable<string>) {
    this.#configured = [...configured];
  }

  get values(): readonly string[] {
    return [...this.#configured, ...this.#added];
  }

  /** Returns whether any of them is new. The oldest ones are dropped. */
  add(values: readonly string[]): boolean {
    const fresh = values.filter((value) => !this.#added.includes(value));
    if (fresh.length === 0) return false;
    this.#added = [...this.#added, ...new Set(fresh)].slice(-MOST_ADDED);
    this.changed();
    return true;
  }

  readonly mask: Mask = (text) => {
    this.#mask ??= createMask(this.values);
    return this.#mask(text);
  };

  /** Makes the next use of the mask see the current values. */
  protected changed(): void {
    this.#mask = undefined;
  }
}
