// What hosts want of a child apart from calls, now and after each restart: which resources to watch, and which log
// messages to send.
import type { Child } from '../child/child.ts';
import type { LogLevel } from '../mcp/logging.ts';

export class Wishes {
  #watched: ReadonlySet<string> = new Set();
  #logLevel: LogLevel | undefined;
  /** The level last sent to the running child. */
  #sentLevel: LogLevel | undefined;

  get isWatching(): boolean {
    return this.#watched.size > 0;
  }

  /** Subscribes to these resources only. */
  async watch(uris: ReadonlySet<string>, child: Child | undefined): Promise<void> {
    const before = this.#watched;
    if (uris.size === before.size && [...uris].every((uri) => before.has(uri))) return;
    this.#watched = uris;
    await child?.watch(uris);
  }

  setLogLevel(level: LogLevel | undefined, child: Child | undefined): void {
    this.#logLevel = level;
    // The protocol can't turn logging off, so the child keeps its level until another is wanted.
    if (!child || level === undefined || level === this.#sentLevel) return;
    this.#sentLevel = level;
    child.setLogLevel(level);
  }

  /** Passes them to a child that has just started. */
  apply(child: Child): void {
    this.#sentLevel = undefined;
    this.setLogLevel(this.#logLevel, child);
    child.watch(this.#watched).catch(() => {}); // it may no longer have the resource
  }
}
